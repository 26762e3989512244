package pump

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Config connects a pump.
type Config struct {
	Keyboard Keyboard // nil without a keyboard
	Program  Program
	Poll     Poller
	Scan     Scanner // nil passes every byte untouched
	Control  Control // nil if Scan is nil
	// IsProgramBack, if not nil, reports whether the program asks for more input: it is in the
	// foreground, has read its input, and waits. It is called after a piece that Acts, or a key of
	// the user, before agent input follows: at growing intervals, and only while input waits. nil
	// lets agents type ahead.
	IsProgramBack func(now time.Time) bool
	Line          KeyObserver // may be nil
	// MaxLine bounds a line that the kernel collects, in bytes without its line end; 0 for no
	// limit.
	MaxLine int
	// KeyboardEnded is called once when the keyboard is gone.
	KeyboardEnded func(error)
	// LeaveKeyboard leaves the keyboard unread until [Pump.NoteNewKeyboard], because another
	// program uses it.
	LeaveKeyboard bool
	// Unexpected, if not nil, is called for an event that cannot happen in the state of an input.
	Unexpected func(s State, e Event)
	Now        func() time.Time // nil is time.Now
}

// Pump moves input to the program. Run is its goroutine; Post, Enqueue and Stop may be called on
// any.
type Pump struct {
	jobs
	buf  [readSize]byte
	emit func(Unit)

	mu    sync.Mutex
	posts []func(now time.Time)
	ended bool // under mu: no further post will run

	stopped         bool
	user            []byte // the user's input, not yet taken by the program
	own             []byte // the proxy's own bytes, which come before the user's: see unclosed.go
	paste           []byte // held back while an agent has control
	holding         bool   // a paste is being held back
	discard         bool   // the rest of a paste is dropped
	since           time.Time
	lastKey         time.Time
	confirm         confirm
	ignoresKeyboard bool // the keyboard is gone, or must not be read

	epoch     uint64
	blocked   time.Time     // since when the program does not read, or zero
	trail     trail         // bytes written under this grant that the program may not have read
	collected collectedLine // the line that the kernel collects
}

// pending is a job in the queue.
type pending struct {
	Job
	fits    uint64 // spell of canonical mode in which the step makes no line too long
	pieces  []Piece
	written int
	flushed int // bytes taken back unread, and no longer counted in written
	// reopens: a key of the user ended the job's paste, and the rest of that follows.
	reopens  bool
	deadline time.Time
	since    time.Time // since when it waits for the program's return, or zero
}

// New returns a pump.
func New(c Config) *Pump {
	if c.Now == nil {
		c.Now = time.Now
	}
	p := &Pump{jobs: jobs{Config: c}, ignoresKeyboard: c.Keyboard == nil || c.LeaveKeyboard}
	p.emit = p.handleUnit
	if c.Control != nil {
		p.epoch = c.Control.Epoch()
	}
	return p
}

// Post runs do on the pump's goroutine, soon. It reports false if the pump has ended and do will
// not run. It never blocks.
func (p *Pump) Post(do func(now time.Time)) bool {
	p.mu.Lock()
	ended := p.ended
	if !ended {
		p.posts = append(p.posts, do)
	}
	p.mu.Unlock()
	if !ended {
		p.Poll.Wake()
	}
	return !ended
}

// Enqueue queues an agent's input. Its Done is called with the receipt, even if the pump has ended.
func (p *Pump) Enqueue(j Job) {
	if j.Life == nil {
		j.Life = new(Life)
	}
	if !p.Post(func(now time.Time) { p.acceptJob(now, j) }) {
		j.Life.Advance(Exited)
		j.Done(Receipt{Fate: fates[Exited], Dropped: j.Size})
	}
}

// Stop makes Run return once all posts have run.
func (p *Pump) Stop() {
	p.Post(func(time.Time) { p.stopped = true })
}

// NoteNewKeyboard notes that the keyboard was replaced, even if it was gone before. It forgets an
// unfinished paste. The pump's goroutine calls it.
func (p *Pump) NoteNewKeyboard() {
	p.ignoresKeyboard = p.Keyboard == nil
	p.paste, p.holding, p.discard = nil, false, false
}

// Run pumps until Stop, or until polling fails. Every turn it runs the posts first, then reads the
// keyboard. It writes a piece of agent input only in a turn in which the keyboard had no input.
func (p *Pump) Run() error {
	defer p.answerRest()
	for !p.stopped {
		now := p.Now()
		got, err := p.Poll.Wait(p.wantedEvents(now), p.waitTimeout(now))
		if err != nil {
			return fmt.Errorf("input: %w", err)
		}
		now = p.Now()
		// Before the keyboard is read, woken or not: posts from before a question went to the
		// terminal must have run when its answer is read, and a poll may check the wake pipe just
		// before both.
		if got&(Woken|Readable) != 0 {
			p.runPosts(now)
		}
		if got&Readable != 0 {
			p.readKeyboard(now)
		}
		p.handleTime(now)
		p.writeUser(now)
		if got&Readable == 0 {
			p.writeAgent(now)
		}
	}
	return nil
}

// wantedEvents returns what this turn waits for.
func (p *Pump) wantedEvents(now time.Time) Events {
	var want Events
	if !p.ignoresKeyboard && (len(p.user) < userInputHold || p.isSought()) {
		want |= Readable
	}
	if !p.blocked.IsZero() && p.hasOutput(now) {
		want |= Writable
	}
	return want
}

