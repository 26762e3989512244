package hub

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// R38: the gateway knows the writer, whatever the message claims. A remote viewer writes nothing.
func TestTheGatewayKnowsTheWriterR38(t *testing.T) {
	for member, want := range map[Member]*protocol.Note{
		{Role: RoleAgent, Name: "laptop", Named: true, ID: "a-9"}: {From: protocol.FromAgent, AgentID: "a-9", AgentName: "laptop"},
		{Role: RoleAgent, Local: true, ID: "a-9"}:                 {From: protocol.FromAgent, AgentID: "a-9", AgentName: "claimed"},
		{Role: RoleOwner, Name: "phone", Named: true}:             {From: protocol.FromUser, By: "phone"},
		{Role: RoleViewer, Local: true}:                           {From: protocol.FromUser, By: "somebody"},
		{Role: RoleViewer}:                                        nil,
	} {
		t.Run(fmt.Sprintf("%s local=%t", member.Role, member.Local), func(t *testing.T) {
			h, proxy, _ := scene()
			defer h.Close()
			p := h.Join(member)
			for _, from := range []string{protocol.FromUser, protocol.FromAgent} {
				p.Handle(&protocol.Note{ID: "x", RequestID: from, SessionID: "vim-1", From: from, AgentID: "a-1", AgentName: "claimed", By: "somebody", Text: "hello"})
				if want == nil {
					require.Equal(t, protocol.CodeForbidden, onlyMessage[*protocol.Error](t, p).Code)
					require.Empty(t, allMessages(proxy))
					return
				}
				note := *onlyMessage[*protocol.Note](t, proxy)
				proxy.Handle(&protocol.Done{RequestID: note.RequestID, Waiting: protocol.WaitsForTurn})
				require.Equal(t, &protocol.Done{RequestID: from, Waiting: protocol.WaitsForTurn}, onlyMessage[*protocol.Done](t, p))
				note.RequestID = ""
				whole := *want
				whole.SessionID, whole.Text = "vim-1", "hello"
				require.Equal(t, whole, note)
			}
		})
	}
}
