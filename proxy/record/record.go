// Package record writes down a session for its user: an asciicast v3 that players show, with the
// author of every input, and beside it an audit log in JSON lines that says what an agent typed,
// under which grant, and what was on the screen then. It knows no control and no terminal: it is
// told.
//
// The user's own input is never written, only that there was some. The program's output stands in
// the asciicast as it came, so its file is for the user alone (mode 0600); during a blackout it is
// left out. The bytes that reached the program from an agent stand in both files exactly and
// completely.
//
// The methods of a [Recorder] may be called from any goroutine, and none of its callers waits for
// the disk: one goroutine of its own writes. Output that it cannot keep up with is left out in
// whole, with a marker and a repaint of the screen after it, so that what follows plays right. The
// audit log leaves out nothing unless memory would grow without bound; then it says so. Both files
// grow by whole lines and are written within moments, so what a killed proxy leaves plays up to
// there; what a machine that stops leaves is for its file system to say. The log's lines are
// chained by their hashes (see [Read]).
package record

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
)

// Bounds and times. Sizes are in bytes.
const (
	// outputMax is how much output may wait for the disk.
	outputMax = 4 << 20
	// queueMax bounds what waits beside output for the asciicast: what agents typed.
	queueMax = 4 << 20
	// entriesMax bounds the entries that wait, and entrySize is what an empty one counts for.
	entriesMax = 16 << 20
	entrySize  = 512
	// pace is the time between two writes: output of many small pieces is gathered.
	pace = 20 * time.Millisecond
	// retryEvery is how often a file that took nothing is tried again.
	retryEvery = 2 * time.Second
	// userEvery is how often it is noted that the user types: rarely enough to tell nothing about
	// the keys.
	userEvery = 2 * time.Second
)

// ErrTimeout is the error of Close when the disk does not answer.
var ErrTimeout = errors.New("the disk does not answer")

// Config says what to write where.
type Config struct {
	Cast, Log File
	Header    Header
	Session   Session
	// Failed is called once, when the first write fails, to tell the user. It may be nil.
	Failed func(error)
	// Room is called when output that was left out may be taken up again, see
	// [Recorder.ResumeOutput]. It is called from any goroutine, must not block, and may be nil.
	Room func()
}

// Recorder is the recorder. Its methods may be called from any goroutine and do not wait for the
// disk, except Run and Close.
type Recorder struct {
	conf   Config
	begin  time.Time
	notify chan struct{}
	hurry  chan struct{} // closed by Close
	done   chan struct{} // closed when Run has returned
	err    error         // of the end; read after done

	mu    sync.Mutex
	queue batch
	spare batch
	dark  bool   // blackout
	gap   bool   // output is left out until ResumeOutput
	why   string // the gap is there, "" for a blackout alone
	// bytes left out in this gap, those of a blackout not counted: their number is a secret's
	// length
	left    int64
	retry   time.Time // before that there is no use in taking output up again
	noted   time.Time // when the user's typing was noted last
	notedBy string    // who that was, "" for the user
	author  Author
	lost    int64
	cause   error // the first failure of the disk
	gaps    bool  // the asciicast lacks what the disk did not take
	closing bool
}

// batch is a part of the recording on its way to the disk.
type batch struct {
	events  []event
	data    []byte // of the events
	output  int    // bytes of it that are output
	entries int    // bytes that the entries count for
}

type event struct {
	at    time.Duration
	code  byte // 0 for an entry of the log alone
	off   int
	end   int
	entry *Entry
}

// reset empties the batch for the next use.
func (b *batch) reset() {
	clear(b.events)
	*b = batch{events: b.events[:0], data: b.data[:0]}
}

// Author is who typed, as the asciicast tells it.
type Author struct {
	Agent   string `json:"agent"` // name
	ID      string `json:"id"`
	Grant   uint64 `json:"grant"`
	Request string `json:"request,omitempty"`
}

// New makes a recorder. The recording begins now.
func New(conf Config) *Recorder {
	r := &Recorder{
		conf:   conf,
		begin:  time.Now(),
		notify: make(chan struct{}, 1),
		hurry:  make(chan struct{}),
		done:   make(chan struct{}),
	}
	r.conf.Header.Begin, r.conf.Session.Format = r.begin, Format
	r.AddEntry(Entry{Kind: Open, Session: &r.conf.Session})
	return r
}

