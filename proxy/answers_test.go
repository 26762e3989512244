package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// If nothing is asked for, the end of control meets the wait, and so does an answer that was not
// delivered.
func TestAWaitForControlWaits(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	p.startWait(id, "a-1:granted") // it has control since it started the session
	p.send(&protocol.Wait{RequestID: "a-1:now", SessionID: id, AgentID: "a-1", Until: protocol.Until{Text: "ready"}, TimeoutMs: 20_000})
	require.Equal(t, "a-1:now", hear[*protocol.WaitResult](p, nil).RequestID, "the one before it still waits")
	p.types(id, "\x1c")
	require.Equal(t, "reclaimed", p.waitResult("a-1:granted"))

	p.requestControl(id, "a-1:q")
	p.send(&protocol.Cancel{RequestID: "a-1:q", SessionID: id})
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonRefused)
	p.startWait(id, "a-1:refused")
	require.Equal(t, "refused", p.waitResult("a-1:refused"), "it did not hear that")
}

// The answer is kept for the next wait.
func TestAnAnswerCrossesACancelledWait(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonReclaimed)
	p.requestControl(id, "a-1:r")
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonRefused)
	p.startWait(id, "a-1:late")
	p.send(&protocol.Cancel{RequestID: "a-1:r", SessionID: id})
	require.Equal(t, "refused", p.waitResult("a-1:late"), "the answer and the word that nobody waits for it crossed")
	p.startWait(id, "a-1:again")
	p.send(&protocol.Note{RequestID: "v-2:n", SessionID: id, From: protocol.FromUser, By: "ada", Text: "later"})
	require.Equal(t, "message", p.waitResult("a-1:again"))
}
