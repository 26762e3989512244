package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

func secretAsk(id, session string) *protocol.SecretAsk {
	return &protocol.SecretAsk{
		RequestID: id, SessionID: session, Kind: protocol.SecretHidden, PublicKeyB64: []byte("k"),
		Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo true", Pid: 1},
	}
}

// A question reaches the proxy of a local session, and its answer the asker alone: agents, viewers
// and owners hear nothing of either.
func TestASecretIsBetweenAskerAndProxy(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Local: true})
	proxy.Handle(opening("x", "k"))
	var others []*Peer
	for _, role := range []Role{RoleAgent, RoleViewer, RoleOwner} {
		p := h.Join(Member{Role: role, Local: true})
		p.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "x"})
		others = append(others, p)
	}
	asker := joinAsker(h)
	allMessages(proxy)
	for _, p := range others {
		allMessages(p)
	}
	asker.Handle(secretAsk("r", "x"))
	sent := onlyMessage[*protocol.SecretAsk](t, proxy)
	require.Equal(t, "sudo", sent.Asker.Program)
	for _, p := range others {
		require.Empty(t, allMessages(p))
	}
	proxy.Handle(&protocol.SecretAnswer{
		RequestID: sent.RequestID, SessionID: "x", Verdict: protocol.SecretGiven, SealedB64: []byte("s"),
	})
	require.Equal(t, &protocol.SecretAnswer{
		RequestID: "r", SessionID: "x", Verdict: protocol.SecretGiven, SealedB64: []byte("s"),
	}, onlyMessage[*protocol.SecretAnswer](t, asker))
	for _, p := range others {
		require.Empty(t, allMessages(p))
	}
}

// An asker that goes away takes its question with it, and an answer after that reaches no one.
func TestAnAskerThatLeavesWithdrawsItsQuestion(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Local: true})
	proxy.Handle(opening("x", "k"))
	asker := joinAsker(h)
	asker.Handle(secretAsk("r", "x"))
	allMessages(proxy)
	asker.Leave()
	cancel := onlyMessage[*protocol.Cancel](t, proxy)
	require.True(t, cancel.Withdraw)
	next := joinAsker(h)
	proxy.Handle(&protocol.SecretAnswer{
		RequestID: cancel.RequestID, SessionID: "x", Verdict: protocol.SecretGiven, SealedB64: []byte("s"),
	})
	require.Empty(t, allMessages(next))
}

// Two askers may use one request id: each has its own question and its own answer.
func TestTwoAskersWithOneRequestID(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Local: true})
	proxy.Handle(opening("x", "k"))
	first, second := joinAsker(h), joinAsker(h)
	allMessages(proxy)
	first.Handle(secretAsk("r", "x"))
	one := onlyMessage[*protocol.SecretAsk](t, proxy)
	second.Handle(secretAsk("r", "x"))
	two := onlyMessage[*protocol.SecretAsk](t, proxy)
	require.NotEqual(t, one.RequestID, two.RequestID)
	proxy.Handle(&protocol.SecretAnswer{
		RequestID: two.RequestID, SessionID: "x", Verdict: protocol.SecretGiven, SealedB64: []byte("2"),
	})
	require.Equal(t, []byte("2"), onlyMessage[*protocol.SecretAnswer](t, second).SealedB64)
	require.Empty(t, allMessages(first))
}

// A proxy on another machine gets no question: another person may sit there.
func TestNoSecretIsAskedForOnAnotherMachine(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("x", "k"))
	allMessages(proxy)
	asker := joinAsker(h)
	asker.Handle(secretAsk("r", "x"))
	require.Equal(t, protocol.CodeUnavailable, onlyMessage[*protocol.Error](t, asker).Code)
	require.Empty(t, allMessages(proxy))
}

func joinAsker(h *Hub) *Peer {
	return h.Join(Member{Role: RoleViewer, Remote: true, Rights: rights.Set{Who: "asker", Can: rights.OfAsker()}})
}
