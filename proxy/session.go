package proxy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/attach"
	"terminalproxy/proxy/authority"
	"terminalproxy/proxy/beside"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/copier"
	"terminalproxy/proxy/detector"
	"terminalproxy/proxy/events"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/observer"
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/recording"
	"terminalproxy/proxy/requests"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/signals"
	"terminalproxy/proxy/talk"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/watchdog"
)

// session is a running session.
type session struct {
	conf       Config
	id         string
	resumeKey  string
	reclaimKey keys.CtrlKey
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
	rules     authority.Rules
	detector  *detector.Detector
	status    *overlay.Status
	link      *link.Link
	requests  *requests.Handler
	recording *recording.Recording
	used      atomic.Int64       // when the user typed last, in Unix milliseconds, 0 for never
	worth     link.Worth         // a gateway's attention
	asksSince atomic.Int64       // when the terminal was asked last where its cursor is, in Unix nanoseconds
	events    *events.Teller     // nil without agents
	talk      *talk.Room         // nil without a conversation
	beside    *beside.Agent      // nil where its agent has no interface of its own in the terminal
	attached  *attach.Clients    // nil on a user's terminal, as is linked
	linked    chan struct{}      // closed when a gateway was reached
	signals   *signals.Taken     // that the session obeys
	stops     chan unix.Signal   // by which the program was stopped
	leaving   chan struct{}      // the user wants to leave the program running
	settings  *unix.Termios      // the terminal's own, nil without a keyboard
	streams   []*os.File         // the program's standard streams that are not its terminal, nil for those that are
	aside     bool               // see settleBegin
	behind    bool               // the program begins behind: in the background, or aside
	called    chan struct{}      // an agent asks for a keyboard that was left aside
	watchdog  *watchdog.Watchdog // nil until the program has run for a moment
}

// Run runs the program until it ends and leaves the terminal as it was. ctx ends it as a closing terminal would. The
// error is a *UserError.
func Run(ctx context.Context, conf Config) (Result, error) {
	s := newSession(conf)
	s.signals = signals.Take(conf.Keep == nil, conf.Agent != nil) // a window that closes is the business of who lends it
	if !conf.Final {
		defer s.signals.Release()
	}
	if err := s.openTerminal(); err != nil {
		return Result{}, &UserError{Status: 125, Say: "open the terminal: " + err.Error(), Cause: err}
	}
	defer s.term.Close()
	return s.run(ctx)
}

func newSession(conf Config) *session {
	s := &session{conf: conf, log: conf.Log, started: time.Now(), signals: signals.None(), stops: make(chan unix.Signal, 1), leaving: make(chan struct{}, 1), called: make(chan struct{}, 1)}
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
	s.signals.Begin()
	cols, rows := s.size()
	s.identify()
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
	s.signals.Wait()
	program, err := child.Start(s.childConfig(cols, rows))
	if refused, ok := errors.AsType[*child.StartError](err); ok {
		return Result{}, &UserError{Status: refused.Status, Say: refused.Say, Hint: refused.Hint}
	}
	s.child = program
	defer program.Close()
	s.letStreamsGo()
	child.LeaveNoCore()
	defer func() { _ = s.term.Restore() }()
	if err := s.prepare(cols, rows); err != nil {
		program.Terminate(closed)
		return Result{}, &UserError{Status: 125, Say: err.Error(), Cause: err}
	}
	s.wireRecording(cols, rows)
	if h := s.conf.headless; h != nil {
		defer h.Reap(program.Identity())()
		defer program.Sweep()
	}
	return s.live(ctx), nil
}

// childConfig says what to start, and how.
func (s *session) childConfig(cols, rows int) child.Config {
	args := s.conf.Args
	if a := s.conf.Agent; a != nil && a.Chat != nil && a.Chat.Args != nil {
		args = a.Chat.Args
	}
	return child.Config{
		Path: s.conf.Command, Args: args, Env: s.environment(), Dir: s.dir(), Cols: cols, Rows: rows, Hurry: s.hurry(),
		Termios: s.lineSettings(), Stopped: s.noticeStop(), JobControl: s.jobControl(), Streams: s.streams, Behind: s.behind,
	}
}

