// Package copier carries the program's output to the user's screen. It reads a chunk, filters it,
// tracks the modes that it changes, writes it, and only then hands it to the terminal model. So at
// any moment it has the bytes that restore the terminal. It must not depend on agents, gateways, or
// the content of the overlay: it writes the bytes that the overlay makes.
package copier

import (
	"sync/atomic"
	"time"

	"terminalproxy/proxy/terminal/filter"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/vt"
)

// Program is the program's terminal. It never waits.
type Program interface {
	// Read returns at least one byte, or [child.ErrAgain], or the error that ends the copying.
	Read(p []byte) (int, error)
	// HasOutput reports whether there is unread output of the program.
	HasOutput() bool
}

// Screen is the user's screen. It never waits.
type Screen interface {
	// Write returns how many bytes it took, or [tty.ErrAgain] without any. Any other error means
	// that the window is closed.
	Write(p []byte) (int, error)
	// HasScreen reports whether a person can see the screen.
	HasScreen() bool
}

// Poller waits like a [tty.Poller]: for the program's output, for room on the screen, and for Wake
// from any goroutine.
type Poller interface {
	Wait(want tty.Events, timeout time.Duration) (tty.Events, error)
	Wake()
}

// Model feeds the terminal model, which has its own goroutine.
type Model interface {
	// Feed queues a copy of chunk. due means that the model must be woken now. unseen means that
	// the screen has no viewer, so that the model may wait until the output pauses. full means that
	// the model is too far behind.
	Feed(chunk []byte) (due, unseen, full bool)
	// HasRoom reports whether a model that was too far behind has caught up enough.
	HasRoom() bool
	// Wake makes the model process its queue.
	Wake()
}

// Overlay makes the bytes that draw the proxy's texts over the program, and those that remove them.
// afresh means that the terminal was resized, and may have moved them.
type Overlay interface {
	OverlayState
	Restorer
	// QueryCursor returns the bytes to write before the first output: they ask the terminal for its
	// cursor. The copier does not wait for the answer.
	QueryCursor() []byte
	// Paint returns the bytes that draw the newest texts; ok is false while the program's output
	// ends within a sequence.
	Paint(afresh bool) (show []byte, ok bool)
	// IsBehind reports whether the model is behind, so that nothing can be drawn. The copier is
	// notified when it has caught up.
	IsBehind() bool
	// DrawAround feeds a chunk to the model, and returns the bytes to write before and after it; ok
	// is as for Paint, at the chunk's end.
	DrawAround(chunk []byte, afresh bool) (before, after []byte, ok bool)
	// SparesTexts reports whether a filtered chunk leaves the proxy's texts alone.
	SparesTexts(passed vt.Chunk) bool
	// RemoveTexts returns the bytes that remove the texts. It may be called after the model's
	// goroutine has ended.
	RemoveTexts(afresh bool) []byte
	// RestoreProgram returns the bytes that draw the program again after another program used the
	// terminal; alt means that it is on the alternate screen.
	RestoreProgram(alt bool) []byte
	// NoteTextsGone notes that the texts are no longer on the screen.
	NoteTextsGone()
	// NoteDrawn notes that the newest texts are on the screen.
	NoteDrawn()
}

// OverlayState describes the text that the overlay shows now.
type OverlayState interface {
	// IsUp reports whether any text is shown, IsSign whether it is the sign, and IsQuestion whether
	// it is a question.
	IsUp() bool
	IsSign() bool
	IsQuestion() bool
	// NextDraw returns when to draw again, or zero.
	NextDraw() time.Time
}

// Restorer removes the overlay when the terminal is restored.
type Restorer interface {
	// RemoveAtExit returns the bytes that remove the text once the program is gone, or nil.
	RemoveAtExit() []byte
	// RestoreTitle returns the bytes that restore the window's own title, or "" if it is in place.
	// NoteTitleRestored notes that they were written.
	RestoreTitle() string
	NoteTitleRestored()
}

// Viewers are the people who watch from elsewhere.
type Viewers interface {
	// Repaint sends them the whole screen; ok is false while the program's output ends within a
	// sequence.
	Repaint() (ok bool)
	// NoteDrawn notes that the proxy's newest texts are on their screens.
	NoteDrawn()
}

// Watchdog restores the terminal if this process is killed.
type Watchdog interface {
	// SetExit replaces the bytes that it then writes: first those that remove the proxy's line,
	// then those that reset the program's modes.
	SetExit(line, modes []byte)
}

// Config connects a [Copier]. The copier's goroutine calls all of it.
type Config struct {
	Program Program
	Screen  Screen
	Poll    Poller
	// Model is nil without agents: then the user's terminal answers the program, and only the user
	// sees it.
	Model Model
	// Overlay is nil in a session without agents, and Viewers if watching from elsewhere is
	// impossible.
	Overlay Overlay
	Viewers Viewers
	// Strict reports whether an agent drives, and thus controls the output: then more is filtered,
	// see package filter. nil filters nothing. The model gets the unfiltered output: filtered
	// sequences do not show on a screen, except for titles, which the overlay composes itself.
	Strict func() bool
	// CursorAsked is called with how often a chunk asks the terminal for its cursor, before the
	// terminal gets the chunk. May be nil.
	CursorAsked func(times int)
	// TerminalTaken makes the copier begin while another program uses the terminal, as after
	// PauseCopying. ConvertsLineFeeds reports whether the user's terminal itself turns each line
	// feed into a new line, as the program's terminal has already done; nil means never.
	TerminalTaken     bool
	ConvertsLineFeeds func(away bool) bool
}

