package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// joinPage joins a page as its door lets it in.
func joinPage(h *Hub, role Role, session string) *Peer {
	return h.Join(Member{Role: RoleOwner, Rights: rights.Set{Who: "a page", Can: rights.OfPage(role), Session: session}})
}

// An owner's page that watches gets the questions that are open, each later one, and how they end.
// No one else gets anything of them.
func TestOwnersPagesGetQuestionsForSecrets(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Local: true})
	proxy.Handle(opening("x", "k"))
	asker := joinAsker(h)
	asker.Handle(secretAsk("r1", "x"))
	first := onlyMessage[*protocol.SecretAsk](t, proxy)
	require.False(t, first.Watched)

	page := joinPage(h, RoleOwner, "")
	page.Handle(&protocol.SecretWatch{RequestID: "w"})
	all := allMessages(page)
	require.Equal(t, []string{"secret.ask", "done"}, kinds(all))
	require.Equal(t, first, all[0])

	guest, other, here := joinPage(h, RoleViewer, ""), joinPage(h, RoleOwner, "y"), joinPage(h, RoleOwner, "x")
	agent, foreign := h.Join(Member{Role: RoleAgent, Local: true}), h.Join(Member{Role: RoleOwner, Namespace: "other"})
	remote := h.Join(Member{Role: RoleOwner, Remote: true})
	for _, p := range []*Peer{guest, agent, remote} {
		p.Handle(&protocol.SecretWatch{RequestID: "w"})
		require.Equal(t, protocol.CodeForbidden, onlyMessage[*protocol.Error](t, p).Code)
	}
	for _, p := range []*Peer{other, here, foreign} {
		p.Handle(&protocol.SecretWatch{RequestID: "w"})
	}
	require.Equal(t, []string{"secret.ask", "done"}, kinds(allMessages(here)))
	require.Equal(t, []string{"done"}, kinds(allMessages(other)), "its page is for another session")
	require.Equal(t, []string{"done"}, kinds(allMessages(foreign)), "of another tenant")

	asker.Handle(secretAsk("r2", "x"))
	second := onlyMessage[*protocol.SecretAsk](t, proxy)
	require.True(t, second.Watched)
	require.Equal(t, second, onlyMessage[*protocol.SecretAsk](t, page))
	proxy.Handle(&protocol.SecretAnswer{
		RequestID: second.RequestID, SessionID: "x", Verdict: protocol.SecretGiven, SealedB64: []byte("s"), By: "page-a",
	})
	require.Equal(t, &protocol.SecretEnded{
		Question: second.RequestID, SessionID: "x", Verdict: protocol.SecretGiven, By: "page-a",
	}, onlyMessage[*protocol.SecretEnded](t, page), "without the sealed answer")
	asker.Leave()
	require.Equal(t, &protocol.SecretEnded{Question: first.RequestID, SessionID: "x"}, onlyMessage[*protocol.SecretEnded](t, page))
	for _, p := range []*Peer{guest, agent, remote, other, foreign} {
		require.Empty(t, allMessages(p))
	}
}

// A proxy that cannot ask ends the question for the pages, too: it is asked elsewhere.
func TestAQuestionForASecretMoves(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Local: true})
	proxy.Handle(opening("x", "k"))
	page, asker := joinPage(h, RoleOwner, ""), joinAsker(h)
	page.Handle(&protocol.SecretWatch{RequestID: "w"})
	allMessages(page)
	asker.Handle(secretAsk("r", "x"))
	ask := onlyMessage[*protocol.SecretAsk](t, proxy)
	proxy.Handle(&protocol.Error{RequestID: ask.RequestID, Code: protocol.CodeUnavailable, Message: "away"})
	all := allMessages(page)
	require.Equal(t, []string{"secret.ask", "secret.ended"}, kinds(all))
	require.Equal(t, &protocol.SecretEnded{Question: ask.RequestID, SessionID: "x", Moved: true}, all[1])
}

// A page's answer goes to the proxy that has the question, which alone decides whether it counts.
func TestAPagesAnswerGoesToTheProxy(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Local: true})
	proxy.Handle(opening("x", "k"))
	page, asker := joinPage(h, RoleOwner, ""), joinAsker(h)
	asker.Handle(secretAsk("r", "x"))
	ask := onlyMessage[*protocol.SecretAsk](t, proxy)
	reply := &protocol.SecretReply{
		RequestID: "q1", SessionID: "x", Question: ask.RequestID, Verdict: protocol.SecretRefused, SignatureB64: []byte("s"),
	}
	page.Handle(reply)
	got := onlyMessage[*protocol.SecretReply](t, proxy)
	require.Equal(t, ask.RequestID, got.Question)
	require.Empty(t, allMessages(asker), "the proxy has not decided")
	proxy.Handle(&protocol.Error{RequestID: got.RequestID, Code: protocol.CodeForbidden, Message: "no owner's"})
	require.Equal(t, "q1", onlyMessage[*protocol.Error](t, page).RequestID)
	require.Empty(t, allMessages(asker))

	// A page cannot answer as a proxy does.
	page.Handle(&protocol.SecretAnswer{RequestID: ask.RequestID, SessionID: "x", Verdict: protocol.SecretRefused})
	require.Equal(t, protocol.CodeForbidden, onlyMessage[*protocol.Error](t, page).Code)
	require.Empty(t, allMessages(asker))
}