// prepare makes the parts, and takes the terminal, while the program begins: neither is the keyboard read nor anything written to the
// program. The signals were taken before the program was started, and none leaves the terminal raw. The Go runtime ends the process by
// one that came before that, on a thread of its own and perhaps a moment late: the program's start lies between that and the raw mode.
// A change of the window's size has yet to be heard of.
func (s *session) prepare(cols, rows int) error {
	wired := s.wire(cols, rows)
	if c, r := s.size(); c != cols || r != rows {
		s.signals.Send(syscall.SIGWINCH)
	}
	if s.behind {
		return wired
	}
	if err := s.term.Raw(); err != nil {
		return err
	}
	if s.conf.Agent != nil && s.term.HasScreen() {
		_ = s.term.WriteAll([]byte(tty.Unlock), lastPatience)
	}
	return wired
}

// closed is a channel that is: for a wait that is not wanted.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// jobControl reports whether the user's shell resumes what stops: it has, then, to be able to stop.
func (s *session) jobControl() bool {
	return s.conf.headless == nil && s.term.HasKeyboard() && s.resumable()
}

// noticeStop is what notes that the program was stopped. Without a user's shell around it nobody would resume us, and
// the program is its agent's to resume or to end.
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

// hurry is closed when the program's end must not take long.
func (s *session) hurry() <-chan struct{} {
	if s.conf.headless == nil {
		return nil
	}
	return s.conf.headless.Hurry
}

// size is the size of the user's terminal, or the one that was asked for.
func (s *session) size() (cols, rows int) {
	if cols, rows, err := s.term.Size(); err == nil {
		return min(cols, protocol.MaxSize), min(rows, protocol.MaxSize)
	}
	return s.defaultSize()
}

// defaultSize is what was asked for.
func (s *session) defaultSize() (cols, rows int) {
	return cmp.Or(s.conf.Cols, 80), cmp.Or(s.conf.Rows, 24)
}

// wire makes the parts and plugs them together.
func (s *session) wire(cols, rows int) error {
	keyboardFD, screenFD := s.term.Descriptors()
	outPoll, err := s.term.Poller(s.child.Descriptor(), screenFD)
	if err != nil {
		return err
	}
	inPoll, err := s.term.Poller(keyboardFD, s.child.Descriptor())
	if err != nil {
		return err
	}
	agent := s.conf.Agent
	s.program = &program{Child: s.child, s: s}
	s.observer = observer.New(s.observerConfig(cols, rows))
	if agent != nil {
		s.wireControl(agent)
	}
	s.pump = input.New(s.pumpConfig(readiness{inPoll}))
	if agent != nil {
		s.wireOverlay(agent)
		s.wireEvents(agent)
		s.link = link.New(s.linkConfig(agent))
		if s.conf.headless != nil {
			s.wireAttached()
		}
		s.wireTalk(agent.Chat)
		s.requests = requests.New(s.requestsConfig(agent))
		s.beside.Attach(s.pump)
	}
	s.copier = copier.New(s.copierConfig(outPoll))
	s.worth.Always, s.worth.Begun = s.conf.headless != nil, s.copier.Begun()
	if s.conf.headless != nil {
		s.wireHosted()
	}
	return nil
}

// wireControl makes what decides who may type, and what tells the user's keys apart.
func (s *session) wireControl(agent *AgentConfig) {
	s.detector = detector.New(agent.Keys, pressed{s}, s.conf.headless != nil)
	s.rules = authority.Rules{Source: agent.Policy, Running: s.child.Running}
	s.authority = authority.New(control.Config{
		Pregrant: agent.Level, Yield: agent.Yield, For: agent.For, Keyboard: s.term.HasKeyboard(), OneProgram: agent.OneProgram,
	}, controlled{s})
	s.tracker = &line.Tracker{
		Cooked: func() bool { l, err := s.child.Line(); return err == nil && l.Canonical },
		Spell: func() uint64 {
			spell, _ := s.child.Collects()
			return spell
		},
		Group: s.child.ForegroundGroup,
	}
	if with := agent.Chat; with != nil && with.Beside != nil {
		s.beside = beside.New(beside.Config{
			Driver: with.Beside, AgentsMayApprove: with.AgentsMayApprove, Over: with.Session.Over(),
			Observer: s.observer, Control: s.authority, Tracker: s.tracker,
		})
	}
}

