package input

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Config plugs a pump together.
type Config struct {
	Keyboard Keyboard // nil: there is none
	Program  Program
	Poll     Poller
	Scan     Scanner // nil: every byte passes untouched
	Control  Control // nil with Scan
	// Back, if not nil, reports whether the program is back for more: it is in front, has read what it was given, and waits for
	// input. It is asked after a piece that Acts, or a key of the user's, before anything of an agent's follows: at growing
	// intervals, and only while something waits. nil lets agents type ahead.
	Back func(now time.Time) bool
	Line Watch // may be nil
	// LineMost is how long a line may be that the kernel collects, in bytes without its end; 0 for no limit.
	LineMost int
	// KeyboardEnded is called once when the keyboard is gone.
	KeyboardEnded func(error)
	// Unheard has the keyboard left alone until [Pump.Anew]: it is another program's.
	Unheard bool
	Now     func() time.Time // nil is time.Now
}

// Pump is the pump. Run is its goroutine; Post, Offer and Stop may be called from any.
type Pump struct {
	Config
	buf  [readSize]byte
	emit func(Unit)

	mu    sync.Mutex
	posts []func(now time.Time)
	ended bool // under mu: no post will run any more

	stopped bool
	user    []byte // of the user's, not yet taken by the program
	paste   []byte // held back while an agent has control
	holding bool   // a paste is being held back
	discard bool   // the rest of a paste is thrown away
	since   time.Time
	lastKey time.Time
	confirm confirm
	deaf    bool // the keyboard is gone, or left alone

	epoch       uint64
	queue       []*pending
	blocked     time.Time // since when the program takes nothing, zero while it does
	quietUntil  time.Time // the gap after a piece
	wrote       bool      // agent bytes were written under this grant
	unsubmitted int       // of those, since the last Enter
	line        Line      // what stands on the program's line of an agent's
	back        comeback  // the wait for the program to ask for more
	trail       trail     // what the program was given under this grant, as far as it may be unread
	collected   collected // the line that the kernel collects of everybody's
}

// pending is a job in the queue.
type pending struct {
	Job
	asked    bool
	ready    bool
	stale    bool   // the user typed after it was ready
	held     bool   // the user has to let it through
	begun    bool   // the first of pieces is half written
	fits     uint64 // the spell of canonical mode in which the step is known to make no line too long
	pieces   []Piece
	written  int
	flushed  int  // taken back unread, and no longer counted in written
	cut      int  // withdrawn, in bytes
	given    bool // up: what is left only finishes what the program was given
	done     bool // answered
	deadline time.Time
	since    time.Time // since when it waits for the program to come back, zero while it does not
}

// New makes a pump.
func New(c Config) *Pump {
	if c.Now == nil {
		c.Now = time.Now
	}
	p := &Pump{Config: c, deaf: c.Keyboard == nil || c.Unheard}
	p.emit = p.unit
	if c.Control != nil {
		p.epoch = c.Control.Epoch()
	}
	return p
}

// Post runs do on the pump's goroutine, soon; it reports false when the pump has ended and do will not run. It never
// blocks.
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

// Offer queues an agent's input. Its Done is called with what became of it, also when the pump has ended.
func (p *Pump) Offer(j Job) {
	if !p.Post(func(now time.Time) { p.accept(now, j) }) {
		j.Done(Receipt{Fate: Gone, Dropped: j.Size})
	}
}

// Stop makes Run return after what is posted has run.
func (p *Pump) Stop() {
	p.Post(func(time.Time) { p.stopped = true })
}

// Anew says that the keyboard is another one, also where that before was gone: a paste that was begun there has no end. It belongs to
// the pump's goroutine.
func (p *Pump) Anew() {
	p.deaf = p.Keyboard == nil
	p.paste, p.holding, p.discard = nil, false, false
}

// Run pumps until Stop, or until polling fails. Every turn it looks at the posts first, then at the keyboard; a piece of
// agent input is written only in a turn in which the keyboard had nothing to say.
func (p *Pump) Run() error {
	defer p.finish()
	for !p.stopped {
		now := p.Now()
		got, err := p.Poll.Wait(p.wanted(now), p.timeout(now))
		if err != nil {
			return fmt.Errorf("input: %w", err)
		}
		now = p.Now()
		// Before the keyboard is read, woken or not: what was posted before a question went to the terminal must be known when
		// its answer is read, and a poll may look at the wake pipe just before both.
		if got&(Woken|Readable) != 0 {
			p.runPosts(now)
		}
		if got&Readable != 0 {
			p.readKeyboard(now)
		}
		p.tick(now)
		p.writeUser(now)
		if got&Readable == 0 {
			p.writeAgent(now)
		}
	}
	return nil
}

