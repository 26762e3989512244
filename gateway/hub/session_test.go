package hub

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestTombstonesAreBounded(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy, agent := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleAgent})
	for i := range maxTombstones + 3 {
		id := fmt.Sprintf("s-%03d", i)
		proxy.Handle(opening(id, "k"))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: id})
	}
	agent.Handle(&protocol.SessionsList{RequestID: "l"})
	list := onlyMessage[*protocol.SessionsListResult](t, agent).Sessions
	require.Len(t, list, maxTombstones)
	require.Equal(t, "s-003", list[0].SessionID, "the oldest go first")
}

func TestSessionsAreBounded(t *testing.T) {
	h := New(nil)
	var proxy *Peer
	for i := range maxSessions {
		if i%maxPerProxy == 0 {
			proxy = h.Join(Member{Role: RoleProxy})
		}
		proxy.Handle(opening(fmt.Sprint(i), ""))
	}
	require.Empty(t, allMessages(proxy))
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("more", ""))
	require.Contains(t, mustFail(t, proxy, "o1", protocol.CodeBusy).Message, "this gateway already has 1024 sessions")

	h = New(nil)
	h.LimitSessions(1)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("one", ""))
	require.Empty(t, allMessages(proxy))
	proxy.Handle(opening("two", ""))
	require.Contains(t, mustFail(t, proxy, "o1", protocol.CodeBusy).Message, "this gateway already has 1 sessions")
}

// R80: one connection cannot fill the gateway.
func TestSessionsOfOneConnectionAreBoundedR80(t *testing.T) {
	h := New(nil)
	proxy, other := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleProxy})
	for i := range maxPerProxy {
		proxy.Handle(opening(fmt.Sprint(i), "key"))
	}
	other.Handle(opening("other", "key"))
	require.Empty(t, allMessages(proxy))
	proxy.Handle(opening("more", ""))
	require.Contains(t, mustFail(t, proxy, "o1", protocol.CodeBusy).Message, "64 sessions")
	proxy.Handle(opening("other", "key"))
	mustFail(t, proxy, "o1", protocol.CodeBusy)
	proxy.Handle(opening("7", "key"))
	require.Empty(t, allMessages(proxy), "what it has it may open anew")
	require.Empty(t, allMessages(other), "and others have room")
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "7"})
	proxy.Handle(opening("more", ""))
	require.Empty(t, allMessages(proxy), "an ended session counts no more")
}
