// Package observer owns the terminal model of a session: it decides what agents may see of the
// program, and when.
//
// One goroutine, [Observer.Run], feeds the model with what the program prints, keeps secrets and a
// screen that the user hides from agents, publishes snapshots at their rate limit, and checks the
// waits. What agents get is made in frame.go (a screen), answer.go (the answers to reads and waits,
// with history.go and delta.go) and waits.go. All of it passes redacted.go, which covers secrets
// and what a person cannot see, and privacy.go. inputwait.go finds out whether the program waits
// for input.
//
// It must not know who may type, what the overlay shows, or how messages reach an agent. Its ports
// name what it asks, and whom it informs.
package observer

import (
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/redact"
	"terminalproxy/proxy/view/snapshot"
)

// Config connects an [Observer].
type Config struct {
	Cols, Rows int // of the terminal, in cells
	Program    Program
	// Queried gets the model's answer to a query that the program sent to its terminal. It is
	// called on the observer's goroutine.
	Queried  func(replies []byte)
	Recorder Recorder // nil without a recording
	Agents   *Agents  // nil if no agent may observe: then only the screen is kept
}

// Agents is the part of the proxy that an [Observer] needs if agents may observe.
type Agents struct {
	Session    Session
	Began      time.Time     // when the program was started; zero if it runs already
	Interval   time.Duration // between snapshots of continuous output
	Scrollback int           // rows of history that are kept
	Mute       bool          // the program's terminal had no echo from the start: no one types there
	NoRedact   bool          // show what looks like a secret
	Redact     *redact.Own   // the user's rules for redaction, or nil
}

// Program answers the observer's questions about the program, on the observer's goroutine. Each
// answer takes system calls.
type Program interface {
	// Line returns the line settings, or an error once they can no longer be read.
	Line() (child.Line, error)
	// ForegroundChain names the foreground program and what it has started. Arguments returns the
	// arguments of the last of these.
	ForegroundChain() []string
	Arguments() []string
	// Foreground names the foreground program, and ForegroundGroup returns its process group. They
	// return "" and 0 if it is unknown.
	Foreground() string
	ForegroundGroup() int
	// IsGroupAlive reports whether a process group has a process.
	IsGroupAlive(group int) bool
	// BlockedOn returns what the foreground waits for. known is false if the system cannot tell.
	BlockedOn() (b child.Blocked, known bool)
	// CountWrites counts the writes to the program: those that have begun, and those that have
	// ended. It may be called on any goroutine.
	CountWrites() (begun, ended uint64)
	// CountUnread counts the bytes that were written to the program and that it has not read.
	CountUnread() int
	// IsOutputStopped reports whether a key has stopped the terminal's output.
	IsOutputStopped() bool
	// HasOutput reports whether the program has printed something that was not yet fed to the
	// observer.
	HasOutput() bool
	// CountQueued is CountUnread and then HasOutput, in that order, with fewer system calls.
	CountQueued() (unread int, output bool)
}

// Session is the part of the session that the observer needs if agents may observe. The observer
// calls all of it on its own goroutine, and each method returns at once.
type Session interface {
	// Keyboard returns who has the keyboard now. IsDriven reports whether an agent has it.
	Keyboard() protocol.Keyboard
	IsDriven() bool
	// TypedByUser returns how much the user has typed.
	TypedByUser() secretprompt.Typed
	// IsUnattended reports whether no person can answer a prompt. IsResting reports whether the
	// session was idle for so long that the line settings need no check.
	IsUnattended() bool
	IsResting() bool
	// Line returns the line that the user and agents type on.
	Line() Line

	// Publish sends a snapshot: a frame and the rolling text.
	Publish(f *protocol.Frame, text string)
	// SendRows sends the screen to the viewers, who asked for it by [Observer.SetViewed]. The
	// message names no session.
	SendRows(m *protocol.Rows)
	// SendBlackout informs agents that something is hidden from them, or no longer is.
	SendBlackout(on bool, why string, secret protocol.SecretPrompt)
	// NoteSecretPrompt informs control of a secret prompt, which the user may have dismissed.
	NoteSecretPrompt(kind protocol.SecretPrompt, dismissed bool)
	// NoteOutput follows each piece of output. NoteMemoryUse follows output large enough that much
	// memory is idle now.
	NoteOutput()
	NoteMemoryUse()
	// NoteTitleChange follows a new title of the program, or a change between the main and the
	// alternate screen.
	NoteTitleChange()
	// SetMouseReports sets whether the program wants mouse reports as three raw bytes.
	SetMouseReports(raw bool)
}

