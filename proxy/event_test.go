package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// Each question is told once, requests that end without a grant are not, and a name brings nothing into a variable that is no name.
func TestEventsAreToldOnceAndClean(t *testing.T) {
	var told []Event
	s := newSession(Config{Agent: &AgentConfig{Happened: func(e Event) { told = append(told, e) }}})
	s.id = "sh-1"
	agent := control.Agent{ID: "a-1", Name: "evil\x1b[31m\n\x00\u202ename"}
	asked := control.State{Phase: control.Asked, Question: 1, Agent: agent}
	s.asked(asked)
	asked.Paused = true
	s.asked(asked)
	s.decided(control.Event{Request: true, Agent: agent, Reason: protocol.ReasonRefused})
	s.asked(control.State{})
	s.asked(control.State{Phase: control.Granted, Question: 2, Agent: agent, Occupied: true})
	s.decided(control.Event{Agent: agent, Reason: protocol.ReasonReclaimed})
	s.happened(Event{Name: EventExit, Status: 3})
	const name = "evil name"
	require.Equal(t, []Event{
		{Name: EventAsked, Session: "sh-1", Agent: name},
		{Name: EventWaiting, Session: "sh-1", Agent: name},
		{Name: EventEnded, Session: "sh-1", Agent: name, Reason: protocol.ReasonReclaimed},
		{Name: EventExit, Session: "sh-1", Status: 3},
	}, told)
	newSession(Config{}).happened(Event{Name: EventExit}) // nobody listens
}
