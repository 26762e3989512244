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
	p.waits(id, "a-1:granted") // it has control since it started the session
	p.say(&protocol.Wait{RequestID: "a-1:now", SessionID: id, AgentID: "a-1", Until: protocol.Until{Text: "ready"}, TimeoutMs: 20_000})
	require.Equal(t, "a-1:now", hear[*protocol.WaitResult](p, nil).RequestID, "the one before it still waits")
	p.types(id, "\x1c")
	require.Equal(t, "reclaimed", p.met("a-1:granted"))

	p.asks(id, "a-1:q")
	p.say(&protocol.Cancel{RequestID: "a-1:q", SessionID: id})
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonRefused)
	p.waits(id, "a-1:refused")
	require.Equal(t, "refused", p.met("a-1:refused"), "it did not hear that")
}

// The answer is kept for the next wait.
func TestAnAnswerCrossesACancelledWait(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonReclaimed)
	p.asks(id, "a-1:r")
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonRefused)
	p.waits(id, "a-1:late")
	p.say(&protocol.Cancel{RequestID: "a-1:r", SessionID: id})
	require.Equal(t, "refused", p.met("a-1:late"), "the answer and the word that nobody waits for it crossed")
	p.waits(id, "a-1:again")
	p.say(&protocol.Note{RequestID: "v-2:n", SessionID: id, From: protocol.FromUser, By: "ada", Text: "later"})
	require.Equal(t, "message", p.met("a-1:again"))
}
