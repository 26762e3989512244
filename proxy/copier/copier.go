// Package copier carries what a program prints to the user's screen: it reads, takes out what must not pass, follows the modes
// that change, writes, and only then hands each chunk to the terminal model. It therefore also has, at any moment, what gives
// the terminal back. It must not know agents, gateways, or what the proxy shows over the program: it writes the bytes that it
// is given for that.
package copier

import (
	"sync/atomic"
	"time"

	"terminalproxy/proxy/filter"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/vt"
)

// Program is the program's terminal. It never waits.
type Program interface {
	// Read returns at least one byte, or [child.ErrAgain], or what ends the copying.
	Read(p []byte) (int, error)
	// HasOutput reports whether the program has written what was not read yet.
	HasOutput() bool
}

// Screen is the user's screen. It never waits.
type Screen interface {
	// Write returns how many bytes it took, [tty.ErrAgain] for none; with any other error the window is closed.
	Write(p []byte) (int, error)
	// HasScreen reports whether anybody looks.
	HasScreen() bool
}

// Poller waits as a [tty.Poller] does: for the program's output, for room on the screen, and for Wake from any goroutine.
type Poller interface {
	Wait(want tty.Events, timeout time.Duration) (tty.Events, error)
	Wake()
}

// Model is the way to the terminal model, which has a goroutine of its own.
type Model interface {
	// Feed queues a copy of chunk. due says that the model is to be woken now, unseen that it may otherwise be left alone until
	// the output rests: nobody looks. While full, the model is behind by too much.
	Feed(chunk []byte) (due, unseen, full bool)
	// HasRoom reports whether a model that was behind by too much has caught up far enough.
	HasRoom() bool
	// Wake has the model take what is queued.
	Wake()
}

// Overlay makes the bytes that show over the program what the proxy has to say, and take it away. afresh says that the
// terminal was resized, and nobody knows where it moved what is shown.
type Overlay interface {
	Shown
	Restorer
	// Locate is what to write before the first output: it asks the terminal where that will be. Nobody waits for the answer.
	Locate() []byte
	// Paint is what shows the newest; ok is false while the program's output has ended within a sequence.
	Paint(afresh bool) (show []byte, ok bool)
	// Behind reports whether the model is, so that nothing can be drawn: the copier is told when it has caught up.
	Behind() bool
	// Around feeds a chunk to the model, and is what to write before and after it; ok is as for Paint, at the chunk's end.
	Around(chunk []byte, afresh bool) (before, after []byte, ok bool)
	// Misses reports whether what the filter passed of a chunk leaves alone what is shown.
	Misses(passed vt.Chunk) bool
	// Hide is what takes away what is shown. It may be called when the model's goroutine has ended.
	Hide(afresh bool) []byte
	// Resume is what shows the program again after the terminal was another's; alt says that it is on the alternate screen.
	Resume(alt bool) []byte
	// Forget says that what was shown is gone.
	Forget()
	// Drawn says that the newest is on the screen.
	Drawn()
}

// Shown is what the overlay shows now.
type Shown interface {
	// Up reports whether anything is shown, Lasting whether that is the sign, and Asks whether it is a question.
	Up() bool
	Lasting() bool
	Asks() bool
	// Again is when more is to be drawn, zero for nothing.
	Again() time.Time
}

// Restorer is what takes everything of the overlay's away when the terminal is given back.
type Restorer interface {
	// Exit takes away what is shown once the program is gone, nil for nothing.
	Exit() []byte
	// Untitle gives the window its own title back, "" where that is in place; Untitled says that it was written.
	Untitle() string
	Untitled()
}

// Viewers are the people who look from elsewhere.
type Viewers interface {
	// Repaint sends them the whole screen; ok is false while the program's output has ended within a sequence.
	Repaint() (ok bool)
	// Drawn says that they see the newest of what the proxy shows.
	Drawn()
}

// Watchdog gives the terminal back when this process is killed.
type Watchdog interface {
	// SetExit replaces what it writes then: first what takes the proxy's line away, then what resets the program's modes.
	SetExit(line, modes []byte)
}

// Config plugs a [Copier]. The copier's goroutine calls all of it.
type Config struct {
	Program Program
	Screen  Screen
	Poll    Poller
	// Model is nil where nobody needs one: without agents the user's terminal answers the program, and nothing else looks.
	Model Model
	// Overlay is nil in a session without agents, Viewers where nobody can look from elsewhere.
	Overlay Overlay
	Viewers Viewers
	// Strict reports whether an agent drives, and thus decides what is printed: more is filtered then, see package filter. With
	// nil nothing is. The model gets what the program wrote: nothing that is filtered shows on a screen, but for titles, which
	// the overlay sets in its own words.
	Strict func() bool
	// Asks is told how often a chunk asks the terminal for its cursor, before the terminal gets it; nil where nobody needs that.
	Asks func(times int)
	// Away has the copier begin while the terminal is another program's, as after Park. Cooks reports whether the user's terminal
	// itself makes a new line of each line feed, as the program's has done already; nil for never.
	Away  bool
	Cooks func(away bool) bool
}

