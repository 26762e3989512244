package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/attach"
	"terminalproxy/proxy/authority"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/copier"
	"terminalproxy/proxy/host"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/observer"
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/recording"
	"terminalproxy/proxy/requests"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/watchdog"
)

// Config says what to run and who may look.
type Config struct {
	Command    string
	Args       []string
	In, Out    *os.File
	Cols, Rows int // size where neither In nor Out has one; 0 is 80x24
	// Watchdog is the path of a program that becomes the terminal's watchdog when it is called by [watchdog.Name]; "" does
	// without one.
	Watchdog string
	// Agent lets agents observe; nil is a plain PTY without any network.
	Agent  *AgentConfig
	Record string       // file to record the session to, "" for none; its audit log stands beside it
	Log    *slog.Logger // nil discards

	headless *host.Session // nil for a session on a user's terminal
}

// AgentConfig says how agents reach the session and what they may do.
type AgentConfig struct {
	Name   string // of the session; "" is the program's name
	Parent string // id of the session this one runs in
	Dial   func(context.Context) (net.Conn, error)
	Join   func() (link.Seat, error) // see [link.Config]; nil without
	// Away is called before this process is stopped with the session, so that others serve what it served, and Back when it
	// goes on. Away returns within a moment; both may be nil.
	Away, Back func()
	URL        string // of the gateway's proxy door
	Header     http.Header
	Level      protocol.Level  // given to the first agent that asks, "" for none
	For        time.Duration   // longest grant; 0 and control.Unlimited as in [control.Config]
	Yield      time.Duration   // an agent pauses this long after a user's key
	Interval   time.Duration   // between snapshots of continuous output
	Key        keys.ReclaimKey // takes the keyboard back
	NoNotice   bool            // no line over the program
	// Owner says which owner signed a message; an error is for people. nil: this session knows no owners.
	Owner func(message, signature []byte) (name string, err error)
	// RemoteGrant: the gateway's word is enough that an owner decided.
	RemoteGrant bool
	// AllowEscapes lets sequences through that touch the clipboard, files, the window and the like while an agent drives.
	AllowEscapes bool
	// NoRedact shows agents what looks like a token or a key.
	NoRedact bool
	// OneProgram binds every grant to the program that has the terminal when it is given.
	OneProgram bool
}

// Result is how a session ended.
type Result struct {
	ID   string // of the session, "" without agents
	Code int    // the exit status to pass on
	// HeldOpen says that processes in the background kept the program's terminal open.
	HeldOpen bool
	// Unrecorded says what is missing in the recording.
	Unrecorded error
}

// UserError is a failure in words for the user.
type UserError struct {
	Status int // exit status
	Say    string
	Hint   string
	Cause  error
}

// Error implements error.
func (e *UserError) Error() string { return e.Say }

// Unwrap is the cause, for logs.
func (e *UserError) Unwrap() error { return e.Cause }

// session is a running session.
type session struct {
	conf       Config
	id         string
	resumeKey  string
	reclaimKey keys.ReclaimKey
	started    time.Time
	log        *slog.Logger

	term      *tty.Terminal
	child     *child.Child
	program   *program
	observer  *observer.Observer
	tracker   *line.Tracker // of the line that the user and agents share; nil without agents
	copier    *copier.Copier
	painter   *overlay.Painter
	pump      *input.Pump
	authority *authority.Authority
	detector  *detector
	status    *overlay.Status
	link      *link.Link
	requests  *requests.Handler
	recording *recording.Recording
	attached  *attach.Clients // nil on a user's terminal, as is linked
	linked    chan struct{}   // closed when a gateway was reached
	windows   chan os.Signal  // says that the window has another size, as SIGWINCH does
	pollers   []*tty.Poller
	settings  *unix.Termios      // the terminal's own, nil without a keyboard
	watchdog  *watchdog.Watchdog // nil until the program has run for a moment
}

// Run runs the program until it ends and leaves the terminal as it was. ctx ends it as a closing terminal would. The
// error is a *UserError.
func Run(ctx context.Context, conf Config) (Result, error) {
	s := newSession(conf)
	term, err := tty.Open(conf.In, conf.Out)
	if err != nil {
		return Result{}, &UserError{Status: 125, Say: "open the terminal: " + err.Error(), Cause: err}
	}
	s.term = term
	defer term.Close()
	return s.run(ctx)
}

