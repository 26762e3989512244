package proxy

import (
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/snapshot"
)

// Sizes and times of the screen loop.
const (
	// spoolMax is how much output may wait for the model before the copier waits for it, in bytes. The model is faster
	// than a PTY, so this is only ever full for a moment.
	spoolMax = 256 << 10
	// feedMax is how much is fed between two looks at the waits.
	feedMax = 4 << 10
	// waitingEvery is how often the kernel is asked whether the program waits for input, while somebody wants to know:
	// nothing announces that.
	waitingEvery = 25 * time.Millisecond
	scrollback   = 10_000
)

// screenLoop is the goroutine that owns the terminal model, the rolling text, the rhythm and the waits. Everybody else
// posts.
type screenLoop struct {
	model *screen.Screen
	text  *snapshot.Rolling
	pace  *snapshot.Pace
	waits *snapshot.Waits
	child *child.Child

	shared   *sharedLine                   // what user and agents type on; nil without agents
	privacy  *privacy                      // keeps secrets and a hidden screen from agents; nil without agents
	watched  bool                          // agents may observe: waits and snapshots are looked after
	keyboard func() protocol.Keyboard      // who has the keyboard now
	publish  func(*protocol.Frame, string) // a snapshot is due
	queried  func(replies []byte)          // the program asked the terminal something
	passed   func()                        // the program wrote something; nil for nobody cares
	titled   func()                        // the title or the screen (main, alternate) changed
	mouse    func(x10 bool)                // the program's mouse reports are three raw bytes, or no longer
	record   func(p []byte)                // the model was fed p; nil when nobody records

	mu      sync.Mutex
	room    sync.Cond
	spool   []byte
	posts   []func(now time.Time)
	stopped bool
	notify  chan struct{}
	done    chan struct{} // closed when run has returned

	spare     []byte
	rev       uint64 // of the model at the last look
	titles    uint64
	alt       bool
	x10       bool
	lines     lineCache
	redacted  redacted
	sent      sentScreens
	exit      *child.Exit
	inputWait inputWait
	asking    map[string]bool   // waits for "the program waits for input"
	deciding  map[string]string // waits for a decision about control: their agents
	answers   answers
}

func newScreenLoop(model *screen.Screen, text *snapshot.Rolling, pace *snapshot.Pace) *screenLoop {
	l := &screenLoop{
		model: model, text: text, pace: pace, waits: snapshot.NewWaits(text, pace),
		notify: make(chan struct{}, 1), done: make(chan struct{}), rev: model.Rev(), asking: make(map[string]bool), deciding: make(map[string]string),
	}
	l.room.L = &l.mu
	return l
}

// feed hands output to the model and says how much waits for it; signal makes it be taken. It waits only while the model
// is behind by spoolMax, and never on anything but it.
func (l *screenLoop) feed(p []byte) (waiting int) {
	l.mu.Lock()
	for len(l.spool) > spoolMax && !l.stopped {
		l.room.Wait()
	}
	l.spool = append(l.spool, p...)
	waiting = len(l.spool)
	l.mu.Unlock()
	return waiting
}

// post runs do on the loop's goroutine, after what was fed before. It reports false when the loop has ended.
func (l *screenLoop) post(do func(now time.Time)) bool {
	l.mu.Lock()
	stopped := l.stopped
	if !stopped {
		l.posts = append(l.posts, do)
	}
	l.mu.Unlock()
	if !stopped {
		l.signal()
	}
	return !stopped
}

// call is post, and waits until do has run. It must not be called from the loop itself.
func (l *screenLoop) call(do func(now time.Time)) bool {
	ran := make(chan struct{})
	if !l.post(func(now time.Time) { do(now); close(ran) }) {
		return false
	}
	select {
	case <-ran:
		return true
	case <-l.done:
		select {
		case <-ran:
			return true
		default:
			return false
		}
	}
}

// stop makes run return when everything fed and posted before is done.
func (l *screenLoop) stop() {
	l.mu.Lock()
	l.stopped = true
	l.room.Broadcast()
	l.mu.Unlock()
	l.signal()
	<-l.done
}