// wireTalk plugs the conversation with the coding agent, if there is one.
func (s *session) wireTalk(with *Chat) {
	if with == nil || with.Around {
		return
	}
	s.talk = talk.New(talk.Config{
		SessionID: s.id, Chat: with.Session, Link: s.link, Log: s.log,
		Redact: func(text string) string { return s.observer.Redact(text, -1) },
	})
}

// pumpConfig plugs the pump. Without agents there is no detector and no control: every byte passes untouched.
func (s *session) pumpConfig(poll input.Poller) input.Config {
	c := input.Config{
		Keyboard: s.term, Program: s.program, Poll: poll, Unheard: s.aside,
		KeyboardEnded: func(err error) { s.log.Info("the keyboard ended", "error", err) },
	}
	agent := s.conf.Agent
	if agent == nil { // else the detector tells the user's keys from what the terminal says
		c.Keyboard = keyboard{s.term, s.recording.Listener()}
		return c
	}
	c.LineMost = child.LineMost
	c.Scan, c.Control, c.Line = s.detector, s.beside.Guard(s.authority), s.beside.Watch(s.tracker)
	if agent.OneProgram || agent.Policy != nil {
		c.Back = s.authority.CameBack(s.child.Comeback())
	}
	return c
}

// scrollback is how many rows of history are kept for agents.
const scrollback = 10_000

// observerConfig plugs the observer. Without agents it is the terminal that the program asks, and what a recording shows.
func (s *session) observerConfig(cols, rows int) observer.Config {
	c := observer.Config{
		Cols: cols, Rows: rows, Program: s.program, Queried: s.answerQueries,
	}
	if s.recording != nil {
		c.Recorder = s.recording
	}
	if agent := s.conf.Agent; agent != nil {
		c.Agents = &observer.Agents{
			Session: &observed{s: s}, Began: time.Now(), Interval: agent.Interval, Scrollback: scrollback, NoRedact: agent.NoRedact,
			Redact: agent.Redact,
		}
	}
	return c
}

// countClusters has the model count the columns of clusters as the user's terminal does.
func (s *session) countClusters(c screen.Clusters) {
	s.observer.Post(func(time.Time) { s.observer.Model().SetClusters(c) })
}

// answerQueries answers the program's questions to its terminal where there is no terminal of the user's: there is never more
// than one answer.
func (s *session) answerQueries(replies []byte) {
	if s.term.HasKeyboard() && s.term.HasScreen() {
		return
	}
	s.pump.Reply(replies)
	if s.attached != nil && s.term.HasScreen() { // the terminals of attached people answer, too, and nobody wants that
		s.expectReports(keys.CursorReports(replies), func(int) {})
	}
}

// expectReports has the detector expect that the terminal says n times where its cursor is; take gets that, and with nil it is the
// program's.
func (s *session) expectReports(n int, take func(row int)) {
	if n > 0 {
		s.pump.Post(func(time.Time) {
			for range n {
				s.detector.Expect(take)
			}
		})
	}
}

// wireOverlay plugs what the proxy itself shows between control, the observer and the copier.
func (s *session) wireOverlay(agent *AgentConfig) {
	bound := agent.Keys.WithDefaults()
	conf := overlay.Config{
		Reclaim: bound.Reclaim.Label(), Grant: bound.Grant.LabelAt(agent.ForCtrlG),
		Name: agent.Name, Line: !agent.NoNotice, Title: overlay.TakesTitle(os.Getenv("TERM")),
		Repaint: func() { s.copier.Repaint() }, OneProgram: agent.OneProgram, Present: s.term.HasScreen,
		Colors: overlay.ColorsOf(os.Getenv("TERM"), os.Getenv("NO_COLOR") != ""), Taste: agent.Look,
	}
	draw := overlay.PainterConfig{Loop: s.observer, Shown: s.questionShown, CaughtUp: func() { s.copier.CaughtUp() }}
	if s.conf.Keep != nil {
		conf.Leave = " · d detaches"
	}
	if s.conf.headless != nil { // whoever looks keeps the title of their own window
		conf.Title, conf.Leave, draw.Untitled, conf.Colors = true, " · d leaves", true, overlay.ManyColors
	}
	if s.term.HasKeyboard() && s.term.HasScreen() && overlay.Answers(os.Getenv("TERM")) {
		draw.Ask = s.asksCursor
	}
	s.status = overlay.New(conf)
	draw.Status = s.status
	s.painter = overlay.NewPainter(draw)
}