// Line is the line that the user and agents type on. All of it is called on the observer's
// goroutine.
type Line interface {
	// NoteScreenChange follows each change of the screen.
	NoteScreenChange(now time.Time)
	// IsEditing reports whether a known shell, REPL or debugger edits a line behind a prompt. timed
	// means that it has a timer, which may belong to what it evaluates. LastKeyTime returns when
	// someone last typed, or zero.
	IsEditing(timed bool) bool
	// IsBehindText reports whether the cursor is behind text, as at a prompt, or on the alternate
	// screen.
	IsBehindText() bool
	LastKeyTime() time.Time
	// NextServe returns when Serve is due although nothing happens.
	NextServe() (at time.Time, ok bool)
	Serve(now time.Time)
}

// Recorder records what the model was fed. Between RecordBlackout(true, reason) and
// RecordBlackout(false, "") the recording pauses. The observer's goroutine calls all of it.
type Recorder interface {
	RecordOutput(p []byte)
	RecordBlackout(on bool, why string)
}

// Observer owns the terminal model, the rolling text, the rate limit of snapshots, and the waits.
// Its goroutine is [Observer.Run]. Feed, Wake, Post, Call, Stop, SetGatewayReached, SetSubscribed
// and Redact may be called on any other goroutine, everything else only in a function that was
// given to Post or Call.
type Observer struct {
	conf    Config
	agents  *Agents
	text    *snapshot.Rolling
	waits   *snapshot.Waits
	privacy *privacy // keeps secrets and a hidden screen from agents; nil without agents
	inlet
	shownScreen
	rhythm

	taken      uint64      // how many bytes of the spool the model was given
	subscribed atomic.Bool // someone gets the snapshots
	rev        uint64      // of the model, when last checked
	titles     uint64
	titleRev   uint64 // at which the program set its title last
	alt        bool
	x10        bool
	rolled     shownText
	sent       sentScreens
	exit       *child.Exit
	inputWait  inputWait
	asking     map[string]bool // waits for "the program waits for input"
}

// inlet holds what other goroutines hand to the observer: output for the model, and functions to
// run.
type inlet struct {
	program Program
	notify  chan struct{}
	done    chan struct{} // closed when Run has returned

	mu    sync.Mutex
	spool spool
	// unwatched: no one looked when the observer last had something to do. writesWhenUnwatched
	// counts the writes to the program at that time.
	unwatched           bool
	writesWhenUnwatched uint64
	posts               []post
	stopped             bool

	heldUntil time.Time // see HoldOutput; the observer's goroutine owns it
	// emptied: the last HasCaughtUp found that the program had read all writes up to emptiedAt. The
	// observer's goroutine owns them.
	emptied   bool
	emptiedAt uint64
}

// shownScreen is the terminal model as agents and viewers may read it: without secrets.
type shownScreen struct {
	model    *screen.Screen
	lines    lineCache
	redacted redacted
}

// rhythm decides when subscribers and viewers get what changed.
type rhythm struct {
	throttle *snapshot.Throttle
	viewing  rowsStream
	// blankUntil is when a still blank screen counts as the program's; zero once it shows
	// something.
	blankUntil time.Time
}

// New returns an observer with a blank screen.
func New(conf Config) *Observer {
	model := screen.Config{Cols: conf.Cols, Rows: conf.Rows}
	text, interval, gate := snapshot.NewRolling(1), time.Duration(0), (*textGate)(nil)
	if conf.Agents != nil {
		text = snapshot.NewRolling(protocol.ContentRunes + contentMargin)
		interval = conf.Agents.Interval
		gate = &textGate{text: text}
		model.Scrollback, model.Text = conf.Agents.Scrollback, gate
		model.Group = conf.Program.ForegroundGroup
	}
	throttle := snapshot.NewThrottle(interval, 0)
	o := &Observer{
		conf:        conf,
		agents:      conf.Agents,
		text:        text,
		waits:       snapshot.NewWaits(text, throttle),
		shownScreen: shownScreen{model: screen.New(model)},
		rhythm:      rhythm{throttle: throttle},
		inlet: inlet{
			program: conf.Program,
			notify:  make(chan struct{}, 1),
			done:    make(chan struct{}),
		},
		asking: make(map[string]bool),
	}
	o.rev = o.model.Rev()
	o.inputWait = inputWait{
		program:       conf.Program,
		hasFedAll:     o.hasFedAll,
		isSilentStart: o.isSilentStart,
	}
	if o.agents != nil {
		o.inputWait.line = o.agents.Session.Line
		o.setStartTime(o.agents.Began)
		o.privacy = newPrivacy(o, gate)
		o.redacted.open, o.redacted.own = o.agents.NoRedact, o.agents.Redact
		o.waits.SetConcealer(o.Redact)
	}
	return o
}