func (l *screenLoop) signal() {
	select {
	case l.notify <- struct{}{}:
	default:
	}
}

// run is the loop. It has a timer only while something is pending: an idle session costs nothing.
func (l *screenLoop) run() {
	defer close(l.done)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-l.notify:
		case <-timer.C:
		}
		for {
			l.mu.Lock()
			spool, posts, stopped := l.spool, l.posts, l.stopped
			l.spool, l.posts = l.spare[:0], nil
			l.mu.Unlock()
			l.room.Signal()
			l.digest(spool)
			l.spare = spool
			now := time.Now()
			for _, do := range posts {
				do(now)
			}
			if len(spool) == 0 && len(posts) == 0 {
				if stopped {
					l.waits.Stop()
					return
				}
				break
			}
		}
		l.serve(time.Now())
		timer.Stop()
		if at, ok := l.next(); ok {
			timer.Reset(max(0, time.Until(at)))
		}
	}
}

// digest feeds the model. With waits open it looks at them every few KiB, so that what flashes by is seen.
func (l *screenLoop) digest(p []byte) {
	for len(p) > 0 {
		n := len(p)
		if l.waits.Len() > 0 {
			n = min(n, feedMax)
		}
		if l.privacy != nil {
			l.privacy.feed(time.Now(), p[:n])
		} else {
			l.model.Feed(p[:n])
		}
		if l.record != nil {
			l.record(p[:n])
		}
		p = p[n:]
		if l.watched {
			l.noticeChange(time.Now())
		}
		if l.passed != nil {
			l.passed()
		}
		if replies := l.model.TakeReplies(); len(replies) > 0 && l.queried != nil {
			l.queried(replies)
		}
	}
}

// noticeChange looks at what the last bytes did.
func (l *screenLoop) noticeChange(now time.Time) {
	modes := l.model.Modes()
	l.pace.Hold(now, modes.Sync)
	if x10 := modes.MouseProtocol != 0 && modes.MouseEncoding == 0; x10 != l.x10 {
		l.x10 = x10
		l.mouse(x10)
	}
	if titles := l.model.TitleSets(); titles != l.titles {
		l.titles = titles
		l.titled()
	}
	if alt := l.model.Alt(); alt != l.alt {
		l.alt = alt
		l.titled() // what was not possible on the other screen may be now
	}
	l.inputWait.hear(l.model.Marks())
	rev := l.model.Rev()
	changed := rev != l.rev
	if changed {
		l.rev = rev
		l.pace.Changed(now)
	}
	l.shared.moved()
	l.shared.check(now)
	// Without waits too: a later one asks what was printed after a revision of now.
	if changed || l.waits.Len() > 0 {
		l.waits.Check(l.view(), now)
	}
}

// serve does what is due.
func (l *screenLoop) serve(now time.Time) {
	if !l.watched {
		return
	}
	if at, ok := l.privacy.next(); ok && !now.Before(at) || l.pace.Due(now) {
		l.privacy.look(now)
	}
	if l.waits.Len() > 0 {
		l.waits.Check(l.view(), now)
	}
	l.shared.serve(now)
	if l.pace.Due(now) {
		l.pace.Sent(now)
		l.publish(l.frame(now), l.content())
	}
}

// next is when the loop has to look again though nothing happens.
func (l *screenLoop) next() (at time.Time, ok bool) {
	if !l.watched {
		return time.Time{}, false
	}
	at, ok = l.pace.Next()
	if t, more := l.waits.Next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if t, more := l.privacy.next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if t, more := l.shared.next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if len(l.asking) > 0 {
		if t := l.inputWait.next(time.Now(), l.model.Rev()); !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// resize tells the model that the terminal has another size.
func (l *screenLoop) resize(now time.Time, cols, rows int) {
	l.model.Resize(cols, rows)
	if l.watched {
		l.privacy.resized(now)
		l.noticeChange(now)
	}
}

// touch makes a snapshot due though the screen is the same: who has the keyboard changed.
func (l *screenLoop) touch(now time.Time) { l.pace.Changed(now) }
