package proxy

import (
	"os"
	"path/filepath"
	"time"

	"terminalproxy/proxy/agents/requests"
	"terminalproxy/proxy/chat/beside"
	"terminalproxy/proxy/chat/feed"
	"terminalproxy/proxy/consent/authority"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/reclaimkey"
	"terminalproxy/proxy/display/copier"
	"terminalproxy/proxy/display/events"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/record/recording"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/view/observer"
)

// wireParts makes the parts and plugs them together.
func (s *session) wireParts(cols, rows int) error {
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
	s.pump = pump.New(s.pumpConfig(readiness{inPoll}))
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
	s.worth.Always, s.worth.Begun = s.conf.headless != nil, s.copier.FirstOutput()
	if s.conf.headless != nil {
		s.wireHosted()
	}
	return nil
}

// wireControl makes the authority, which decides who may type, and the detector, which tells the
// user's keys apart.
func (s *session) wireControl(agent *AgentConfig) {
	s.detector = reclaimkey.New(agent.Keys, pressed{s}, s.conf.headless != nil)
	s.rules = authority.Rules{Source: agent.Policy, Running: s.child.Running}
	s.authority = authority.New(control.Config{
		Pregrant:   agent.Level,
		Yield:      agent.Yield,
		For:        agent.For,
		Keyboard:   s.term.HasKeyboard(),
		OneProgram: agent.OneProgram,
	}, controlled{s})
	s.desk = s.newDesk(agent)
	s.tracker = &line.Tracker{
		Cooked: func() bool { l, err := s.child.Line(); return err == nil && l.Canonical },
		Spell: func() uint64 {
			spell, _ := s.child.CanonicalSpell()
			return spell
		},
		Group: s.child.ForegroundGroup,
	}
	if with := agent.Chat; with != nil && with.Beside != nil {
		s.beside = beside.New(beside.Config{
			Driver: with.Beside, AgentsMayApprove: with.AgentsMayApprove, Over: with.Session.Done(),
			Observer: s.observer, Control: s.authority, Tracker: s.tracker,
		})
	}
}

// wireTalk plugs the conversation, if the program is a coding agent.
func (s *session) wireTalk(with *Chat) {
	if with == nil || with.Around {
		return
	}
	s.talk = feed.New(feed.Config{
		SessionID: s.id, Chat: with.Session, Link: s.link, Log: s.log,
		Redact: func(text string) string { return s.observer.Redact(text, -1) },
	})
}

// pumpConfig plugs the pump. Without agents there is no detector and no control: every byte passes
// untouched.
func (s *session) pumpConfig(poll pump.Poller) pump.Config {
	c := pump.Config{
		Keyboard: s.term, Program: s.program, Poll: poll, LeaveKeyboard: s.aside,
		KeyboardEnded: func(err error) { s.log.Info("the keyboard ended", "error", err) },
	}
	agent := s.conf.Agent
	if agent == nil { // else the detector tells the user's keys from what the terminal says
		c.Keyboard = keyboard{s.term, s.recording.Listener()}
		return c
	}
	c.MaxLine = child.LineMost
	c.Unexpected = func(st pump.State, e pump.Event) {
		s.log.Error("an input was in no state for what happened to it", "state", st, "event", e)
	}
	c.Scan = s.detector
	c.Control = s.authority
	c.Line = s.beside.WatchKeys(s.tracker)
	if agent.OneProgram || agent.Policy != nil {
		c.IsProgramBack = s.authority.ComebackTest(s.child.Comeback())
	}
	return c
}

// scrollback bounds the rows of history kept for agents.
const scrollback = 10_000

// observerConfig plugs the observer. Without agents it answers the program's queries, and supplies
// what a recording shows.
func (s *session) observerConfig(cols, rows int) observer.Config {
	c := observer.Config{
		Cols: cols, Rows: rows, Program: s.program, Queried: s.answerQueries,
	}
	if s.recording != nil {
		c.Recorder = s.recording
	}
	if agent := s.conf.Agent; agent != nil {
		c.Agents = &observer.Agents{
			Session:    &observed{s: s},
			Began:      time.Now(),
			Interval:   agent.Interval,
			Scrollback: scrollback,
			NoRedact:   agent.NoRedact,
			Redact:     agent.Redact,
		}
	}
	return c
}

// countClusters has the model count the columns of clusters as the user's terminal does.
func (s *session) countClusters(c screen.Clusters) {
	s.observer.Post(func(time.Time) { s.observer.Model().SetClusters(c) })
}

// answerQueries answers the program's queries to its terminal if no terminal of the user's does:
// there is never more than one answer.
func (s *session) answerQueries(replies []byte) {
	if s.term.HasKeyboard() && s.term.HasScreen() {
		return
	}
	s.pump.TypeReply(replies)
	// the terminals of attached people answer too, and those answers are dropped
	if s.attached != nil && s.term.HasScreen() {
		s.expectReports(keys.CursorReports(replies), func(int) {})
	}
}

// expectReports has the detector expect n reports of the terminal's cursor. take gets each; if take
// is nil, they go to the program.
func (s *session) expectReports(n int, take func(row int)) {
	if n > 0 {
		s.pump.Post(func(time.Time) {
			for range n {
				s.detector.ExpectCursor(take)
			}
		})
	}
}

