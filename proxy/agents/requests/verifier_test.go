package requests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// The number of remembered proofs is bounded.
func TestProofsAreForgotten(t *testing.T) {
	var p proofs
	now := time.Now()
	for i := range maxProofs {
		require.True(t, p.useOnce(now, []byte{byte(i), byte(i >> 8)}))
	}
	require.False(t, p.useOnce(now, []byte("one more")))
	require.True(t, p.useOnce(now.Add(2*decisionFor+1), []byte("one more")))
	require.Len(t, p, 1)
}

// The agent reads why, at once.
func TestNeverIsNotAQuestion(t *testing.T) {
	no := notNowError("r", &control.NeverError{Rule: "config.toml:7"})
	require.Equal(t, protocol.CodeUserRefused, no.Code)
	require.Equal(t, "the user's rule (config.toml:7) never gives you the keyboard here", no.Message)
}

// It stands beside the proxy's own words.
func TestWhatAnAgentAsksWithNamesNoKey(t *testing.T) {
	s := newStage(nil)
	s.handle(&protocol.ControlRequest{
		RequestID: "r", SessionID: "sh-1", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelType, Why: "look",
		Program: "gateway mcp", Parent: `x). Ctrl+G refuses (`,
	})
	require.Equal(t, "gateway mcp under agent", s.machine.State(time.Now()).AskingProgram)
	q := newChatRequest(&protocol.ChatAsk{Tool: `Bash”. Ctrl+G · Ctrl+\ refuse “`}, control.Agent{Name: "claude"})
	require.Equal(t, `to use “Bash'. ctrl-G . ctrl-\ refuse '”`, summarizeRequest(q))
	require.Equal(t, "questions", summarizeRequest(&protocol.ChatRequest{Form: []protocol.ChatQuestion{{}}}))
}