// waitTimeout returns how long this turn may wait: 0 while there is something to write.
func (p *Pump) waitTimeout(now time.Time) time.Duration {
	if p.blocked.IsZero() && p.hasOutput(now) {
		return 0
	}
	next := p.nextMoment(now)
	if next.IsZero() {
		return -1
	}
	return max(0, next.Sub(now))
}

func (p *Pump) hasOutput(now time.Time) bool {
	return p.hasUserInput() || p.isAgentReady(now)
}

// hasUserInput reports whether input of the user, or of the proxy, waits for the program.
func (p *Pump) hasUserInput() bool { return len(p.user)+len(p.own) > 0 }

// nextMoment returns the next moment at which time alone changes something.
func (p *Pump) nextMoment(now time.Time) time.Time {
	var next time.Time
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if p.Control != nil {
		if t, ok := p.Control.NextTick(now); ok {
			sooner(t)
		}
	}
	if p.Scan != nil && len(p.Scan.HeldBytes()) > 0 {
		sooner(p.lastKey.Add(p.sequenceTimeout()))
	}
	if p.holding || p.discard {
		sooner(p.since.Add(pasteWait))
	}
	if len(p.queue) == 0 {
		return next
	}
	if !p.blocked.IsZero() && p.hasOutput(now) {
		sooner(p.blocked.Add(stuckAfter))
	}
	if t := p.heldUntil(); now.Before(t) {
		sooner(t)
	}
	if p.Control.IsPausedByProgram() {
		sooner(now.Add(lookEvery))
	}
	if p.comeback.open && !now.Before(p.heldUntil()) {
		sooner(p.comeback.at)
	}
	for _, j := range p.queue {
		if j.expires() && p.isHeldUp(now) {
			sooner(j.deadline)
		}
	}
	return next
}

// sequenceTimeout returns how long an unfinished sequence may take.
func (p *Pump) sequenceTimeout() time.Duration {
	if p.Scan.HasLoneEsc() {
		return escWait
	}
	return seqWait
}

func (q *jobs) isSought() bool { return q.Control != nil && q.Control.IsSought() }
func (q *jobs) isDriven() bool { return q.Control != nil && q.Control.IsDriven() }

func (p *Pump) runPosts(now time.Time) {
	p.mu.Lock()
	posts := p.posts
	p.posts = nil
	p.mu.Unlock()
	for _, do := range posts {
		do(now)
		p.syncControl(now)
	}
}

// syncControl is the only way by which changes of control reach the queue. It is called after
// anything that may have changed control. If the epoch has changed, it drops the queue, and takes
// back the input that the program has not read, unless control keeps that.
func (p *Pump) syncControl(now time.Time) {
	if p.Control == nil {
		return
	}
	if p.Control.Epoch() == p.epoch {
		p.applyDecision(now)
		p.Control.PublishChanges(now, 0, 0)
		return
	}
	p.epoch = p.Control.Epoch()
	dropped := 0
	if p.Control.KeepsTypedInput() {
		dropped = p.dropQueue(ControlEnded)
		p.closeUnclosed(true)
	} else {
		dropped = p.takeBackInput()
	}
	unsubmitted := p.unsubmitted
	p.unsubmitted, p.quietUntil, p.comeback = 0, time.Time{}, comeback{}
	p.Control.PublishChanges(now, dropped, unsubmitted)
}

// handleTime does the work due now.
func (p *Pump) handleTime(now time.Time) {
	if p.Control == nil {
		return
	}
	if len(p.Scan.HeldBytes()) > 0 && now.Sub(p.lastKey) >= p.sequenceTimeout() {
		p.lastKey = now
		p.Scan.Flush(p.emit)
	}
	if (p.holding || p.discard) && now.Sub(p.since) >= pasteWait {
		p.releasePaste()
		p.Scan.EndPaste()
	}
	p.Control.Tick(now)
	p.syncControl(now)
	p.checkComeback(now)
	p.expireJobs(now)
}

// answerRest answers all remaining jobs.
func (p *Pump) answerRest() {
	p.mu.Lock()
	p.ended = true
	posts := p.posts
	p.posts = nil
	p.mu.Unlock()
	now := p.Now()
	for _, do := range posts {
		do(now)
	}
	p.dropQueue(Exited)
}

// readKeyboard reads the keyboard and handles every unit of it.
func (p *Pump) readKeyboard(now time.Time) {
	n, err := p.Keyboard.Read(p.buf[:])
	switch {
	case errors.Is(err, ErrAgain):
		return
	case err != nil || n == 0:
		p.ignoresKeyboard = true
		if p.KeyboardEnded != nil {
			p.KeyboardEnded(err)
		}
		return
	case p.Scan == nil:
		p.user = append(p.user, p.buf[:n]...)
		return
	}
	p.handleKeys(now, p.buf[:n])
	clear(p.buf[:n]) // it may have been a password
}

// handleKeys handles the bytes of one read.
func (p *Pump) handleKeys(now time.Time, b []byte) {
	p.lastKey = now
	p.confirm.noteRead(now)
	p.Scan.Scan(b, p.emit)
	p.endConfirm(now, len(p.Scan.HeldBytes()) == 0)
	if !p.isSought() && p.Scan.HasLoneEsc() {
		// No agent asks or drives, so the Escape key goes out at once. Otherwise it is held for a
		// moment, because the reclaim key may begin with it.
		p.Scan.Flush(p.emit)
	}
	if len(p.user) > maxUserInput {
		p.Control.EndByOverrun(now)
		p.syncControl(now)
	}
}