// Copier alone reads the program and writes to the user's screen. The user's bytes go out first, in the goroutine that read
// them; the terminal model gets them afterwards. Its fields but for the atomic ones belong to the goroutine of [Copier.Run].
type Copier struct {
	program Program
	screen  Screen
	poll    Poller
	model   Model
	overlay Overlay
	viewers Viewers
	strict  func() bool
	asks    func(times int)
	cooks   func(away bool) bool
	filter  filter.Filter
	cutter  vt.Cutter // for what bypasses the filter
	exit    exitSequence

	buf    [chunkSize]byte
	drawn  time.Time     // last repaint
	window time.Time     // begin of the time in which paints are counted
	paints int           // in it
	fed    bool          // the model has not been woken for the last chunk
	full   bool          // the model is behind by too much
	flow   time.Duration // how long to look for more after the last chunk, 0 where none is likely
	unseen bool          // nobody looks: the model need not follow a screen that takes no output for a moment
	begun  bool          // there was output
	dead   bool          // the screen takes nothing any more
	away   bool          // the terminal is another program's: nothing of ours is drawn
	cr     bool          // a carriage return is held back, which may belong to a line feed

	inHand   atomic.Bool // see InHand
	alt      atomic.Bool // see Alt
	dirty    atomic.Bool // what the proxy shows is to be drawn anew
	moved    atomic.Bool // the terminal changed size
	anew     atomic.Bool // somebody needs the whole screen
	ending   atomic.Bool // the program has ended: drain and return
	abort    atomic.Bool // give up at once
	cut      atomic.Bool // see Cut
	asked    atomic.Pointer[func()]
	done     chan struct{} // closed when Run has returned
	first    chan struct{} // see Begun
	heldOpen bool          // somebody still had the program's terminal open at the end
}

// New makes a copier that has copied nothing. The terminal is as the user's shell left it.
func New(conf Config) *Copier {
	c := &Copier{
		program: conf.Program, screen: conf.Screen, poll: conf.Poll, model: conf.Model, overlay: conf.Overlay,
		viewers: conf.Viewers, strict: conf.Strict, asks: conf.Asks, away: conf.Away, cooks: conf.Cooks, done: make(chan struct{}), first: make(chan struct{}),
	}
	c.exit = exitSequence{on: conf.Screen.HasScreen(), overlay: conf.Overlay}
	c.dirty.Store(conf.Overlay != nil)
	return c
}

// Repaint has what the proxy shows drawn anew. It may be called from any goroutine.
func (c *Copier) Repaint() {
	if !c.dirty.Swap(true) {
		c.poll.Wake()
	}
}

// CaughtUp says that the model has caught up, so that what could not be drawn can be. It may be called from any goroutine.
func (c *Copier) CaughtUp() {
	c.dirty.Store(true)
	c.poll.Wake()
}

// Resized says that the user's terminal has another size. It may be called from any goroutine.
func (c *Copier) Resized() {
	c.moved.Store(true)
	c.Repaint()
}

// Renew has the whole screen sent to those who look from elsewhere. It may be called from any goroutine.
func (c *Copier) Renew() {
	if c.viewers != nil {
		c.anew.Store(true)
		c.Repaint()
	}
}

// End lets Run return when the output of the ended program is through; Abandon does not wait for that. Both may be called
// from any goroutine.
func (c *Copier) End() { c.ending.Store(true); c.poll.Wake() }

// Abandon is described with End.
func (c *Copier) Abandon() { c.abort.Store(true); c.poll.Wake() }

// Done is closed when Run has returned.
func (c *Copier) Done() <-chan struct{} { return c.done }

// Begun is closed when the program has printed something.
func (c *Copier) Begun() <-chan struct{} { return c.first }

// HeldOpen reports whether processes in the background still had the program's terminal open at the end. It is known when
// Run has returned.
func (c *Copier) HeldOpen() bool { return c.heldOpen }

// InHand reports whether output was read, or is being read, that the model was not fed yet. It may be called from any
// goroutine.
func (c *Copier) InHand() bool { return c.inHand.Load() }

// Alt reports whether the program is on the alternate screen, by what was written to the user's. It may be called from any
// goroutine.
func (c *Copier) Alt() bool { return c.alt.Load() }