// wanted is what this turn waits for.
func (p *Pump) wanted(now time.Time) Events {
	var want Events
	if !p.deaf && (len(p.user) < userHold || p.sought()) {
		want |= Readable
	}
	if !p.blocked.IsZero() && p.hasOutput(now) {
		want |= Writable
	}
	return want
}

// timeout is how long this turn may wait: not at all while there is something to write.
func (p *Pump) timeout(now time.Time) time.Duration {
	if p.blocked.IsZero() && p.hasOutput(now) {
		return 0
	}
	next := p.nextMoment(now)
	if next.IsZero() {
		return -1
	}
	return max(0, next.Sub(now))
}

// hasOutput reports whether there is something to write now.
func (p *Pump) hasOutput(now time.Time) bool {
	return len(p.user) > 0 || p.agentReady(now)
}

// nextMoment is the next moment at which time itself changes something.
func (p *Pump) nextMoment(now time.Time) time.Time {
	var next time.Time
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if p.Control != nil {
		if t, ok := p.Control.Next(now); ok {
			sooner(t)
		}
	}
	if p.Scan != nil && len(p.Scan.Held()) > 0 {
		sooner(p.lastKey.Add(p.patience()))
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
	if p.Control.Away() {
		sooner(now.Add(lookEvery))
	}
	if p.back.open && !now.Before(p.heldUntil()) {
		sooner(p.back.at)
	}
	for _, j := range p.queue {
		if !j.deadline.IsZero() && !j.begun && !j.held && p.waits(now) {
			sooner(j.deadline)
		}
	}
	return next
}

// patience is how long an unfinished sequence may take.
func (p *Pump) patience() time.Duration {
	if p.Scan.LoneEsc() {
		return escWait
	}
	return seqWait
}

func (p *Pump) sought() bool { return p.Control != nil && p.Control.Sought() }
func (p *Pump) driven() bool { return p.Control != nil && p.Control.Driven() }

func (p *Pump) runPosts(now time.Time) {
	p.mu.Lock()
	posts := p.posts
	p.posts = nil
	p.mu.Unlock()
	for _, do := range posts {
		do(now)
		p.guard(now)
	}
}

// guard is the one door through which control changes reach the queue: after anything that may have changed control it
// compares the epoch, and when that moved, the queue is dropped and what the program has not read yet is taken back, unless control
// has it kept.
func (p *Pump) guard(now time.Time) {
	if p.Control == nil {
		return
	}
	if p.Control.Epoch() == p.epoch {
		p.heed(now)
		p.Control.Settle(now, 0, 0)
		return
	}
	p.epoch = p.Control.Epoch()
	dropped := 0
	if p.Control.Kept() {
		dropped = p.drop(Receipt{Fate: Dropped})
	} else {
		dropped = p.takeBack()
	}
	unsubmitted := p.unsubmitted
	p.unsubmitted, p.quietUntil, p.back = 0, time.Time{}, comeback{}
	p.Control.Settle(now, dropped, unsubmitted)
}

// tick does what time does.
func (p *Pump) tick(now time.Time) {
	if p.Control == nil {
		return
	}
	if len(p.Scan.Held()) > 0 && now.Sub(p.lastKey) >= p.patience() {
		p.lastKey = now
		p.Scan.Flush(p.emit)
	}
	if (p.holding || p.discard) && now.Sub(p.since) >= pasteWait {
		p.letPasteGo()
		p.Scan.EndPaste()
	}
	p.Control.Tick(now)
	p.guard(now)
	p.lookBack(now)
	p.expireJobs(now)
}

// finish answers whoever still waits.
func (p *Pump) finish() {
	p.mu.Lock()
	p.ended = true
	posts := p.posts
	p.posts = nil
	p.mu.Unlock()
	now := p.Now()
	for _, do := range posts {
		do(now)
	}
	p.drop(Receipt{Fate: Gone})
}

// readKeyboard reads what was typed and decides on every unit of it.
func (p *Pump) readKeyboard(now time.Time) {
	n, err := p.Keyboard.Read(p.buf[:])
	switch {
	case errors.Is(err, ErrAgain):
		return
	case err != nil || n == 0:
		p.deaf = true
		if p.KeyboardEnded != nil {
			p.KeyboardEnded(err)
		}
		return
	case p.Scan == nil:
		p.user = append(p.user, p.buf[:n]...)
		return
	}
	p.read(now, p.buf[:n])
}

// read decides about what was typed.
func (p *Pump) read(now time.Time, b []byte) {
	p.lastKey = now
	p.confirm.read(now)
	p.Scan.Scan(b, p.emit)
	p.endConfirm(now, len(p.Scan.Held()) == 0)
	if !p.sought() && p.Scan.LoneEsc() {
		// Nothing is at stake: the Escape key goes out at once. While an agent asks or drives it is held for a moment,
		// because the reclaim key may begin with it.
		p.Scan.Flush(p.emit)
	}
	if len(p.user) > userMax {
		p.Control.Overrun(now)
		p.guard(now)
	}
}
