package rights_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// What matters most, written out: the table cannot be widened without changing this.
func TestTheRightsOfEachRoleR52(t *testing.T) {
	const looks = rights.List | rights.Look | rights.Follow
	require.Equal(t, looks, rights.OfRole(rights.RoleViewer, false))
	require.Equal(t, rights.Publish, rights.OfRole(rights.RoleProxy, true))
	require.Equal(t, rights.OfRole(rights.RoleAgent, false), rights.OfRole(rights.RoleAgent, true))
	agent := rights.OfRole(rights.RoleAgent, true)
	require.Zero(t, agent&(rights.Publish|rights.Attach|rights.Restrict|rights.Forward|rights.Unsigned))
	for _, can := range []rights.Can{
		rights.OfRole(rights.RoleProxy, true), rights.OfRole(rights.RoleViewer, true), rights.OfRole(rights.RoleOwner, true),
		rights.OfPage(rights.RoleViewer), rights.OfPage(rights.RoleOwner),
	} {
		require.Zero(t, can&(rights.Type|rights.Ask), "only agents type under a grant")
	}
	require.Zero(t, rights.OfRole(rights.RoleViewer, true)&rights.Unsigned)
	require.Equal(t, rights.List|rights.Look, rights.OfPage(rights.RoleViewer))
	require.Equal(t, rights.List|rights.Look|rights.Write|rights.Restrict|rights.Forward|rights.Replay, rights.OfPage(rights.RoleOwner))
	for _, role := range rights.Roles {
		require.Zero(t, rights.OfRole(role, true)&rights.Replay, "a gateway has no recordings")
	}
	require.Zero(t, rights.OfRole("root", true))
	require.Zero(t, rights.OfPage(rights.RoleAgent))
}

func TestSetRefusesOtherMessagesAndSessions(t *testing.T) {
	now := time.Now()
	set := rights.Set{Who: "a page", Can: rights.OfPage(rights.RoleOwner), Session: "vim-1", Until: now.Add(time.Second)}
	read := &protocol.Read{RequestID: "r", SessionID: "vim-1"}
	grant := &protocol.ControlDecide{RequestID: "d", SessionID: "vim-1", Grant: true}
	require.Nil(t, set.CheckMessage(read, now))
	require.Nil(t, set.CheckMessage(&protocol.SessionsList{RequestID: "l"}, now))
	for say, m := range map[string]protocol.Message{
		"a page may not send terminal.input":       &protocol.Input{RequestID: "r", SessionID: "vim-1", Data: "x"},
		"a page is limited to the session vim-1":   &protocol.Read{RequestID: "r", SessionID: "vim-2"},
		"a page may not send sessions.list.result": &protocol.SessionsListResult{RequestID: "r"},
	} {
		require.Equal(t, &protocol.Error{RequestID: "r", Code: protocol.CodeForbidden, Message: say}, set.CheckMessage(m, now))
	}
	require.Contains(t, set.CheckMessage(grant, now).Message, "signature")
	grant.SignatureB64 = []byte("s")
	require.Nil(t, set.CheckMessage(grant, now))
	require.Nil(t, set.CheckMessage(&protocol.ControlDecide{RequestID: "d", SessionID: "vim-1"}, now))
	require.Equal(t, "the time of a page is up", set.CheckMessage(read, now.Add(time.Second)).Message)
}
