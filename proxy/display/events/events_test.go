package events

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
)

// Each question is reported once, and a request that ends without a grant is not. A variable for a
// name contains only a name.
func TestEventsAreToldOnceAndClean(t *testing.T) {
	var told []Event
	s := New(Config{Session: "sh-1", OnEvent: func(e Event) { told = append(told, e) }})
	agent := control.Agent{ID: "a-1", Name: "evil\x1b[31m\n\x00\u202ename"}
	asked := control.State{Phase: control.Asked, Agent: agent}
	asked.Question = question.Shown{Asked: question.Asked{Kind: question.Keyboard, Agent: agent}, Turn: 1}
	s.StateChanged(asked)
	asked.Paused = true
	s.StateChanged(asked)
	s.ControlChanged(control.Event{Request: true, Agent: agent, Reason: protocol.ReasonRefused})
	s.StateChanged(control.State{})
	s.StateChanged(control.State{Phase: control.Granted, Question: question.Shown{Asked: question.Asked{Kind: question.Line, Agent: agent}, Turn: 2}})
	s.ControlChanged(control.Event{Agent: agent, Reason: protocol.ReasonReclaimed})
	s.Close()
	s.ReportExit(3)
	const name = "evil name"
	require.Equal(t, []Event{
		{Name: Asked, Session: "sh-1", Agent: name},
		{Name: Waiting, Session: "sh-1", Agent: name},
		{Name: Ended, Session: "sh-1", Agent: name, Reason: protocol.ReasonReclaimed},
		{Name: Exit, Session: "sh-1", Status: 3},
	}, told)
	New(Config{}).ReportExit(0) // no one listens
	var none *Reporter
	none.ReportExit(0)
	none.Close()
}