// Model returns the terminal as the user sees it, secrets included: only the user's own screen may
// be made from it.
func (v *shownScreen) Model() *screen.Screen { return v.model }

// SettleTime returns when the screen counts as settled unless it changes before. LastChange returns
// when it last changed.
func (r *rhythm) SettleTime() time.Time { return r.throttle.SettleTime() }

// LastChange is described at SettleTime.
func (r *rhythm) LastChange() time.Time { return r.throttle.LastChange() }

// HasCaughtUp reports whether the program has read all that was typed, and the model was fed all
// that the program has printed.
func (i *inlet) HasCaughtUp() bool {
	begun, ended := i.program.CountWrites()
	unread, output := i.program.CountQueued()
	i.emptied, i.emptiedAt = unread == 0 && begun == ended, begun
	return unread == 0 && !output && i.isSpoolEmpty()
}

// HasStayedCaughtUp is HasCaughtUp after it was true and the line settings were read; canonical
// means that the kernel collected lines then. In that mode only a write adds to the input that the
// program can read, so without one the program is not asked again. In raw mode it is: the beginning
// of a line that was typed in canonical mode can be read as soon as the mode changes.
func (i *inlet) HasStayedCaughtUp(canonical bool) bool {
	begun, ended := i.program.CountWrites()
	if canonical && i.emptied && begun == i.emptiedAt && ended == begun {
		return i.hasFedAll()
	}
	return i.HasCaughtUp()
}

// IsBlank reports whether the program began a moment ago and has shown nothing yet.
func (r *rhythm) IsBlank(now time.Time) bool { return r.isSilentStart(now) }

// RunsCommand reports whether the shell that has the terminal said that it runs a command.
func (o *Observer) RunsCommand() bool { return o.inputWait.runsCommand() }

// ControlChanged notes a new state of control, in which the user hides the screen or not. It makes
// a snapshot due at once, even if the screen is the same: the list of sessions takes from it who
// has the keyboard.
func (o *Observer) ControlChanged(now time.Time, hidden bool) {
	o.privacy.setHidden(now, hidden)
	o.markChanged(now)
	o.throttle.NoteUrgentChange(now)
}

// AllowSecretPrompt lets agents see the present secret prompt, and lets the agent that drives
// answer it, as the user decided.
func (o *Observer) AllowSecretPrompt(now time.Time) { o.privacy.allowPrompt(now) }

// NoteSecretSeen notes that the pump saw a secret prompt in the line settings, which may be over
// already.
func (o *Observer) NoteSecretSeen(now time.Time) { o.privacy.noteHardPrompt(now) }

// InputRefusal returns why an agent's input must not be typed now: [control.ErrHidden],
// [control.ErrSecret], or nil.
func (o *Observer) InputRefusal(now time.Time) error {
	o.privacy.checkPrompt(now)
	switch {
	case o.privacy.isHidden():
		return control.ErrHidden
	case o.privacy.secret.Kind() != protocol.SecretNone:
		return control.ErrSecret
	}
	return nil
}

// SetGatewayReached notes whether a gateway is connected, through which agents look. It may be
// called on any goroutine.
func (o *Observer) SetGatewayReached(yes bool) {
	o.privacy.reached.Store(yes)
	o.Wake() // it may have to check the line settings again
}

// NoteExit notes that the program has ended and that all of its output was fed. It publishes the
// last snapshot, and returns the history from which the gateway answers from then on.
func (o *Observer) NoteExit(now time.Time, exit child.Exit) *protocol.Past {
	o.exit = &exit
	o.setStartTime(time.Time{})
	o.privacy.checkPrompt(now)
	o.waits.EvaluateAll(o.waitView(), now)
	o.agents.Session.Publish(o.Frame(now), o.rollingText())
	o.sendRows(now)
	return o.finalHistory()
}

// hasFedAll reports whether the model was fed everything that the program has printed. The order
// matters: output goes from the kernel through the copier to the spool.
func (i *inlet) hasFedAll() bool {
	return !i.program.HasOutput() && i.isSpoolEmpty()
}

func (i *inlet) isSpoolEmpty() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.spool.blocks) == 0
}
