package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/remind"
)

// wireReminder plugs what tells the user, elsewhere, that an agent waits; nothing where nobody is to be told.
func (s *session) wireReminder(agent *AgentConfig) {
	if agent.Notify == nil && agent.Alert == nil {
		return
	}
	s.reminder = remind.New(remind.Config{After: agent.NotifyAfter, Looked: s.looked, Tell: s.remind})
}

// looked is when the user typed last, or when somebody looked at the screen on a page.
func (s *session) looked() time.Time {
	if s.viewed.Load() {
		return time.Now()
	}
	return time.UnixMilli(max(s.used.Load(), s.left.Load()))
}

// viewing notes that somebody looks at the screen on a page, or nobody does any more.
func (s *session) viewing(on bool) {
	if s.viewed.Swap(on) && !on {
		s.left.Store(time.Now().UnixMilli())
	}
}

// remind tells the user that an agent waits: who and where, and nothing of the screen or of the agent's words.
func (s *session) remind(q remind.Question) {
	what := " asks in "
	if q.Held {
		what = " waits in "
	}
	text, agent := q.Agent+what+s.id, s.conf.Agent
	if agent.Notify != nil {
		agent.Notify(text)
	}
	if agent.Alert == nil {
		return
	}
	if control := agent.Alert(text); control != nil {
		s.status.Alert(q.Number, control)
	}
}

// asked has those know what waits for the user who are told.
func (s *session) asked(state control.State) {
	var q remind.Question
	switch {
	case state.Phase == control.Asked:
		q = remind.Question{Number: state.Question, Agent: state.Agent.Name}
	case state.Pending.Keys != "" || state.Occupied:
		q = remind.Question{Number: state.Question, Agent: state.Agent.Name, Held: true}
	}
	if s.reminder != nil {
		s.reminder.Open(q)
	}
	s.questioned(q)
}

// viewMessage notes what a message of the gateway's says about people who look.
func (s *session) viewMessage(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.View:
		s.viewing(!m.Agents)
	case *protocol.Unview:
		s.viewing(false)
	}
}

// The names of an [Event].
const (
	EventAsked   = "asked"   // an agent asks the user for the keyboard
	EventGranted = "granted" // it has it
	EventEnded   = "ended"   // it has it no longer
	EventWaiting = "waiting" // it has it, and its input waits for the user
	EventExit    = "exit"    // the program ended
)

// Events are all names of events.
var Events = []string{EventAsked, EventGranted, EventEnded, EventWaiting, EventExit}

// Event is something that happened in a session, for the user's own programs. It holds nothing of the screen, and no words of an agent's
// but its name, without control characters.
type Event struct {
	Name    string
	Session string          // id
	Agent   string          // its name, "" for none
	Reason  protocol.Reason // of an end
	Status  int             // of the exit
}

// maxAgent bounds an agent's name in an event, in columns.
const maxAgent = 64

// happened tells an event, where somebody listens.
func (s *session) happened(e Event) {
	if s.conf.Agent == nil || s.conf.Agent.Happened == nil {
		return
	}
	e.Session, e.Agent = s.id, notice.Clean(e.Agent, maxAgent)
	s.conf.Agent.Happened(e)
}

// questioned tells of a question that is new. It belongs to the goroutine that controls.
func (s *session) questioned(q remind.Question) {
	if q == s.question {
		return
	}
	s.question = q
	switch {
	case q.Number == 0:
	case q.Held:
		s.happened(Event{Name: EventWaiting, Agent: q.Agent})
	default:
		s.happened(Event{Name: EventAsked, Agent: q.Agent})
	}
}

// decided tells of a grant that began or ended. A request that ended without one is no event.
func (s *session) decided(e control.Event) {
	switch {
	case e.Granted:
		s.happened(Event{Name: EventGranted, Agent: e.Agent.Name})
	case !e.Request:
		s.happened(Event{Name: EventEnded, Agent: e.Agent.Name, Reason: e.Reason})
	}
}
