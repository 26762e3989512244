package proxy

import (
	"strings"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/agents/requests"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/record/recording"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/view/observer"
)

// keyboard is the user's terminal as the pump reads it.
type keyboard struct {
	*tty.Terminal
	listener *recording.Listener
}

func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.Terminal.Read(p)
	if n > 0 {
		k.listener.RecordKeyboard(p[:n])
	}
	return n, err
}

// program is the child as the pump writes to it and the observer asks about it. It counts the
// writes.
type program struct {
	*child.Child
	s            *session
	begun, ended atomic.Uint64
}

func (p *program) Write(b []byte) (int, error) {
	p.begun.Add(1) // before: what it answers comes after
	n, err := p.Child.Write(b)
	p.ended.Add(1)
	return n, err
}

// HasOutput reports whether the observer has yet to be fed something that the program printed. The
// order matters: output goes from the kernel to the copier's hand.
func (p *program) HasOutput() bool { return p.Child.HasOutput() || p.s.copier.HasUnfedOutput() }

// CountQueued is CountUnread and then HasOutput.
func (p *program) CountQueued() (unread int, output bool) {
	unread, output = p.Child.CountQueued()
	return unread, output || p.s.copier.HasUnfedOutput()
}

// CountWrites counts the writes that have begun, and those that have ended. It may be called from
// any goroutine.
func (p *program) CountWrites() (begun, ended uint64) { return p.begun.Load(), p.ended.Load() }

// readiness is a poller as the pump waits with it.
type readiness struct{ *tty.Poller }

func (r readiness) Wait(want pump.Events, timeout time.Duration) (pump.Events, error) {
	got, err := r.Poller.Wait(tty.Events(want), timeout)
	return pump.Events(got), err
}

// pressed is what the user's keys mean to the session, apart from control.
type pressed struct{ s *session }

func (p pressed) NoteActivity() {
	if p.s.attached != nil {
		p.s.attached.NoteActivity()
	}
}

func (p pressed) AddKey(u keys.Unit, inPaste bool) (rest []byte, took bool) {
	rest, took = p.s.authority.AddKey(time.Now(), u, inPaste)
	return rest, took && (u.Kind != keys.Reclaim || !p.s.authority.IsDriven())
}

func (p pressed) ChooseInMenu(letter byte) bool {
	now := time.Now()
	return letter == 'd' && p.s.leaveFromMenu() || letter == 'm' && p.s.requests.OpenMessage(now) ||
		p.s.authority.ChooseInMenu(now, letter)
}

// controlled is the session as package authority sees it. Its methods belong to the pump's
// goroutine.
type controlled struct{ s *session }

// ForegroundProgram implements [authority.Session]; see also observed.NoteOutput. A shell hands the
// terminal over before it starts the program, so a group may get its name after it got the
// terminal. The program chooses its own name.
func (c controlled) ForegroundProgram() control.Foreground {
	program := c.s.child
	group := program.ForegroundGroup()
	return control.Foreground{
		Group: group,
		Name:  notice.Clean(program.Foreground(), 32),
		File:  child.Executable(group),
	}
}

// NeverRule implements [authority.Session].
func (c controlled) NeverRule(a control.Agent) (rule string, watched bool) {
	return c.s.rules.FindNever(a)
}

// DialogError implements [authority.Session].
func (c controlled) DialogError(agent string) error { return c.s.beside.CheckInput(agent) }

func (c controlled) AsksForSecret() bool {
	line, err := c.s.child.Line()
	return secretprompt.Judge(secretprompt.Facts{
		Known: err == nil,
		Line:  secretprompt.Line(line),
	}) == protocol.SecretHard
}

func (c controlled) NoteSecretSeen()      { c.s.observer.Post(c.s.observer.NoteSecretSeen) }
func (c controlled) NoteSecretDismissed() { c.s.observer.Post(c.s.observer.AllowSecretPrompt) }
func (c controlled) NoteLineShared()      { c.s.tracker.AllowAgents() }

func (c controlled) OpenReply(now time.Time) bool { return c.s.requests.OpenReply(now) }

func (c controlled) NoteTyped() {
	c.s.used.Store(time.Now().Unix() * 1000) // whole seconds suffice
	c.s.status.DismissRemark()
	c.s.recording.RecordTyped("")
}

func (c controlled) NoteTypedElsewhere(by string) {
	c.s.used.Store(time.Now().Unix() * 1000)
	c.s.status.ShowRemoteTyping(by)
	c.s.recording.RecordTyped(by)
}

// elsewhere takes the keys of people elsewhere.
type elsewhere struct{ s *session }

// PressKeys implements [requests.RemoteKeyboard].
func (e elsewhere) PressKeys(now, at time.Time, by string, keys []byte) error {
	if err := e.s.authority.NoteRemoteTyping(now, at, by); err != nil {
		return err
	}
	if !e.s.pump.PressKeys(now, keys) {
		return requests.ErrUnread
	}
	e.s.detector.CountTyped(keys)
	return nil
}

