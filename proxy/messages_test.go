package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
)

// The agent gets the message once, with its sender, and a wait for control ends with it.
func TestARemotePersonWritesToTheAgent(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", reader)
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonReclaimed)
	p.requestControl(id, "a-1:q")
	p.startWait(id, "a-1:w")
	p.send(&protocol.Note{RequestID: "v-2:n", SessionID: id, From: protocol.FromUser, By: "ada\u202e", Text: "not  that\nbranch"})
	for told, done, met := false, false, false; !told || !done || !met; { // in any order
		hear(p, func(m protocol.Message) bool {
			switch m := m.(type) {
			case *protocol.Note:
				require.Equal(t, []string{protocol.FromUser, "ada", "not that branch"}, []string{m.From, m.By, m.Text})
				told = true
			case *protocol.Done:
				done = done || m.RequestID == "v-2:n" && m.Waiting == ""
			case *protocol.WaitResult:
				require.Equal(t, []string{"(written elsewhere, by ada) not that branch"}, m.Notes)
				require.Equal(t, "message", m.Matched)
				met = true
			}
			return true
		})
	}
	for text, code := range map[string]protocol.Code{"\u200b": protocol.CodeBadMessage, strings.Repeat("x", 501): protocol.CodeTooLarge} {
		p.send(&protocol.Note{RequestID: "v-2:m", SessionID: id, From: protocol.FromUser, By: "ada", Text: text})
		refused := hear[*protocol.Error](p, nil)
		require.Equal(t, []string{string(code), "text"}, []string{string(refused.Code), refused.Field})
	}
}

// The message waits until a person looks.
func TestAMessageIsAnsweredWhenItIsDrawn(t *testing.T) {
	t.Parallel()
	g := newFakeGateway(t)
	g.run(headless.Config{})
	p, id := g.startProgram(starting("sh", "-c", reader))
	p.waitForText("ready")
	say := func(request string) *protocol.Done {
		t.Helper()
		p.send(&protocol.Note{RequestID: request, SessionID: id, From: protocol.FromAgent, AgentID: "a-1", AgentName: "claude", Text: "have a look"})
		return hear[*protocol.Done](p, nil)
	}
	require.Equal(t, &protocol.Done{RequestID: "1", Waiting: protocol.WaitsForPerson}, say("1"))
	p.send(&protocol.Watch{SessionID: id})
	hear(p, func(m *protocol.Output) bool {
		return strings.Contains(string(m.DataB64), "message from “claude”: “have a look”")
	})
	require.Equal(t, &protocol.Done{RequestID: "2", Waiting: protocol.WaitsForTurn}, say("2"))
}
