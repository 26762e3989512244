// Package observer owns the terminal model of a session: what agents may see of the program, and when.
//
// One goroutine, [Observer.Run], feeds the model with what the program prints, keeps secrets and a screen that the user hides
// from agents, publishes snapshots in their rhythm, and looks after the waits. What agents get comes from frame.go (a screen),
// answer.go (the answers to reads and waits, with history.go and delta.go) and waits.go; all of it passes redacted.go, which
// covers secrets and what a person cannot see, and privacy.go. inputwait.go finds out whether the program waits for input.
//
// It must not know who may type, what is shown over the program, or how anything reaches an agent: its ports say what it asks,
// and whom it tells.
package observer

import (
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/secretprompt"
	"terminalproxy/proxy/snapshot"
)

// Config plugs an [Observer].
type Config struct {
	Cols, Rows int // of the terminal, in cells
	Program    Program
	// Queried takes what the model answers to a question of the program's to its terminal. It runs on the observer's goroutine.
	Queried  func(replies []byte)
	Recorder Recorder // nil: nobody records
	Agents   *Agents  // nil: no agent may observe, and only what a terminal does is kept
}

// Agents is what an [Observer] needs where agents may observe.
type Agents struct {
	Session    Session
	Began      time.Time     // when the program was started; zero when it runs already
	Interval   time.Duration // between snapshots of continuous output
	Scrollback int           // rows of history that are kept
	Mute       bool          // the program's line had no echo from the start: nobody types there
	NoRedact   bool          // what looks like a secret is shown
	Redact     *redact.Own   // the user's rules about that, nil for none
}

// Program is what the observer asks about the program, on its own goroutine. Each answer takes system calls.
type Program interface {
	// Line is the line settings; an error says that nobody can read them any more.
	Line() (child.Line, error)
	// Chain names the program in the foreground and what it has started, Arguments are those of the last of these.
	Chain() []string
	Arguments() []string
	// Foreground names the program in the foreground, ForegroundGroup is its process group; "" and 0 when nobody knows.
	Foreground() string
	ForegroundGroup() int
	// Alive reports whether a process group has a process.
	Alive(group int) bool
	// BlockedOn says what the foreground waits for; known is false where the system does not tell.
	BlockedOn() (b child.Blocked, known bool)
	// Writes counts how often something was written to the program: when that began, and when it ended. It may be asked from any
	// goroutine.
	Writes() (begun, ended uint64)
	// Unread is how many of the bytes written to it the program has not read.
	Unread() int
	// OutputStopped reports whether a key has stopped the terminal's output.
	OutputStopped() bool
	// HasOutput reports whether the program has printed what the observer was not fed yet.
	HasOutput() bool
}

// Session is the part of the session that agents observe, as the observer needs it. All of it is called on the
// observer's goroutine, and returns at once.
type Session interface {
	// Keyboard is who has the keyboard now, Driven whether that is an agent.
	Keyboard() protocol.Keyboard
	Driven() bool
	// Typed is how much the user has typed.
	Typed() secretprompt.Typed
	// Unattended reports whether nobody is there to answer a prompt, and Resting whether nothing has happened for so long that
	// the line settings need no look.
	Unattended() bool
	Resting() bool
	// Line is the line that the user and agents type on.
	Line() Line

	// Publish sends a snapshot: a frame and the rolling text.
	Publish(f *protocol.Frame, text string)
	// Viewed sends the screen to those who look at it, who have asked with [Observer.View]; the message names no session.
	Viewed(m *protocol.Rows)
	// Blackout tells agents that something is kept from them, or no longer.
	Blackout(on bool, why string, secret protocol.SecretPrompt)
	// SecretPrompt tells control of a prompt for a secret, which the user may have dismissed.
	SecretPrompt(kind protocol.SecretPrompt, dismissed bool)
	// Printed follows each piece of output, and Spent so much of it that memory lies idle now.
	Printed()
	Spent()
	// Retitled follows a new title of the program's, or a change between the main and the alternate screen.
	Retitled()
	// MouseReports says whether the program's reports of the mouse are three raw bytes.
	MouseReports(raw bool)
}

// Line is the line that the user and agents type on. All of it is called on the observer's goroutine.
type Line interface {
	// Moved follows each change of the screen.
	Moved(now time.Time)
	// Edits reports whether a known shell, REPL or debugger edits a line behind a prompt; timed says that it has a timer, which may be
	// that of what it evaluates. Pressed is when somebody typed last, zero for never.
	Edits(timed bool) bool
	Pressed() time.Time
	// Next is when Serve is due though nothing happens.
	Next() (at time.Time, ok bool)
	Serve(now time.Time)
}

// Recorder takes what the model was fed, and whether nothing is to be recorded for now. All of it is called on the
// observer's goroutine.
type Recorder interface {
	Fed(p []byte)
	Blackout(on bool, why string)
}