// Copier alone reads the program and writes to the user's screen. The user's bytes go out first, in
// the goroutine that read them; the terminal model gets them afterwards. The goroutine of
// [Copier.Run] owns all fields except the atomic ones.
type Copier struct {
	program           Program
	screen            Screen
	poll              Poller
	model             Model
	overlay           Overlay
	viewers           Viewers
	strict            func() bool
	cursorAsked       func(times int)
	convertsLineFeeds func(terminalTaken bool) bool
	filter            filter.Filter
	cutter            vt.Cutter // for bytes that bypass the filter
	exit              exitSequence

	buf           [chunkSize]byte
	drawn         time.Time     // last repaint
	window        time.Time     // start of the period in which paints are counted
	paints        int           // in that period
	needsWake     bool          // the model must be woken for the last chunk
	full          bool          // the model is too far behind
	lookFor       time.Duration // how long to look for more after the last chunk; 0 if more is unlikely
	unseen        bool          // no viewer: the model need not follow while the screen is full
	hasOutput     bool          // there was output
	dead          bool          // the screen no longer takes output
	terminalTaken bool          // another program uses the terminal: the overlay must not draw
	heldCR        bool          // a carriage return is held back, which may belong to a line feed

	hasUnfed    atomic.Bool // see HasUnfedOutput
	alt         atomic.Bool // see Alt
	dirty       atomic.Bool // the overlay must be redrawn
	resized     atomic.Bool // the terminal changed size
	needsScreen atomic.Bool // a viewer needs the whole screen
	ending      atomic.Bool // the program has ended: drain and return
	abort       atomic.Bool // give up at once
	dropWrites  atomic.Bool // see DropWrites
	pendingCall atomic.Pointer[func()]
	done        chan struct{} // closed when Run has returned
	first       chan struct{} // see FirstOutput
	heldOpen    bool          // a process still had the program's terminal open at the end
}

// New returns a copier. The terminal must be as the user's shell left it.
func New(conf Config) *Copier {
	c := &Copier{
		program:           conf.Program,
		screen:            conf.Screen,
		poll:              conf.Poll,
		model:             conf.Model,
		overlay:           conf.Overlay,
		viewers:           conf.Viewers,
		strict:            conf.Strict,
		cursorAsked:       conf.CursorAsked,
		terminalTaken:     conf.TerminalTaken,
		convertsLineFeeds: conf.ConvertsLineFeeds,
		done:              make(chan struct{}),
		first:             make(chan struct{}),
	}
	c.exit = exitSequence{on: conf.Screen.HasScreen(), overlay: conf.Overlay}
	c.dirty.Store(conf.Overlay != nil)
	return c
}

// Repaint makes the copier redraw the overlay. It may be called on any goroutine.
func (c *Copier) Repaint() {
	if !c.dirty.Swap(true) {
		c.poll.Wake()
	}
}

// NoteCaughtUp notes that the model has caught up, so that the overlay can be drawn. It may be
// called on any goroutine.
func (c *Copier) NoteCaughtUp() {
	c.dirty.Store(true)
	c.poll.Wake()
}

// NoteResize notes that the user's terminal has another size. It may be called on any goroutine.
func (c *Copier) NoteResize() {
	c.resized.Store(true)
	c.Repaint()
}

// ResendScreen makes the copier send the whole screen to the viewers. It may be called on any
// goroutine.
func (c *Copier) ResendScreen() {
	if c.viewers != nil {
		c.needsScreen.Store(true)
		c.Repaint()
	}
}

// FinishOutput lets Run return once the ended program's output is written; AbandonOutput does not
// wait for that. Both may be called on any goroutine.
func (c *Copier) FinishOutput() { c.ending.Store(true); c.poll.Wake() }

// AbandonOutput makes Run return at once; see FinishOutput.
func (c *Copier) AbandonOutput() { c.abort.Store(true); c.poll.Wake() }

// Done returns a channel, closed when Run has returned.
func (c *Copier) Done() <-chan struct{} { return c.done }

// FirstOutput returns a channel, closed when the program has printed something.
func (c *Copier) FirstOutput() <-chan struct{} { return c.first }

// HeldOpen reports whether background processes still had the program's terminal open at the end.
// It is valid after Run has returned.
func (c *Copier) HeldOpen() bool { return c.heldOpen }

// HasUnfedOutput reports whether output has been read, or is being read, and was not fed to the
// model yet. It may be called on any goroutine.
func (c *Copier) HasUnfedOutput() bool { return c.hasUnfed.Load() }

// Alt reports whether the program is on the alternate screen, judged by the bytes written to the
// user's. It may be called on any goroutine.
func (c *Copier) Alt() bool { return c.alt.Load() }