// BeginTime returns the time when the recording began.
func (r *Recorder) BeginTime() time.Time { return r.begin }

func (r *Recorder) queueEventLocked(code byte, data []byte, entry *Entry) {
	if len(r.queue.events) == 0 {
		select {
		case r.notify <- struct{}{}:
		default:
		}
	}
	off := len(r.queue.data)
	r.queue.data = append(r.queue.data, data...)
	r.queue.events = append(r.queue.events, event{
		time.Since(r.begin),
		code,
		off,
		len(r.queue.data),
		entry,
	})
}

// WriteOutput records what the program wrote; p may be used again. It reports whether output is
// being left out and could be taken up again now: the owner of the terminal model calls
// ResumeOutput then.
func (r *Recorder) WriteOutput(p []byte) (resume bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.dark:
	case r.gap:
		r.left += int64(len(p))
		return r.canResumeLocked()
	case r.queue.output+len(p) > outputMax:
		r.beginGapLocked(errSlow.Error(), int64(len(p)))
	default:
		r.queueEventLocked(codeOutput, p, nil)
		r.queue.output += len(p)
	}
	return false
}

// beginGapLocked leaves output out from here on. It records that at once, since the proxy may be
// killed during the gap. missing is the number of bytes that are lost already.
func (r *Recorder) beginGapLocked(why string, missing int64) {
	if r.why == "" {
		on := true
		r.queueEntryLocked(Entry{Kind: Gap, On: &on, Why: why})
	}
	r.gap, r.why = true, why
	r.left += missing
}

// openGapLocked returns the entry that ends the gap that the disk caused. open is false without
// such a gap.
func (r *Recorder) openGapLocked() (e Entry, open bool) {
	off := false
	return Entry{Kind: Gap, On: &off, Missing: r.left, Why: r.why}, r.why != ""
}

// canResumeLocked reports whether output could be taken up again.
func (r *Recorder) canResumeLocked() bool {
	return r.gap && !r.dark && r.queue.output <= outputMax/2 && !time.Now().Before(r.retry)
}

// clearScreen ends a sequence that the output before the gap may have begun (CAN, ECMA-48 8.3.6),
// and resets the terminal (RIS, ECMA-48 8.3.105).
const clearScreen = "\x18\x1bc"

// ResumeOutput takes output up again after some was left out. redraw makes the bytes that paint the
// present screen on a terminal that was just reset; it is called only if there is room. Between it
// and the next WriteOutput no output may be missing, so both have one caller.
func (r *Recorder) ResumeOutput(redraw func() []byte) {
	r.mu.Lock()
	ready := r.canResumeLocked()
	r.mu.Unlock()
	if !ready {
		return
	}
	paint := append([]byte(clearScreen), redraw()...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.canResumeLocked() {
		return
	}
	if e, open := r.openGapLocked(); open {
		r.queueEntryLocked(e)
	}
	r.gap, r.why, r.left = false, "", 0
	r.queueEventLocked(codeRepaint, paint, nil)
	r.queue.output += len(paint)
}

// RecordResize records that the terminal has another size.
func (r *Recorder) RecordResize(cols, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queueEventLocked(codeResize, sizeData(cols, rows), nil)
}

// AgentInput records bytes of an agent's that the program has just been given; p may be used again.
// It is for the asciicast: the log gets the whole input at its end, with AddEntry.
func (r *Recorder) AgentInput(author Author, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue.data)-r.queue.output+len(p) > queueMax {
		return // the disk has been dead for long; the log says what was typed, or that it lost that
	}
	if author != r.author {
		r.author = author
		if name, err := json.Marshal(author); err == nil {
			r.queueEventLocked(codeAuthor, name, nil)
		}
	}
	r.queueEventLocked(codeInput, p, nil)
}