func (c controlled) StateChanged(state control.State) {
	c.s.status.ShowState(state)
	c.s.requestKeyboard(state)
	c.s.events.StateChanged(state)
	c.s.requests.CancelMuted()
	c.s.talk.SetHidden(time.Now(), state.Hidden)
	c.s.observer.Post(func(now time.Time) { c.s.observer.ControlChanged(now, state.Hidden) })
}

func (c controlled) ControlChanged(e control.Event) {
	c.s.requests.ControlEvent(e)
	c.s.events.ControlChanged(e)
	if e.Reason == protocol.ReasonReclaimed {
		c.s.beside.NoteReclaim()
	}
}

// observed is the session as package observer sees it. Its methods belong to the observer's
// goroutine.
type observed struct {
	s *session
	// the group that had the terminal at the last output, where grants are for one program
	front int
}

func (o *observed) IsDriven() bool {
	return o.s.authority.NewestState().Phase == control.Granted
}
func (o *observed) TypedByUser() secretprompt.Typed { return o.s.detector.TypedByUser() }
func (o *observed) IsUnattended() bool              { return o.s.conf.headless.IsUnattended() }

// Keyboard implements [observer.Session].
func (o *observed) Keyboard() protocol.Keyboard { return o.s.authority.Keyboard() }

// Line implements [observer.Session].
func (o *observed) Line() observer.Line { return o.s.requests.Line() }

// IsResting reports false for every session on a user's terminal. In an agent's own session an
// agent always drives, and output, input and questions cause a look at the line settings in any
// case.
func (o *observed) IsResting() bool { return o.s.conf.headless.IsResting() }

// Publish implements [observer.Session].
func (o *observed) Publish(f *protocol.Frame, text string) {
	screen, keyboard := f.Screen, f.Keyboard
	m := &protocol.Snapshot{
		ID:         protocol.NewID(),
		SessionID:  o.s.id,
		Content:    text,
		Timestamp:  time.Now().UnixMilli(),
		Seq:        f.Seq,
		Screen:     &screen,
		Settled:    f.Settled,
		IdleMs:     f.IdleMs,
		Keyboard:   &keyboard,
		Redactions: f.Redactions,
		HiddenText: f.HiddenText,
		Blackout:   f.Blackout,
	}
	o.s.fillKept(m)
	if silent := o.s.authority.NewestState().MutedNames; silent != "" {
		m.Muted = strings.Split(silent, ",")
	}
	if !f.Blackout.ByUser() {
		program, directory := o.s.child.InFront()
		m.Foreground, m.Directory = o.s.observer.Redact(program, -1), o.s.observer.Redact(directory, -1)
		m.UsedAt = o.s.used.Load()
	}
	o.s.link.PutSnapshot(m)
}

// SendRows implements [observer.Session].
func (o *observed) SendRows(m *protocol.Rows) {
	m.SessionID = o.s.id
	o.s.link.PutRows(m)
}

func (o *observed) SendBlackout(on bool, why string, secret protocol.SecretPrompt) {
	o.s.link.Send(&protocol.Blackout{
		ID:        protocol.NewID(),
		SessionID: o.s.id,
		On:        on,
		Why:       why,
		Secret:    secret,
	})
}

func (o *observed) NoteSecretPrompt(kind protocol.SecretPrompt, dismissed bool) {
	o.s.pump.Post(func(now time.Time) { o.s.authority.NoteSecretPrompt(now, kind, dismissed) })
}

// NoteOutput has control look which program has the terminal, while a grant is bound to one: a
// program that gives the terminal back usually writes something. Output also keeps a session
// without a user from being idle.
func (o *observed) NoteOutput() {
	o.s.conf.headless.NoteActivity()
	o.s.beside.NoteOutput()
	if !o.s.authority.NewestState().Guarded {
		return
	}
	if group := o.s.child.ForegroundGroup(); group != o.front {
		o.front = group
		o.s.pump.Post(func(time.Time) { o.s.authority.UpdateForeground() })
	}
}

// NoteMemoryUse implements [observer.Session].
func (o *observed) NoteMemoryUse() { noteMemoryUse() }

func (o *observed) NoteTitleChange() { o.s.copier.Repaint() }

func (o *observed) SetMouseReports(raw bool) {
	o.s.pump.Post(func(time.Time) { o.s.detector.SetX10Mouse(raw) })
}

// questionShown notes that the user's screen shows a question since now; 0 means that it can be
// read there no longer.
func (s *session) questionShown(turn uint64) {
	now := time.Now()
	s.pump.Post(func(time.Time) { s.authority.NoteShown(now, turn) })
}

// cells is the terminal as the program asks it about the size of its cells.
type cells struct{ *tty.Terminal }

// CellSize implements [requests.Terminal]. It returns what the program learns from its queries.
func (c cells) CellSize() (width, height int) {
	if !c.HasKeyboard() || !c.HasScreen() {
		return screen.CellWidth, screen.CellHeight
	}
	return c.Terminal.CellSize()
}

// requestsRecorder is the recording as package requests has it follow inputs.
type requestsRecorder struct{ *recording.Recording }

func (r requestsRecorder) StartInput(m *protocol.Input, epoch uint64) requests.Record {
	return r.Input(m, epoch)
}