// wireOverlay plugs what the proxy itself shows between control, the observer and the copier.
func (s *session) wireOverlay(agent *AgentConfig) {
	bound := agent.Keys.WithDefaults()
	conf := overlay.Config{
		Reclaim:    bound.Reclaim.Label(),
		Grant:      bound.Grant.LabelAt(agent.ForCtrlG),
		Name:       agent.Name,
		Line:       !agent.NoNotice,
		Title:      overlay.TakesTitle(os.Getenv("TERM")),
		Repaint:    func() { s.copier.Repaint() },
		OneProgram: agent.OneProgram,
		Present:    s.term.HasScreen,
		Colors:     overlay.ColorsOf(os.Getenv("TERM"), os.Getenv("NO_COLOR") != ""),
		ASCII:      s.conf.headless == nil && !overlay.TakesUTF8(os.Getenv),
		Taste:      agent.Look,
	}
	draw := overlay.PainterConfig{
		Loop:     s.observer,
		Shown:    s.questionShown,
		CaughtUp: func() { s.copier.NoteCaughtUp() },
		Plain:    s.conf.headless == nil && !overlay.TakesSequences(os.Getenv("TERM")),
	}
	if s.conf.Keep != nil {
		conf.Leave = " · d detaches"
	}
	if s.conf.headless != nil { // people who attach keep the title of their own window
		conf.Title, conf.Leave, draw.KeepTitle, conf.Colors = true, " · d leaves", true, overlay.ManyColors
	}
	if s.term.HasKeyboard() && s.term.HasScreen() && overlay.TakesSequences(os.Getenv("TERM")) {
		draw.Ask = s.asksCursor
	}
	s.status = overlay.New(conf)
	draw.Status = s.status
	s.painter = overlay.NewPainter(draw)
}

// wireEvents plugs what tells others what happens, and the user, elsewhere, that an agent waits.
func (s *session) wireEvents(agent *AgentConfig) {
	s.events = events.New(events.Config{
		Session:   s.id,
		OnEvent:   agent.OnEvent,
		Notify:    agent.Notify,
		After:     agent.NotifyAfter,
		Alert:     agent.Alert,
		Show:      s.status.ShowAlert,
		LastTyped: func() time.Time { return time.UnixMilli(s.used.Load()) },
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

// copierConfig plugs the copier. It needs the overlay and the viewers, which are made before.
func (s *session) copierConfig(poll *tty.Poller) copier.Config {
	c := copier.Config{
		Program:           s.child,
		Screen:            s.term,
		Poll:              poll,
		TerminalTaken:     s.behind,
		ConvertsLineFeeds: s.cooksOutput,
	}
	agent := s.conf.Agent
	if agent != nil || s.recording != nil || !s.term.HasKeyboard() || !s.term.HasScreen() {
		c.Model = s.observer
	}
	if agent != nil {
		c.Overlay = s.painter
		if s.term.HasKeyboard() && s.term.HasScreen() {
			c.CursorAsked = func(times int) {
				if s.term.HasKeyboard() {
					s.expectReports(times, nil)
				}
			}
		}
		c.Strict = func() bool {
			return !agent.AllowEscapes && s.authority.NewestState().Phase == control.Granted
		}
	}
	if s.attached != nil {
		c.Viewers = &s.attached.Output
	}
	return c
}

// requestsConfig plugs what answers agents' messages.
func (s *session) requestsConfig(agent *AgentConfig) requests.Config {
	c := requests.Config{
		SessionID:      s.id,
		Started:        s.started,
		ReclaimKey:     s.reclaimKey,
		Owner:          agent.Owner,
		RemoteGrant:    agent.RemoteGrant,
		RemoteKeys:     agent.RemoteKeys,
		RemoteKeyboard: elsewhere{s},
		Log:            s.log,
		Observer:       s.observer,
		Pump:           s.pump,
		Control:        s.authority,
		Link:           s.link,
		Program:        s.child,
		Terminal:       cells{s.term},
		Status:         s.status,
		Recorder:       requestsRecorder{s.recording},
		Tracker:        s.tracker,
		Desk:           s.desk,
	}
	if h := s.conf.headless; h != nil {
		c.OwnTerminal, c.Attached = h, s.attached
	}
	if s.talk != nil {
		c.Chat = s.talk
	}
	if agent.Chat != nil {
		c.OutsideRequests = feed.Outside{Session: agent.Chat.Session}
	}
	if agent.Policy != nil {
		c.LocalAgent, c.RuleGrant = agent.LocalAgent, s.rules.FindRuleGrant
	}
	return c
}

// wireRecording begins to record.
func (s *session) wireRecording(cols, rows int) {
	if s.recording == nil {
		return
	}
	c := recording.Config{
		Session: record.Session{
			ID:      s.id,
			Command: s.conf.Command,
			Args:    s.conf.Args,
			Cwd:     s.programDir(),
			Cols:    cols,
			Rows:    rows,
		},
		Title:       filepath.Base(s.conf.Command),
		ReclaimKey:  s.reclaimKey,
		Observer:    s.observer,
		Program:     s.child,
		Log:         s.log,
		Interrupted: func(string) {},
		Index:       s.conf.Records,
	}
	if s.conf.Agent != nil {
		c.Title, c.Control = s.conf.Agent.Name, s.authority
		c.Interrupted = func(message string) { s.status.ShowRemark(message, overlay.TroubleFor) }
	}
	s.recording.StartRecording(c)
}
