package proxy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/agents/requests"
	"terminalproxy/proxy/chat/beside"
	"terminalproxy/proxy/chat/feed"
	"terminalproxy/proxy/consent/authority"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/reclaimkey"
	"terminalproxy/proxy/detached/attach"
	"terminalproxy/proxy/display/copier"
	"terminalproxy/proxy/display/desk"
	"terminalproxy/proxy/display/events"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/record/recording"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/signals"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/watchdog"
	"terminalproxy/proxy/view/observer"
)

// session holds a running session and its parts.
type session struct {
	surroundings
	id         string
	resumeKey  string
	reclaimKey keys.CtrlKey
	started    time.Time

	child     *child.Child
	program   *program
	observer  *observer.Observer
	tracker   *line.Tracker // of the line that the user and agents share; nil without agents
	copier    *copier.Copier
	painter   *overlay.Painter
	pump      *pump.Pump
	authority *authority.Authority
	rules     authority.Rules
	detector  *reclaimkey.Detector
	status    *overlay.Status
	desk      *desk.Desk // nil without agents
	link      *link.Link
	requests  *requests.Handler
	recording *recording.Recording
	used      atomic.Int64 // when the user typed last, in Unix milliseconds, 0 for never
	worth     link.Worth   // a gateway's attention
	welcomed  sync.Once    // the user was told that the session is shared
	// when the terminal was asked last where its cursor is, in Unix nanoseconds
	asksSince atomic.Int64
	events    *events.Reporter // nil without agents
	talk      *feed.Room       // nil without a conversation
	beside    *beside.Agent    // nil where its agent has no interface of its own in the terminal
	attached  *attach.Clients  // nil on a user's terminal, as is linked
	linked    chan struct{}    // closed when a gateway was reached
	signals   *signals.Catcher // that the session obeys
	stops     chan unix.Signal // by which the program was stopped
	leaving   chan struct{}    // the user wants to leave the program running
	called    chan struct{}    // an agent asks for a keyboard that was left aside
}

// surroundings are what the user's shell gave this process, and its job in there.
type surroundings struct {
	conf     Config
	log      *slog.Logger
	term     *tty.Terminal
	settings *unix.Termios // the terminal's own, nil without a keyboard
	// the program's standard streams that are not its terminal, nil for those that are
	streams  []*os.File
	aside    bool               // see settleBegin
	behind   bool               // the program begins behind: in the background, or aside
	watchdog *watchdog.Watchdog // nil until the program has run for a moment
}

// Run runs the program until it ends and leaves the terminal as it was. ctx ends it as a closing
// terminal would. The error is a *UserError.
func Run(ctx context.Context, conf Config) (Result, error) {
	s := newSession(conf)
	// a window that closes is the business of who lends it
	s.signals = signals.NewCatcher(conf.Keep == nil, conf.Agent != nil)
	if !conf.Final {
		defer s.signals.RestoreDefaults()
	}
	if err := s.openTerminal(); err != nil {
		return Result{}, &UserError{
			Status: 125,
			Say:    "open the terminal: " + err.Error(),
			Cause:  err,
		}
	}
	defer s.term.Close()
	return s.run(ctx)
}

