package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// samples returns a message of every kind that a participant may send.
func samples(t *testing.T) (all []protocol.Message) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "messages.jsonl"))
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		m, err := protocol.Decode([]byte(line), protocol.MaxMessage)
		require.NoError(t, err, line)
		all = append(all, m)
	}
	return all
}

// R52: a participant that may not send a message gets "forbidden", and nothing else happens.
func TestRoleAndMessageMatrixR52(t *testing.T) {
	messages := samples(t)
	require.Len(t, messages, len(protocol.Kinds()), "a message without a sample")
	for _, m := range messages {
		for _, role := range rights.Roles {
			t.Run(string(role)+"/"+protocol.KindOf(m), func(t *testing.T) {
				h := New(nil)
				defer h.Close()
				owner := h.Join(Member{Role: RoleProxy})
				owner.Handle(opening("x", "k"))
				p := h.Join(Member{Role: role})
				p.Handle(m)
				forbidden := slices.ContainsFunc(allMessages(p), func(m protocol.Message) bool {
					e, ok := m.(*protocol.Error)
					return ok && e.Code == protocol.CodeForbidden
				})
				require.Equal(t, !may(role, m), forbidden)
				if forbidden {
					require.Empty(t, allMessages(owner), "the proxy hears nothing of it")
				}
			})
		}
	}
}

// may looks a role up in the table of rights.
func may(role Role, m protocol.Message) bool {
	return rights.Set{Can: rights.OfRole(role, false)}.CheckMessage(m, time.Time{}) == nil
}

// A process of the user's own may take away, and pass on what an owner signed. An agent may do
// neither, on any machine.
func TestLocalViewersTakeAwayOnlyR52(t *testing.T) {
	decide := func(change func(*protocol.ControlDecide)) *protocol.ControlDecide {
		m := &protocol.ControlDecide{RequestID: "d", SessionID: "vim-1", By: "x"}
		change(m)
		return m
	}
	for name, c := range map[string]struct {
		m     *protocol.ControlDecide
		local bool
	}{
		"take back":     {decide(func(*protocol.ControlDecide) {}), true},
		"hide":          {decide(func(m *protocol.ControlDecide) { m.Hide = protocol.HideOn }), true},
		"show":          {decide(func(m *protocol.ControlDecide) { m.Hide = protocol.HideOff }), false},
		"grant":         {decide(func(m *protocol.ControlDecide) { m.Grant = true }), false},
		"signed grant":  {decide(func(m *protocol.ControlDecide) { m.Grant, m.SignatureB64 = true, []byte("s") }), true},
		"signed show":   {decide(func(m *protocol.ControlDecide) { m.Hide, m.SignatureB64 = protocol.HideOff, []byte("s") }), true},
		"refuse":        {decide(func(m *protocol.ControlDecide) { m.Refuse = true }), true},
		"mute":          {decide(func(m *protocol.ControlDecide) { m.Mute, m.AgentName = protocol.MuteOn, "a" }), true},
		"unmute":        {decide(func(m *protocol.ControlDecide) { m.Mute = protocol.MuteOff }), false},
		"signed unmute": {decide(func(m *protocol.ControlDecide) { m.Mute, m.SignatureB64 = protocol.MuteOff, []byte("s") }), true},
		"hide, granted": {decide(func(m *protocol.ControlDecide) { m.Hide, m.Grant = protocol.HideOn, true }), true},
	} {
		for member, allowed := range map[Member]bool{
			{Role: RoleViewer, Local: true}: c.local, {Role: RoleViewer}: false, {Role: RoleOwner}: true,
			{Role: RoleAgent, Local: true}: false, {Role: RoleAgent}: false, {Role: RoleProxy, Local: true}: false,
		} {
			t.Run(fmt.Sprintf("%s/%s local=%t", name, member.Role, member.Local), func(t *testing.T) {
				h, proxy, _ := scene()
				defer h.Close()
				p := h.Join(member)
				p.Handle(c.m)
				if allowed {
					require.Empty(t, allMessages(p))
					onlyMessage[*protocol.ControlDecide](t, proxy)
					return
				}
				require.Equal(t, protocol.CodeForbidden, onlyMessage[*protocol.Error](t, p).Code)
				require.Empty(t, allMessages(proxy))
			})
		}
	}
}
