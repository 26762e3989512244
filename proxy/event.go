package proxy

import (
	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/remind"
)

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