func newSession(conf Config) *session {
	s := &session{
		surroundings: surroundings{conf: conf, log: conf.Log},

		started: time.Now(),
		signals: signals.NewIdleCatcher(),
		stops:   make(chan unix.Signal, 1),
		leaving: make(chan struct{}, 1),
		called:  make(chan struct{}, 1),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if conf.Agent != nil {
		s.reclaimKey = conf.Agent.Keys.Reclaim
	}
	if conf.headless != nil {
		s.linked = make(chan struct{})
	}
	return s
}

func (s *session) run(ctx context.Context) (Result, error) {
	s.signals.StartCatching()
	cols, rows := s.terminalSize()
	s.assignIdentity()
	var err error
	if s.recording, err = recording.Open(s.conf.Record); err != nil {
		return Result{}, &UserError{Status: 2, Say: "--record: " + err.Error(), Cause: err}
	}
	defer s.recording.Discard()
	shut, err := s.openDoor()
	if err != nil {
		return Result{}, err
	}
	defer shut()
	s.settings = s.term.Termios()
	s.settleBegin()
	s.signals.WaitReady()
	program, err := child.Start(s.childConfig(cols, rows))
	if refused, ok := errors.AsType[*child.StartError](err); ok {
		return Result{}, &UserError{Status: refused.Status, Say: refused.Say, Hint: refused.Hint}
	}
	s.child = program
	defer program.Close()
	s.letStreamsGo(s.conf.Given)
	child.LeaveNoCore()
	defer func() { _ = s.term.Restore() }()
	if err := s.prepareParts(cols, rows); err != nil {
		program.Terminate(closed)
		return Result{}, &UserError{Status: 125, Say: err.Error(), Cause: err}
	}
	s.wireRecording(cols, rows)
	if h := s.conf.headless; h != nil {
		defer h.RegisterForReaping(program.Identity())()
		defer program.EndLeftovers()
	}
	return s.runParts(ctx), nil
}

// childConfig says what to start, and how.
func (s *session) childConfig(cols, rows int) child.Config {
	args := s.conf.Args
	if a := s.conf.Agent; a != nil && a.Chat != nil && a.Chat.Args != nil {
		args = a.Chat.Args
	}
	width, height := s.term.PixelSize()
	return child.Config{
		Path:       s.conf.Command,
		Args:       args,
		Env:        s.programEnvironment(),
		Dir:        s.programDir(),
		Cols:       cols,
		Rows:       rows,
		Width:      width,
		Height:     height,
		Hurry:      s.hurrySignal(),
		Termios:    s.lineSettings(),
		Stopped:    s.noticeStop(),
		JobControl: s.jobControl(),
		Streams:    s.streams,
		Given:      s.conf.Given,
		Behind:     s.behind,
	}
}

// prepareParts makes the parts and takes the terminal while the program begins: the keyboard is not
// read yet, and the program gets no input. The signals were taken before the program was started,
// so that a signal cannot leave the terminal raw. The Go runtime ends the process by an earlier
// signal, on a thread of its own and perhaps a moment late: the program's start lies between that
// and the raw mode. A change of the window's size meanwhile is noticed here.
func (s *session) prepareParts(cols, rows int) error {
	wired := s.wireParts(cols, rows)
	if c, r := s.terminalSize(); c != cols || r != rows {
		s.signals.Send(syscall.SIGWINCH)
	}
	if s.behind {
		return wired
	}
	if err := s.term.EnterRawMode(); err != nil {
		return err
	}
	if s.conf.Agent != nil && s.term.HasScreen() && overlay.TakesSequences(os.Getenv("TERM")) {
		_ = s.term.WriteAll([]byte(tty.Unlock), lastPatience)
	}
	return wired
}

// closed is a closed channel, for a call that must not wait.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// jobControl reports whether the user's shell resumes what stops; if so, the program must be able
// to stop.
func (s *surroundings) jobControl() bool {
	return s.conf.headless == nil && s.term.HasKeyboard() && s.canResume()
}

// noticeStop returns the function that notes a stop of the program. It returns nil without a user's
// shell, which alone could resume us; that program is its agent's to resume or to end.
func (s *session) noticeStop() func(unix.Signal) {
	if s.conf.headless != nil {
		return nil
	}
	return func(sig unix.Signal) {
		select {
		case s.stops <- sig:
		default: // one is waiting to be noticed
		}
	}
}

// hurrySignal is closed when the program's end must not take long.
func (s *surroundings) hurrySignal() <-chan struct{} {
	if s.conf.headless == nil {
		return nil
	}
	return s.conf.headless.Hurry
}

// terminalSize returns the size of the user's terminal, or else the configured one.
func (s *surroundings) terminalSize() (cols, rows int) {
	if cols, rows, err := s.term.Size(); err == nil {
		return min(cols, protocol.MaxSize), min(rows, protocol.MaxSize)
	}
	return s.defaultSize()
}

// defaultSize returns the configured size.
func (s *surroundings) defaultSize() (cols, rows int) {
	return cmp.Or(s.conf.Cols, 80), cmp.Or(s.conf.Rows, 24)
}