// Observer owns the terminal model, the rolling text, the rhythm of snapshots and the waits. Its goroutine is [Observer.Run];
// Feed, Wake, Post, Call, Stop, Reached, Subscribed and Redact may be called from any other, everything else only in a function that was
// given to Post or Call.
type Observer struct {
	conf     Config
	program  Program
	agents   *Agents
	model    *screen.Screen
	text     *snapshot.Rolling
	throttle *snapshot.Throttle
	waits    *snapshot.Waits
	privacy  *privacy // keeps secrets and a hidden screen from agents; nil without agents

	mu    sync.Mutex
	spool spool
	// alone: nobody looked when the observer last had something to do. aloneAt is how often the program was written to by then.
	alone   bool
	aloneAt uint64
	posts   []post
	stopped bool
	notify  chan struct{}
	done    chan struct{} // closed when Run has returned

	taken      uint64      // how much of what was fed the model was given
	subscribed atomic.Bool // somebody gets what is published
	heldUntil  time.Time   // see Hold
	rev        uint64      // of the model at the last look
	titles     uint64
	titleRev   uint64 // at which the program set its title last
	alt        bool
	x10        bool
	lines      lineCache
	redacted   redacted
	rolled     shownText
	sent       sentScreens
	viewing    viewing
	exit       *child.Exit
	inputWait  inputWait
	// blankUntil is when a screen that shows nothing yet is taken for what the program shows, zero once it shows something.
	blankUntil time.Time
	asking     map[string]bool // waits for "the program waits for input"
}

// New makes an observer whose screen is blank.
func New(conf Config) *Observer {
	model := screen.Config{Cols: conf.Cols, Rows: conf.Rows}
	text, interval, gate := snapshot.NewRolling(1), time.Duration(0), (*textGate)(nil)
	if conf.Agents != nil {
		text, interval = snapshot.NewRolling(protocol.ContentRunes+contentMargin), conf.Agents.Interval
		gate = &textGate{text: text}
		model.Scrollback, model.Text, model.Group = conf.Agents.Scrollback, gate, conf.Program.ForegroundGroup
	}
	throttle := snapshot.NewThrottle(interval, 0)
	o := &Observer{
		conf: conf, program: conf.Program, agents: conf.Agents,
		model: screen.New(model), text: text, throttle: throttle, waits: snapshot.NewWaits(text, throttle),
		notify: make(chan struct{}, 1), done: make(chan struct{}), asking: make(map[string]bool),
	}
	o.rev = o.model.Rev()
	o.inputWait = inputWait{program: conf.Program, drained: o.drained, starting: o.starting}
	if o.agents != nil {
		o.inputWait.line = o.agents.Session.Line
		o.begins(o.agents.Began)
		o.privacy = newPrivacy(o, gate)
		o.redacted.open, o.redacted.own = o.agents.NoRedact, o.agents.Redact
		o.waits.Conceal(o.Redact)
	}
	return o
}

// Model is the terminal as the user sees it, secrets included: what is made of it is for the user's own screen.
func (o *Observer) Model() *screen.Screen { return o.model }

// Settles is when the screen counts as settled unless something changes before, and LastChange when it changed last.
func (o *Observer) Settles() time.Time { return o.throttle.Settles() }

// LastChange is described with Settles.
func (o *Observer) LastChange() time.Time { return o.throttle.LastChange() }

// CaughtUp reports whether the program has read all that was typed, and the model was fed all that the program printed.
func (o *Observer) CaughtUp() bool { return o.program.Unread() == 0 && o.drained() }

// Blank reports whether the program has shown nothing yet, and began a moment ago.
func (o *Observer) Blank(now time.Time) bool { return o.starting(now) }

// RunsCommand reports whether the shell that has the terminal said that it runs a command.
func (o *Observer) RunsCommand() bool { return o.inputWait.runs() }

// ControlChanged says that control has another state, in which the user hides the screen or not. It makes a snapshot due
// at once, though the screen may be the same and change all the time: the list of sessions says by it who has the keyboard.
func (o *Observer) ControlChanged(now time.Time, hidden bool) {
	o.privacy.hide(now, hidden)
	o.changed(now)
	o.throttle.Urge(now)
}

// Dismiss lets agents see the prompt for a secret that stands now, and the one that drives answer it: the user said so.
func (o *Observer) Dismiss(now time.Time) { o.privacy.dismiss(now) }

// SecretSeen says that the pump saw a prompt for a secret in the line settings, which may be over already.
func (o *Observer) SecretSeen(now time.Time) { o.privacy.spot(now) }

// Bars says why an agent's input is not to be typed now, nil if it may be: [control.ErrHidden] or [control.ErrSecret].
func (o *Observer) Bars(now time.Time) error {
	o.privacy.look(now)
	switch {
	case o.privacy.isHidden():
		return control.ErrHidden
	case o.privacy.secret.Kind() != protocol.SecretNone:
		return control.ErrSecret
	}
	return nil
}

// Reached says whether a gateway is reached, through which agents look. It may be called from any goroutine.
func (o *Observer) Reached(yes bool) {
	o.privacy.reached.Store(yes)
	o.Wake() // it may have to look at the line settings again
}

// Exited says that the program has ended and everything that it printed was fed, and publishes the last snapshot. It returns
// what the gateway needs of the history to answer from then on.
func (o *Observer) Exited(now time.Time, exit child.Exit) *protocol.Past {
	o.exit = &exit
	o.begins(time.Time{})
	o.privacy.look(now)
	o.waits.Check(o.view(), now)
	o.agents.Session.Publish(o.Frame(now), o.content())
	o.viewed(now)
	return o.legacy()
}

// drained reports whether the model was fed everything that the program has printed. The order matters: output goes from the
// kernel to the copier's hand to the spool.
func (o *Observer) drained() bool {
	if o.program.HasOutput() {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.spool.blocks) == 0
}
