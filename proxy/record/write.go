package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"time"
)

const (
	// flushAt is how much of the asciicast is written at once.
	flushAt = 256 << 10
	// logMax is how much of the log may wait for a disk that takes nothing.
	logMax = 16 << 20
)

// errSlow is the reason for a gap without a failed write.
var errSlow = errors.New("the disk did not keep up")

// lines is a file that grows by whole lines: one that was written in part is taken back.
type lines struct {
	File
	size int64
}

func (l *lines) appendBytes(p []byte) error {
	if _, err := l.WriteAt(p, l.size); err != nil {
		// The count says nothing: os.File tells of 0 bytes also when the disk took some. If this
		// fails too, the next write goes over them.
		_ = l.Truncate(l.size)
		return err
	}
	l.size += int64(len(p))
	return nil
}

// writer is the side of the recorder that waits for the disk. It belongs to Run.
type writer struct {
	r     *Recorder
	cast  lines
	log   lines
	sum   hash.Hash // of the asciicast
	enc   encoder
	safe  int64  // enc.at of the last event on the disk
	out   []byte // lines of the asciicast to write
	left  int64  // bytes of output in out
	skip  bool   // output has lost its beginning: leave it out to the next repaint
	chain chain
	wait  []byte // lines of the log to write
	lost  int64  // entries that are not among them
	shown string // ID of the newest screen in the log
}

// Run writes the recording until Close, and then the rest of the queue. It returns what Close
// returns.
func (r *Recorder) Run() error {
	defer close(r.done)
	w := &writer{r: r, cast: lines{File: r.conf.Cast}, log: lines{File: r.conf.Log}, sum: sha256.New(), chain: newChain()}
	w.out, r.err = r.conf.Header.appendLine(w.out)
	for {
		b, lost, closing := r.takeBatch()
		w.lost += lost
		n := len(b.events)
		w.writeBatch(&b)
		r.returnBatch(b)
		if closing && n == 0 {
			break
		}
		w.waitForWork()
	}
	if err := w.writeEnd(); err != nil {
		r.err = err
	}
	return r.err
}

// waitForWork waits for something to write, but at least pace.
func (w *writer) waitForWork() {
	select {
	case <-w.r.hurry:
		return
	case <-time.After(pace):
	}
	interrupted, resume := w.r.isInterrupted()
	if resume {
		w.r.roomAgain()
	}
	var retry <-chan time.Time
	if interrupted || len(w.wait) > 0 {
		retry = time.After(retryEvery)
	}
	select {
	case <-w.r.notify:
	case <-w.r.hurry:
	case <-retry:
	}
}

// writeBatch writes a queue.
func (w *writer) writeBatch(b *batch) {
	for _, e := range b.events {
		if e.entry != nil {
			w.addEntry(*e.entry)
		} else {
			w.addEvent(e.at, e.code, b.data[e.off:e.end])
		}
		if len(w.out) >= flushAt {
			w.flushCast()
		}
	}
	w.flushCast()
	w.flushLog()
}

// addEvent adds an event to the lines of the asciicast.
func (w *writer) addEvent(at time.Duration, code byte, data []byte) {
	switch code {
	case codeRepaint:
		w.skip = false
	case codeOutput:
		if w.skip {
			w.r.countMissed(int64(len(data)))
			return
		}
		w.left += int64(len(data))
	}
	w.out = w.enc.appendEvent(w.out, at, code, data)
}

// flushCast writes the lines of the asciicast, or gives them up.
func (w *writer) flushCast() {
	if len(w.out) == 0 {
		return
	}
	err := w.cast.appendBytes(w.out)
	if err == nil {
		_, _ = w.sum.Write(w.out) // never fails (hash.Hash)
		w.safe = w.enc.at
	} else {
		w.enc = encoder{at: w.safe}
		w.skip = true
		w.r.castFailed(withoutPath(err), w.left)
	}
	w.out, w.left = w.out[:0], 0
}

// addEntry adds an entry to the lines of the log, with the screen that it names before it.
func (w *writer) addEntry(e Entry) {
	if len(w.wait) > logMax {
		w.lost++
		return
	}
	if w.lost > 0 {
		w.addLine(Entry{Time: e.Time, At: e.At, Kind: Lost, Missing: w.lost})
		w.lost = 0
	}
	if e.Picture != nil {
		e.Screen = w.addPicture(e)
		e.Picture = nil
	}
	w.addLine(e)
}

// addPicture adds the screen of e to the lines of the log unless it is the newest there, and
// returns its ID.
func (w *writer) addPicture(e Entry) string {
	picture := *e.Picture
	picture.ID = ""
	content, err := json.Marshal(picture)
	if err != nil {
		return ""
	}
	picture.ID = digest(content)[:32]
	if picture.ID != w.shown {
		w.shown = picture.ID
		w.addLine(Entry{Time: e.Time, At: e.At, Kind: Shown, Rev: e.Rev, Picture: &picture})
	}
	return picture.ID
}

func (w *writer) addLine(e Entry) {
	var err error
	if w.wait, err = w.chain.appendEntry(w.wait, e); err != nil {
		w.lost++
	}
}

// flushLog writes the lines of the log. They are kept until that succeeds.
func (w *writer) flushLog() {
	if len(w.wait) == 0 {
		return
	}
	if err := w.log.appendBytes(w.wait); err != nil {
		w.r.reportFailure(withoutPath(err))
		return
	}
	w.wait = w.wait[:0]
}

// writeEnd writes the ends of both files and closes them.
func (w *writer) writeEnd() error {
	last := []Entry{{Kind: Close, Cast: &Sum{Bytes: w.cast.size, SHA256: hex.EncodeToString(w.sum.Sum(nil))}}}
	if gap, open := w.r.openGap(); open {
		last = []Entry{gap, last[0]}
	}
	now := time.Since(w.r.begin)
	for _, e := range last {
		e.Time, e.At = w.r.begin.Add(now).UTC().Truncate(time.Microsecond), now.Microseconds()
		w.addEntry(e)
	}
	w.flushLog()
	err := w.missingError()
	for _, end := range []func() error{w.cast.Sync, w.log.Sync, w.cast.Close, w.log.Close} {
		if e := end(); err == nil && e != nil {
			err = withoutPath(e)
		}
	}
	return err
}

// missingError names the part that the disk did not take.
func (w *writer) missingError() error {
	gaps, cause := w.r.lossCause()
	if cause == nil {
		cause = errSlow
	}
	switch {
	case len(w.wait) > 0 || w.lost > 0:
		return fmt.Errorf("the audit log lacks its end: %w", cause)
	case gaps:
		return fmt.Errorf("output is missing in the asciicast: %w", cause)
	}
	return nil
}

// withoutPath returns the error of a write without the names of the file and the call.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