// UserTyped records that the user typed, or who else did from elsewhere, at most every two seconds,
// and not at all during a blackout.
func (r *Recorder) UserTyped(by string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.dark || !r.noted.IsZero() && r.notedBy == by && now.Sub(r.noted) < userEvery {
		return
	}
	r.noted, r.notedBy = now, by
	r.author = Author{}
	r.queueEventLocked(codeUser, []byte(by), nil)
	r.queueEntryLocked(Entry{Kind: User, By: by})
}

// RecordBlackout begins or ends a time of which nothing of the screen is recorded. When it ends,
// Room is called.
func (r *Recorder) RecordBlackout(on bool, why string) {
	r.mu.Lock()
	if r.dark == on {
		r.mu.Unlock()
		return
	}
	r.dark = on
	r.gap = true
	r.queueEntryLocked(Entry{Kind: Blackout, On: &on, Why: why})
	r.mu.Unlock()
	if !on {
		r.roomAgain()
	}
}

// roomAgain calls Config.Room: output could be taken up again.
func (r *Recorder) roomAgain() {
	if r.conf.Room != nil {
		r.conf.Room()
	}
}

// RecordExit records the end of the program.
func (r *Recorder) RecordExit(code int, signal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queueEntryLocked(Entry{Kind: Exit, Code: &code, Signal: signal})
	r.queueEventLocked(codeExit, strconv.AppendInt(nil, int64(code), 10), nil)
}

// AddEntry records an entry of the audit log, and a marker in the asciicast where people look for
// one. It keeps e's slices and pointers.
func (r *Recorder) AddEntry(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queueEntryLocked(e)
}

func (r *Recorder) queueEntryLocked(e Entry) {
	weight := e.memorySize()
	if r.queue.entries+weight > entriesMax {
		r.lost++
		return
	}
	r.queue.entries += weight
	e.Time = time.Now().UTC().Truncate(time.Microsecond)
	e.At = time.Since(r.begin).Microseconds()
	r.queueEventLocked(0, nil, &e)
	if e.hasMarker() {
		r.queueEventLocked(codeMarker, []byte(e.Sentence()), nil)
	}
}

// Close lets Run write the queue and return. The error names the part that could not be written:
// after patience the disk is left to itself.
func (r *Recorder) Close(patience time.Duration) error {
	r.mu.Lock()
	if !r.closing {
		r.closing = true
		close(r.hurry)
	}
	r.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.done:
		return r.err
	case <-timer.C:
		return ErrTimeout
	}
}

// takeBatch returns the queue. The batch belongs to Run until returnBatch.
func (r *Recorder) takeBatch() (b batch, lost int64, closing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, r.queue = r.queue, r.spare
	r.spare = batch{}
	lost, r.lost = r.lost, 0
	return b, lost, r.closing
}

// returnBatch takes an emptied batch back, unless it grew too large to keep.
func (r *Recorder) returnBatch(b batch) {
	if cap(b.data) > 1<<20 {
		b.data = nil
	}
	b.reset()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spare = b
}

// castFailed notes that the asciicast took nothing. Output is left out from here on until that
// changes; left of it is gone already.
func (r *Recorder) castFailed(err error, left int64) {
	r.mu.Lock()
	r.beginGapLocked(err.Error(), left)
	r.gaps = true
	r.author = Author{} // the event that names the author may be lost
	r.retry = time.Now().Add(retryEvery)
	r.mu.Unlock()
	r.reportFailure(err)
}

// countMissed counts output that had been queued when the asciicast took nothing.
func (r *Recorder) countMissed(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
}

// reportFailure calls Config.Failed for the first failure of the disk.
func (r *Recorder) reportFailure(err error) {
	r.mu.Lock()
	first := r.cause == nil
	if first {
		r.cause = err
	}
	r.mu.Unlock()
	if first && r.conf.Failed != nil {
		r.conf.Failed(err)
	}
}

func (r *Recorder) openGap() (e Entry, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.openGapLocked()
}

// lossCause reports whether the asciicast has gaps that the disk caused, and the first failure.
func (r *Recorder) lossCause() (gaps bool, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gaps, r.cause
}

// isInterrupted reports whether output is being left out for the disk's sake, and whether it could
// be taken up again.
func (r *Recorder) isInterrupted() (yes, resume bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gap && !r.dark, r.canResumeLocked()
}