// wireEvents plugs what tells others what happens, and the user, elsewhere, that an agent waits.
func (s *session) wireEvents(agent *AgentConfig) {
	s.events = events.New(events.Config{
		Session: s.id, Happened: agent.Happened, Notify: agent.Notify, After: agent.NotifyAfter, Alert: agent.Alert, Show: s.status.Alert,
		Used: func() time.Time { return time.UnixMilli(s.used.Load()) },
	})
}

// asksCursor has the answer taken that the terminal gives to a question for its cursor.
func (s *session) asksCursor(first bool, take func(row int)) {
	s.asksSince.Store(time.Now().UnixNano())
	if first {
		s.pump.Post(func(time.Time) { s.detector.ExpectClusters(s.countClusters) })
	}
	s.expectReports(1, take)
}

// copierConfig plugs the copier, which takes the overlay and the viewers with it: they are made before.
func (s *session) copierConfig(poll *tty.Poller) copier.Config {
	c := copier.Config{Program: s.child, Screen: s.term, Poll: poll, Away: s.behind, Cooks: s.cooks}
	agent := s.conf.Agent
	if agent != nil || s.recording != nil || !s.term.HasKeyboard() || !s.term.HasScreen() {
		c.Model = s.observer
	}
	if agent != nil {
		c.Overlay = s.painter
		if s.term.HasKeyboard() && s.term.HasScreen() {
			c.Asks = func(times int) {
				if s.term.HasKeyboard() {
					s.expectReports(times, nil)
				}
			}
		}
		c.Strict = func() bool { return !agent.AllowEscapes && s.authority.Newest().Phase == control.Granted }
	}
	if s.attached != nil {
		c.Viewers = &s.attached.Output
	}
	return c
}

// requestsConfig plugs what answers agents' messages.
func (s *session) requestsConfig(agent *AgentConfig) requests.Config {
	c := requests.Config{
		SessionID: s.id, Started: s.started, ReclaimKey: s.reclaimKey, Owner: agent.Owner, RemoteGrant: agent.RemoteGrant,
		RemoteKeys: agent.RemoteKeys, Elsewhere: elsewhere{s},
		Log: s.log, Observer: s.observer, Pump: s.pump, Control: s.authority, Link: s.link, Program: s.child, Terminal: cells{s.term},
		Status: s.status, Recorder: requestsRecorder{s.recording}, Tracker: s.tracker,
	}
	if h := s.conf.headless; h != nil {
		c.Own, c.Attached = h, s.attached
	}
	if s.talk != nil {
		c.Chat = s.talk
	}
	if agent.Chat != nil {
		c.Outside = talk.Outside{Session: agent.Chat.Session}
	}
	if agent.Policy != nil {
		c.LocalAgent, c.Ahead = agent.LocalAgent, s.rules.Ahead
	}
	return c
}

// wireRecording begins to record.
func (s *session) wireRecording(cols, rows int) {
	if s.recording == nil {
		return
	}
	c := recording.Config{
		Session: record.Session{ID: s.id, Command: s.conf.Command, Args: s.conf.Args, Cwd: s.dir(), Cols: cols, Rows: rows},
		Title:   filepath.Base(s.conf.Command), ReclaimKey: s.reclaimKey, Observer: s.observer, Program: s.child, Log: s.log,
		Interrupted: func(string) {}, Index: s.conf.Records,
	}
	if s.conf.Agent != nil {
		c.Title, c.Control = s.conf.Agent.Name, s.authority
		c.Interrupted = func(say string) { s.status.Say(say, overlay.TroubleFor) }
	}
	s.recording.Begin(c)
}
