package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// TestAWaitForControlWaits: where nothing is asked for it is met by the end of control, and by an answer that nobody heard.
func TestAWaitForControlWaits(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	wait := func(request string) {
		p.say(&protocol.Wait{RequestID: request, SessionID: id, AgentID: "a-1", Until: protocol.Until{Control: true}, TimeoutMs: 20_000})
	}
	met := func(request string) string {
		t.Helper()
		return hear(p, func(m *protocol.WaitResult) bool { return m.RequestID == request }).Matched
	}
	wait("a-1:granted") // it has control since it started the session
	p.say(&protocol.Wait{RequestID: "a-1:now", SessionID: id, AgentID: "a-1", Until: protocol.Until{Text: "ready"}, TimeoutMs: 20_000})
	require.Equal(t, "a-1:now", hear[*protocol.WaitResult](p, nil).RequestID, "the one before it still waits")
	p.types(id, "\x1c")
	require.Equal(t, "reclaimed", met("a-1:granted"))

	p.say(&protocol.ControlRequest{RequestID: "a-1:q", SessionID: id, AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Why: "go on"})
	hear(p, func(m *protocol.Snapshot) bool { return m.Keyboard.Asking == "claude" })
	p.say(&protocol.Cancel{RequestID: "a-1:q", SessionID: id})
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonRefused)
	wait("a-1:refused")
	require.Equal(t, "refused", met("a-1:refused"), "it did not hear that")
}

// TestAnAnswerCrossesTheWordThatNobodyWaits: the answer is kept for the next wait.
func TestAnAnswerCrossesTheWordThatNobodyWaits(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	wait := func(request string) {
		p.say(&protocol.Wait{RequestID: request, SessionID: id, AgentID: "a-1", Until: protocol.Until{Control: true}, TimeoutMs: 20_000})
	}
	met := func(request string) string {
		t.Helper()
		return hear(p, func(m *protocol.WaitResult) bool { return m.RequestID == request }).Matched
	}
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonReclaimed)
	p.say(&protocol.ControlRequest{RequestID: "a-1:r", SessionID: id, AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Why: "go on"})
	hear(p, func(m *protocol.Snapshot) bool { return m.Keyboard.Asking == "claude" })
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonRefused)
	wait("a-1:late")
	p.say(&protocol.Cancel{RequestID: "a-1:r", SessionID: id})
	require.Equal(t, "refused", met("a-1:late"), "the answer and the word that nobody waits for it crossed")
	wait("a-1:again")
	p.say(&protocol.Note{RequestID: "v-2:n", SessionID: id, From: protocol.FromUser, By: "ada", Text: "later"})
	require.Equal(t, "message", met("a-1:again"))
}
