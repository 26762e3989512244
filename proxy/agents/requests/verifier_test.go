package requests

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// A gateway that keeps a proof, or lets another agent use it, gains nothing.
func TestAProofCountsOnceForThisMomentAndThisSession(t *testing.T) {
	var judged []control.Agent
	s := newStage(func(c *Config) {
		c.LocalAgent = func(message, signature []byte) (string, error) {
			if string(message) == string(signature) { // the signer, here
				return "claude", nil
			}
			return "", errors.New("no")
		}
		c.RuleGrant = func(a control.Agent, _ protocol.Level) control.RuleGrant {
			judged = append(judged, a)
			return control.RuleGrant{}
		}
	})
	asks := func(change func(m *protocol.ControlRequest), signed bool) string {
		t.Helper()
		m := &protocol.ControlRequest{
			RequestID: "r", SessionID: "sh-1", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelType, Why: "look",
			Epoch: s.machine.Epoch(), At: time.Now().UnixMilli(),
		}
		if change != nil && signed {
			change(m)
		}
		m.ProofB64 = m.Signed(s.Started.UnixMilli())
		if change != nil && !signed {
			change(m)
		}
		judged = nil
		s.handle(m)
		require.Len(t, judged, 1)
		return judged[0].Token
	}
	require.Equal(t, "claude", asks(nil, true))
	var kept protocol.ControlRequest
	require.Equal(t, "claude", asks(func(m *protocol.ControlRequest) { m.Why = "kept"; kept = *m }, true))
	require.Empty(t, asks(func(m *protocol.ControlRequest) {
		*m = kept
		m.AgentID, m.RequestID, m.ProofB64 = "a-2", "other", kept.Signed(s.Started.UnixMilli())
	}, false), "used")
	for name, change := range map[string]func(m *protocol.ControlRequest){
		"old":             func(m *protocol.ControlRequest) { m.At -= 31_000 },
		"to come":         func(m *protocol.ControlRequest) { m.At += 31_000 },
		"control changed": func(m *protocol.ControlRequest) { m.Epoch-- },
	} {
		require.Empty(t, asks(change, true), name)
	}
	for name, change := range map[string]func(m *protocol.ControlRequest){
		"more":            func(m *protocol.ControlRequest) { m.Level = protocol.LevelDrive },
		"other words":     func(m *protocol.ControlRequest) { m.Why = "other" },
		"another session": func(m *protocol.ControlRequest) { m.ProofB64 = m.Signed(1) },
		"none":            func(m *protocol.ControlRequest) { m.ProofB64 = nil },
	} {
		require.Empty(t, asks(change, false), name)
	}
}

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
