package requests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/view/snapshot"
)

// A wait for what was typed ends as the user takes the keyboard back, also when it comes after
// that.
func TestAWaitEndsWithTheGrant(t *testing.T) {
	s, _ := newWaitingStage()
	wait := func(id string, epoch uint64) *protocol.Wait {
		return &protocol.Wait{RequestID: id, AgentID: "ada", Epoch: epoch, Until: protocol.Until{Text: "done"}}
	}
	ends := func(agent string, reason protocol.Reason, request bool) []protocol.Message {
		s.sent = nil
		s.waits.endControlWaits(control.Event{Agent: control.Agent{ID: agent}, Epoch: 3, Reason: reason, Request: request}, string(reason), false)
		return s.sent
	}
	ended := func(id string, sent []protocol.Message) {
		t.Helper()
		require.Len(t, sent, 1)
		got := sent[0].(*protocol.WaitResult)
		require.Equal(t, id, got.RequestID)
		require.False(t, got.Met)
		require.Equal(t, protocol.ReasonReclaimed, got.Ended)
	}
	require.Empty(t, s.handle(wait("1", 3)))
	require.Empty(t, s.handle(wait("another grant", 2)))
	require.Empty(t, s.handle(wait("no grant", 0)))
	require.Empty(t, ends("ada", protocol.ReasonExited, false), "the program's end is what it may wait for")
	require.Empty(t, ends("ada", protocol.ReasonReclaimed, true), "that was a question")
	require.Empty(t, ends("bob", protocol.ReasonReclaimed, false))
	s.waits.reclaimed = 0
	ended("1", ends("ada", protocol.ReasonReclaimed, false))
	require.Empty(t, s.waits.answers.takeDecision("ada"), "it was told")
	ended("late", s.handle(wait("late", 3)))
	require.Empty(t, s.handle(wait("the next grant", 4)))
	s.Handle(&protocol.Cancel{RequestID: "the next grant"})
	require.NotContains(t, s.waits.driving, "the next grant")
}

// The end of a grant wakes the agents that wait for control and have not asked. Those that have asked
// wait for the user.
func TestTheEndOfAGrantWakesOtherAgents(t *testing.T) {
	for _, c := range []struct {
		event       control.Event
		asks, woken string
	}{
		{control.Event{Reason: protocol.ReasonReleased}, "", freeKeyboard},
		{control.Event{Reason: protocol.ReasonExpired}, "eve", freeKeyboard},
		{control.Event{Reason: protocol.ReasonReclaimed}, "bob", ""},
		{control.Event{Reason: protocol.ReasonRefused, Request: true}, "", ""},
		{control.Event{Reason: protocol.ReasonReclaimed, Cause: control.Left}, "", ""},
		{control.Event{Reason: protocol.ReasonExited}, "", ""},
		{control.Event{Granted: true}, "", ""},
	} {
		s, _ := newWaitingStage()
		s.waits.Control = stagedControl{control.New(control.Config{})}
		require.Len(t, s.handle(&protocol.ControlRequest{RequestID: "not put to a user", AgentID: "bob"}), 1)
		require.Empty(t, s.handle(&protocol.Wait{RequestID: "w", AgentID: "bob", Until: protocol.Until{Control: true}}))
		s.waits.answers.noteRequest(c.asks, "q")
		c.event.Agent.ID = "ada"
		s.waits.endControlWaits(c.event, "own", false)
		require.Equal(t, c.woken == "", len(s.waits.deciding) == 1, c)
		require.Equal(t, c.woken, s.waits.answers.takeForWait("bob", "w"), "the same wait, over a new connection")
	}
}

// A wait that takes too much work ends with a reason of its own, not as a timeout; what the agent
// is to be told waits for its next wait.
func TestADearWaitEndsWithWords(t *testing.T) {
	s := newStage(nil)
	s.waits.finishWait(time.Now(), &protocol.Wait{RequestID: "1", AgentID: "ada"}, snapshot.Result{ID: "1", End: snapshot.Costly})
	require.Len(t, s.sent, 1)
	got := s.sent[0].(*protocol.Error)
	require.Equal(t, "1", got.RequestID)
	require.Equal(t, protocol.CodeBadMessage, got.Code)
	require.Contains(t, got.Message, "the wait was given up: its regular expression is so slow that it would hold up the program's output")
}
