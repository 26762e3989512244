package requests

import (
	"log/slog"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
)

// stage is a handler and everything around it: the test plays the goroutines of the observer, the
// pump and the link.
type stage struct {
	*Handler
	machine *control.Machine
	over    bool // the program has ended
	sent    []protocol.Message
	killed  bool
	cooked  bool // the kernel collects lines
	blank   bool // the program has shown nothing yet
	behind  bool // there is output that the model was not fed
	blocked child.Blocked
	noted   []string // the agents' typing that viewers were told of
}

func newStage(change func(c *Config)) *stage {
	s := &stage{machine: control.New(control.Config{Keyboard: true})}
	c := Config{
		SessionID: "sh-1", Started: time.Now(), Log: slog.New(slog.DiscardHandler), Observer: stagedObserver{s: s, model: screen.New(screen.Config{Cols: 20, Rows: 4})},
		Pump: stagedPump{s: s}, Control: stagedControl{s.machine}, Link: s, Program: stagedProgram{s: s}, Status: stagedStatus{s: s}, Recorder: stagedRecorder{}, Desk: stagedDesk{new(string)},
		Tracker: &line.Tracker{Cooked: func() bool { return false }, Group: func() int { return 0 }},
	}
	if change != nil {
		change(&c)
	}
	s.Handler = New(c)
	return s
}

// Send implements [Link].
func (s *stage) Send(m protocol.Message) { s.sent = append(s.sent, m) }

// handle handles a message, and returns what is sent at once.
func (s *stage) handle(m protocol.Message) []protocol.Message {
	s.sent = nil
	s.Handle(m)
	s.actions.awaitIdle()
	return s.sent
}

type stagedObserver struct {
	Observer
	s     *stage
	model *screen.Screen
}

func (o stagedObserver) Model() *screen.Screen  { return o.model }
func (o stagedObserver) CancelWait(string) bool { return false }

func (o stagedObserver) Redact(text string, _ int) string {
	return strings.ReplaceAll(text, "token", "•••••")
}

func (o stagedObserver) NoteAgentTyped(_ time.Time, agent, text string) {
	o.s.noted = append(o.s.noted, agent+" "+text)
}

func (o stagedObserver) IsBlank(time.Time) bool { return o.s.blank }

func (o stagedObserver) RunsCommand() bool { return false }

func (o stagedObserver) SettleTime() time.Time { return time.Time{} }

func (o stagedObserver) HasCaughtUp() bool { return !o.s.behind }

func (o stagedObserver) HasStayedCaughtUp(bool) bool { return !o.s.behind }

func (o stagedObserver) Post(do func(now time.Time)) bool {
	if !o.s.over {
		do(time.Now())
	}
	return !o.s.over
}

type stagedPump struct {
	Pump
	s *stage
}

func (p stagedPump) Post(do func(now time.Time)) bool {
	if !p.s.over {
		do(time.Now())
	}
	return !p.s.over
}

type stagedControl struct{ *control.Machine }

func (c stagedControl) NewestState() control.State { return c.State(time.Now()) }

type stagedProgram struct {
	Program
	s *stage
}

func (p stagedProgram) Line() (child.Line, error) { return child.Line{Canonical: p.s.cooked}, nil }

func (p stagedProgram) ForegroundGroup() int { return p.s.blocked.Group }

func (p stagedProgram) SettingsInSpell() (s child.Settings, spell uint64, err error) {
	return child.Settings{Canonical: p.s.cooked}, 0, nil
}

func (p stagedProgram) BlockedOn() (child.Blocked, bool) { return p.s.blocked, p.s.blocked.Group != 0 }

func (p stagedProgram) GroupLeader() (child.GroupLeader, bool) { return child.GroupLeader{}, false }

func (p stagedProgram) Kill() { p.s.killed = true }

type stagedStatus struct {
	Status
	s *stage
}

func (stagedStatus) NoteRequest()                                              {}
func (stagedStatus) ShowText(string)                                           {}
func (stagedStatus) LastSeenMessage() (heard control.SeenMessage, onLine bool) { return }
func (stagedStatus) QueueMessage(control.Note) error                           { return nil }

type stagedRecorder struct{ Recorder }

func (stagedRecorder) RecordRequest(control.Request, error)            {}
func (stagedRecorder) RecordUserMessage(control.Agent, string, string) {}

// stagedOwn is the terminal of agent a-1.
type stagedOwn struct {
	OwnTerminal
	attached bool
	stopped  bool
	touched  int
}

func (o *stagedOwn) Agent() control.Agent {
	return control.Agent{ID: "a-1", Name: "claude"}
}
func (o *stagedOwn) IsUnattended() bool { return !o.attached }
func (o *stagedOwn) NoteActivity()      { o.touched++ }
func (o *stagedOwn) Stop()              { o.stopped = true }

// stagedDesk has the question "q", until it is answered.
type stagedDesk struct {
	answered *string // by whom
}

func (stagedDesk) Ask(time.Time, *protocol.SecretAsk, control.Agent) {}
func (stagedDesk) Withdraw(time.Time, string)                        {}
func (d stagedDesk) FindKey(requestID string) []byte {
	if requestID != "q" || *d.answered != "" {
		return nil
	}
	return []byte("the asker's key")
}

func (d stagedDesk) AnswerElsewhere(_ time.Time, _, by, verdict string, sealed []byte) (waited bool) {
	if *d.answered != "" {
		return false
	}
	*d.answered = by + " " + verdict + " " + string(sealed)
	return true
}
