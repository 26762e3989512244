package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
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