func newSession(conf Config) *session {
	s := &session{conf: conf, log: conf.Log, started: time.Now()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

func (s *session) run(ctx context.Context) (Result, error) {
	cols, rows := s.size()
	s.identify()
	var err error
	if s.recording, err = recording.Open(s.conf.Record); err != nil {
		return Result{}, &UserError{Status: 2, Say: "--record: " + err.Error(), Cause: err}
	}
	defer s.recording.Discard()
	signals := s.signals()
	defer signal.Stop(signals)
	s.settings = s.term.Termios()
	if err := s.term.Raw(); err != nil {
		return Result{}, &UserError{Status: 125, Say: err.Error(), Cause: err}
	}
	defer func() { _ = s.term.Restore() }()
	at := s.findCursor(rows)
	stops := make(chan unix.Signal, 1)
	program, err := child.Start(child.Config{
		Path: s.conf.Command, Args: s.conf.Args, Env: s.environment(), Dir: s.dir(), Cols: cols, Rows: rows, Hurry: s.hurry(),
		Termios: s.settings, Quiet: s.piped(), Stopped: s.noticeStop(stops), JobControl: s.jobControl(),
	})
	if refused, ok := errors.AsType[*child.StartError](err); ok {
		return Result{}, &UserError{Status: refused.Status, Say: refused.Say, Hint: refused.Hint}
	}
	s.child = program
	defer program.Close()
	leaveNoCore()
	if err := s.wire(cols, rows, at); err != nil {
		program.Terminate(closed)
		return Result{}, &UserError{Status: 125, Say: err.Error(), Cause: err}
	}
	if h := s.conf.headless; h != nil {
		defer h.Reap(program.Identity())()
		defer program.Sweep()
	}
	return s.live(ctx, signals, stops), nil
}

// piped reports whether the program's input comes from a pipe or file of the user's, and not from anybody's keyboard.
func (s *session) piped() bool { return !s.term.HasKeyboard() && s.conf.headless == nil }

// jobControl reports whether the user's shell resumes what stops: it has, then, to be able to stop.
func (s *session) jobControl() bool {
	return s.conf.headless == nil && s.term.HasKeyboard() && tty.Resumable()
}

// noticeStop notes on stops that the program was stopped. Without a user's shell around it nobody would resume us, and
// the program is its agent's to resume or to end.
func (s *session) noticeStop(stops chan<- unix.Signal) func(unix.Signal) {
	if s.conf.headless != nil {
		return nil
	}
	return func(sig unix.Signal) {
		select {
		case stops <- sig:
		default: // one is waiting to be noticed
		}
	}
}

// leaveNoCore has a crash leave no file with what was typed and shown. The program, whose own limit stays what it was, has
// been started by then.
func leaveNoCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil && limit.Cur != 0 {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
}

// closed is a channel that is: for a wait that is not wanted.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// size is the size of the user's terminal, or the one that was asked for.
func (s *session) size() (cols, rows int) {
	if cols, rows, err := s.term.Size(); err == nil {
		return min(cols, protocol.MaxSize), min(rows, protocol.MaxSize)
	}
	cols, rows = s.conf.Cols, s.conf.Rows
	if cols == 0 {
		cols = 80
	}
	if rows == 0 {
		rows = 24
	}
	return cols, rows
}

// environment is the program's: ours, without what is about the gateway's secrets, and with the session's id, by which a
// proxy inside notices that it is inside.
func (s *session) environment() []string {
	if s.conf.Agent == nil {
		return nil
	}
	var env []string
	if h := s.conf.headless; h != nil {
		env = h.Environment()
	} else {
		env = without(os.Environ(), "PROXY_TOKEN_FILE")
	}
	return append(without(env, SessionVariable), SessionVariable+"="+s.id)
}

// without is env without the variable of this name.
func without(env []string, name string) []string {
	return slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

// hurry is closed when the program's end must not take long.
func (s *session) hurry() <-chan struct{} {
	if s.conf.headless == nil {
		return nil
	}
	return s.conf.headless.Hurry
}

// wire makes the parts and plugs them together.
func (s *session) wire(cols, rows int, at copier.Cursor) error {
	keyboardFD, screenFD := s.term.Descriptors()
	outPoll, err := s.poller(s.child.Descriptor(), screenFD)
	if err != nil {
		return err
	}
	inPoll, err := s.poller(keyboardFD, s.child.Descriptor())
	if err != nil {
		return err
	}
	agent := s.conf.Agent
	s.program = &program{Child: s.child}
	s.observer = observer.New(s.observerConfig(cols, rows, at))
	kbd := &keyboard{term: s.term, typed: at.Typed}
	s.pump = input.New(s.pumpConfig(kbd, readiness{inPoll, kbd}, at))
	if agent != nil {
		s.wireOverlay(agent)
		s.wireAgent(agent)
	}
	if s.conf.headless != nil {
		s.wireAttached()
	}
	s.copier = copier.New(s.copierConfig(outPoll))
	if s.conf.headless != nil {
		s.wireHosted()
	}
	s.wireRecording(cols, rows, kbd)
	return nil
}

func (s *session) poller(read, write int) (*tty.Poller, error) {
	p, err := tty.NewPoller(read, write)
	if err == nil {
		s.pollers = append(s.pollers, p)
	}
	return p, err
}

// copierConfig plugs the copier, which takes the overlay and the viewers with it: they are made before.
func (s *session) copierConfig(poll *tty.Poller) copier.Config {
	c := copier.Config{Program: s.child, Screen: s.term, Poll: poll}
	agent := s.conf.Agent
	if agent != nil || s.recording != nil || !s.term.HasKeyboard() || !s.term.HasScreen() {
		c.Model = printed{s.observer, s.conf.headless}
	}
	if agent != nil {
		c.Overlay = s.painter
		c.Strict = func() bool { return !agent.AllowEscapes && s.authority.Newest().Phase == control.Granted }
	}
	if s.attached != nil {
		c.Viewers = &s.attached.Output
	}
	return c
}

// pumpConfig plugs the pump. Without agents there is no detector and no control: every byte passes untouched.
func (s *session) pumpConfig(kbd *keyboard, ready readiness, at copier.Cursor) input.Config {
	c := input.Config{
		Keyboard: kbd, Program: s.program, Poll: ready, ByHand: !s.term.HasKeyboard(),
		KeyboardEnded: func(err error) { s.log.Info("the keyboard ended", "error", err) },
	}
	agent := s.conf.Agent
	if agent == nil {
		return c
	}
	s.reclaimKey = agent.Key
	s.detector = &detector{Scanner: keys.NewScanner(agent.Key)}
	if at.Late {
		s.detector.expectLate(at.Clusters, s.countClusters)
	}
	conf := control.Config{Pregrant: agent.Level, Yield: agent.Yield, For: agent.For, Keyboard: s.term.HasKeyboard(), OneProgram: agent.OneProgram}
	s.authority = authority.New(conf, controlled{s})
	s.tracker = &line.Tracker{
		Cooked: func() bool { l, err := s.child.Line(); return err == nil && l.Canonical },
		Group:  s.child.ForegroundGroup,
	}
	c.Scan, c.Control, c.Line = s.detector, s.authority, s.tracker
	if agent.OneProgram {
		c.Back = s.cameBack()
	}
	return c
}

// wireAgent adds what observation and control need.
func (s *session) wireAgent(agent *AgentConfig) {
	conf := link.Config{
		Dial: agent.Dial, Join: agent.Join, URL: agent.URL, Header: agent.Header, Log: s.log,
		Hello: func() []protocol.Message { return []protocol.Message{s.open()} }, Handle: func(m protocol.Message) { s.requests.Handle(m) },
		Up: func() { s.reached(true) },
		Trouble: func(err error) {
			s.reached(false)
			s.status.Say("agents cannot see this session (trying again): "+notice.Clean(err.Error(), 200), overlay.TroubleFor)
		},
		Down: func() {
			s.observer.Reached(false)
			s.pump.Post(func(now time.Time) { s.authority.End(now, protocol.ReasonLink) })
		},
	}
	if s.conf.headless != nil {
		conf = s.hostedLink(conf)
	}
	s.link = link.New(conf)
	s.requests = requests.New(s.requestsConfig(agent))
	s.detector.write = func(u keys.Unit) ([]byte, bool) { return s.requests.Compose(u, s.detector.InPaste()) }
	s.detector.choose = func(letter byte) bool { return s.authority.Choose(time.Now(), letter) }
}

// countClusters has the model count the columns of clusters as the user's terminal does.
func (s *session) countClusters(c screen.Clusters) {
	s.observer.Post(func(time.Time) { s.observer.Model().SetClusters(c) })
}

// answerQueries looks after the program's questions to its terminal: the user's terminal answers while there is one, else
// the model does. There is never more than one answer.
func (s *session) answerQueries(replies []byte) {
	switch {
	case !s.term.HasKeyboard() || !s.term.HasScreen():
		s.pump.Reply(replies)
		if s.attached != nil && s.term.HasScreen() { // the terminals of attached people answer, too, and nobody wants that
			s.expectReports(replies, func(int) {})
		}
	case s.detector != nil:
		s.expectReports(replies, nil)
	}
}

// expectReports has the detector expect as many reports of the cursor from the terminal as replies hold; take gets them, and
// with nil they are the program's.
func (s *session) expectReports(replies []byte, take func(row int)) {
	if n := keys.CursorReports(replies); n > 0 {
		s.pump.Post(func(time.Time) {
			for range n {
				s.detector.expect(take)
			}
		})
	}
}

// open is the message that publishes the session.
func (s *session) open() protocol.Message {
	cols, rows := s.size()
	return &protocol.SessionOpen{
		ID: protocol.NewID(), SessionID: s.id, Name: s.conf.Agent.Name, Command: s.conf.Command, Args: s.arguments(), Cwd: s.dir(),
		Cols: cols, Rows: rows, Pid: s.child.Pid(), StartedAt: s.started.UnixMilli(),
		ParentSessionID: s.conf.Agent.Parent, Headless: s.conf.headless != nil, ResumeKey: s.resumeKey, Presence: true,
		AgentID: s.starter(),
	}
}

// starter is the agent that started the session, "" for a user's.
func (s *session) starter() string {
	if s.conf.headless == nil {
		return ""
	}
	return s.conf.headless.Agent().ID
}

// arguments are the program's as agents see them.
func (s *session) arguments() []string {
	args := make([]string, len(s.conf.Args))
	for i, a := range s.conf.Args {
		args[i] = s.observer.Redact(a, -1)
	}
	return args
}
