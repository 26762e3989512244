package hub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// talking is a hub whose proxy has a conversation.
func talking(t *testing.T) (h *Hub, proxy *Peer) {
	t.Helper()
	h = New(nil)
	t.Cleanup(h.Close)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(chatting("secret"))
	return h, proxy
}

func chatting(key string) *protocol.SessionOpen {
	m := opening("c-1", key)
	m.Chat, m.Asks, m.StartedAt = true, true, 5
	return m
}

// acceptSubscription lets the proxy take its subscription, and returns which records are wanted.
func acceptSubscription(t *testing.T, proxy *Peer) (after uint64) {
	t.Helper()
	m := onlyMessage[*protocol.ChatSubscribe](t, proxy)
	proxy.Handle(&protocol.Done{RequestID: m.RequestID})
	return m.After
}

func sendRecords(proxy *Peer, lost uint64, numbers ...uint64) {
	m := &protocol.ChatRecords{SessionID: "c-1", Lost: lost}
	for _, n := range numbers {
		m.Records = append(m.Records, protocol.ChatRecord{Number: n, Item: &protocol.ChatItem{Kind: protocol.ChatText, Text: "x"}})
	}
	proxy.Handle(m)
}

// receivedRecords returns the numbers of the records that wait for p, and how many it was told are
// lost.
func receivedRecords(t *testing.T, p *Peer) (numbers []uint64, lost uint64) {
	t.Helper()
	for {
		m, err := p.Next(now)
		if err != nil {
			return numbers, lost
		}
		if records, ok := m.(*protocol.ChatRecords); ok {
			lost += records.Lost
			for _, r := range records.Records {
				numbers = append(numbers, r.Number)
			}
		}
	}
}

func follow(h *Hub, after uint64) *Peer {
	p := h.Join(Member{Role: RoleViewer, Local: true})
	p.Handle(&protocol.ChatSubscribe{RequestID: "f", SessionID: "c-1", After: after})
	return p
}

// All followers share one subscription to the proxy, and each continues where it was.
func TestOneSubscriptionServesAllFollowers(t *testing.T) {
	h, proxy := talking(t)
	first := follow(h, 0)
	sendRecords(proxy, 0, 7) // of a subscription that is over
	require.Zero(t, acceptSubscription(t, proxy))
	sendRecords(proxy, 0, 1, 2, 3)
	late := follow(h, 2)
	require.Empty(t, allMessages(proxy))
	for p, want := range map[*Peer][]uint64{first: {1, 2, 3}, late: {3}} {
		numbers, lost := receivedRecords(t, p)
		require.Equal(t, want, numbers)
		require.Zero(t, lost)
	}
	sendRecords(proxy, 0, 3, 4) // again: it is told once
	for _, p := range []*Peer{first, late} {
		numbers, _ := receivedRecords(t, p)
		require.Equal(t, []uint64{4}, numbers)
	}
	first.Handle(&protocol.ChatUnsubscribe{RequestID: "u", SessionID: "c-1"})
	require.Equal(t, &protocol.Done{RequestID: "u"}, onlyMessage[*protocol.Done](t, first))
	require.Empty(t, allMessages(proxy))
	late.Leave()
	onlyMessage[*protocol.ChatUnsubscribe](t, proxy)
	require.Empty(t, h.sessions[key{"", "c-1"}].conversation.records)
}

// A proxy that reconnects continues where it was; another conversation under the same name begins
// anew.
func TestFollowersOutliveTheProxysConnection(t *testing.T) {
	h, proxy := talking(t)
	p := follow(h, 0)
	acceptSubscription(t, proxy)
	sendRecords(proxy, 0, 1, 2)
	proxy.Leave()
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(chatting("secret"))
	require.Equal(t, uint64(2), acceptSubscription(t, proxy))
	sendRecords(proxy, 0, 3)
	numbers, _ := receivedRecords(t, p)
	require.Equal(t, []uint64{1, 2, 3}, numbers)
	proxy.Leave()
	proxy = h.Join(Member{Role: RoleProxy})
	again := chatting("secret")
	again.StartedAt = 6
	proxy.Handle(again)
	require.Zero(t, acceptSubscription(t, proxy))
	sendRecords(proxy, 0, 1)
	numbers, _ = receivedRecords(t, p)
	require.Equal(t, []uint64{1}, numbers)
}

// A slow reader delays no one, and costs one message.
func TestASlowFollowerDelaysNoOne(t *testing.T) {
	h, proxy := talking(t)
	slow, quick := follow(h, 0), follow(h, 0)
	acceptSubscription(t, proxy)
	text := strings.Repeat("x", 30<<10)
	most := uint64(0)
	for n := uint64(1); n <= 400; n++ {
		proxy.Handle(&protocol.ChatRecords{SessionID: "c-1", Records: []protocol.ChatRecord{{Number: n, Item: &protocol.ChatItem{Kind: protocol.ChatText, Text: text}}}})
		numbers, lost := receivedRecords(t, quick)
		require.Equal(t, []uint64{n}, numbers)
		require.Zero(t, lost)
		most = n
	}
	require.Equal(t, 2, slow.out.queue.Len(), "done, and one message")
	s := h.sessions[key{"", "c-1"}]
	require.LessOrEqual(t, s.conversation.size, maxTalk)
	numbers, lost := receivedRecords(t, slow)
	require.Equal(t, uint64(1), numbers[0])
	require.Equal(t, most, numbers[len(numbers)-1])
	require.Equal(t, most, uint64(len(numbers))+lost)
	require.Positive(t, lost)
	numbers, lost = receivedRecords(t, follow(h, 50))
	require.Equal(t, most-50, uint64(len(numbers))+lost)
}

// Pieces are kept until their text is whole.
func TestAWholeTextReplacesItsPieces(t *testing.T) {
	h, proxy := talking(t)
	follow(h, 0)
	acceptSubscription(t, proxy)
	proxy.Handle(&protocol.ChatRecords{SessionID: "c-1", Records: []protocol.ChatRecord{
		{Number: 1, Piece: &protocol.ChatPiece{ID: "t", Text: "a"}},
		{Number: 2, Piece: &protocol.ChatPiece{ID: "u", Text: "a"}},
		{Number: 3, Item: &protocol.ChatItem{Kind: protocol.ChatText, ID: "t", Text: "ab"}},
	}})
	numbers, lost := receivedRecords(t, follow(h, 0))
	require.Equal(t, []uint64{2, 3}, numbers)
	require.Zero(t, lost)
}

func TestAHiddenConversationIsKeptBack(t *testing.T) {
	h, proxy := talking(t)
	p := follow(h, 0)
	acceptSubscription(t, proxy)
	sendRecords(proxy, 0, 1)
	receivedRecords(t, p)
	proxy.Handle(&protocol.ChatStatus{SessionID: "c-1", Agent: "claude", State: protocol.ChatWorking})
	require.Equal(t, &protocol.ChatState{Agent: "claude", State: protocol.ChatWorking}, h.lists.sessionsOf(listKey{localOnly: true})[0].Chat)
	proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "c-1", On: true, Why: protocol.BlackoutUser})
	require.Nil(t, h.lists.sessionsOf(listKey{localOnly: true})[0].Chat)
	late := follow(h, 0)
	numbers, _ := receivedRecords(t, late)
	require.Empty(t, numbers)
	sendRecords(proxy, 0, 2)
	proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "c-1", Why: protocol.BlackoutUser})
	for peer, want := range map[*Peer][]uint64{p: {2}, late: {1, 2}} {
		numbers, _ := receivedRecords(t, peer)
		require.Equal(t, want, numbers)
	}
	require.NotNil(t, h.lists.sessionsOf(listKey{localOnly: true})[0].Chat)
}

func TestTheEndComesBehindTheLastRecord(t *testing.T) {
	h, proxy := talking(t)
	p := follow(h, 0)
	acceptSubscription(t, proxy)
	sendRecords(proxy, 0, 1)
	sendRecords(proxy, 0, 2)
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "c-1"})
	var all []string
	for {
		m, err := p.Next(now)
		if err != nil {
			break
		}
		all = append(all, protocol.KindOf(m))
	}
	require.Equal(t, []string{"done", "chat.records", "chat.records", "terminal.session.close"}, all)
	p.Handle(&protocol.ChatSubscribe{RequestID: "f", SessionID: "c-1"})
	mustFail(t, p, "f", protocol.CodeExited)
}

// Only the gateway says who speaks: a person has no agent's id, an agent no person's name.
func TestTheGatewayNamesTheSpeaker(t *testing.T) {
	h, proxy := talking(t)
	agent := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	agent.Handle(&protocol.ChatSend{RequestID: "r", SessionID: "c-1", AgentID: "a-2", By: "ada", Text: "x"})
	sent := onlyMessage[*protocol.ChatSend](t, proxy)
	require.Equal(t, []string{"a-1", ""}, []string{sent.AgentID, sent.By})
	person := h.Join(Member{Role: RoleOwner, Name: "phone", Named: true})
	person.Handle(&protocol.ChatSend{RequestID: "r", SessionID: "c-1", AgentID: "a-1", By: "ada", Text: "x"})
	sent = onlyMessage[*protocol.ChatSend](t, proxy)
	require.Equal(t, []string{"", "phone"}, []string{sent.AgentID, sent.By})
	person.Handle(&protocol.ChatAnswer{RequestID: "q", SessionID: "c-1", Request: "t", By: "ada"})
	answer := onlyMessage[*protocol.ChatAnswer](t, proxy)
	require.Equal(t, "phone", answer.By)
	proxy.Handle(&protocol.Error{RequestID: answer.RequestID, Code: protocol.CodeAnswered, Message: "already answered by bob"})
	require.Contains(t, mustFail(t, person, "q", protocol.CodeAnswered).Message, "bob")
}

func TestASessionWithoutAConversation(t *testing.T) {
	h := New(nil)
	defer h.Close()
	h.Join(Member{Role: RoleProxy}).Handle(opening("c-1", "k"))
	p := h.Join(Member{Role: RoleOwner})
	p.Handle(&protocol.ChatSubscribe{RequestID: "f", SessionID: "c-1"})
	require.Contains(t, mustFail(t, p, "f", protocol.CodeNoChat).Message, "--chat")
	p.Handle(&protocol.ChatSend{RequestID: "s", SessionID: "c-1", Text: "x"})
	mustFail(t, p, "s", protocol.CodeNoChat)
	asks := opening("c-2", "k2")
	asks.Asks = true
	h.Join(Member{Role: RoleProxy}).Handle(asks)
	p.Handle(&protocol.ChatSend{RequestID: "s", SessionID: "c-2", Text: "x"})
	require.Contains(t, mustFail(t, p, "s", protocol.CodeNoChat).Message, "accepts no prompts: answer at the terminal of its gateway chat")
}

func approval(id string) *protocol.ChatAsk {
	return &protocol.ChatAsk{RequestID: id, SessionID: "c-1", AgentID: "forged", TokenID: "forged", Tool: "Bash", Allows: []protocol.ChatChoice{{Verdict: protocol.ChatOnce}}}
}

// Another agent's request reaches the proxy under the name that the gateway knows, and the answer
// reaches the asker. If the asker leaves, its request is withdrawn.
func TestAnotherAgentAsksInAConversation(t *testing.T) {
	h, proxy := talking(t)
	agent := h.Join(Member{Role: RoleAgent, ID: "a-1", Name: "codex", Named: true, TokenID: "t-1"})
	other := h.Join(Member{Role: RoleAgent, ID: "a-2"})
	agent.Handle(approval("r"))
	sent := onlyMessage[*protocol.ChatAsk](t, proxy)
	require.Equal(t, []string{"a-1", "codex", "t-1"}, []string{sent.AgentID, sent.AgentName, sent.TokenID})
	other.Handle(&protocol.Cancel{RequestID: "r", SessionID: "c-1"})
	require.NotEqual(t, sent.RequestID, onlyMessage[*protocol.Cancel](t, proxy).RequestID, "it is another one's")
	proxy.Handle(&protocol.ChatAskResult{RequestID: sent.RequestID, SessionID: "c-1", By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})
	require.Equal(t, &protocol.ChatAskResult{RequestID: "r", SessionID: "c-1", By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}}, onlyMessage[*protocol.ChatAskResult](t, agent))

	agent.Handle(approval("r2"))
	agent.Handle(approval("r3"))
	first, second := allMessages(proxy)[0], ""
	agent.Handle(&protocol.Cancel{RequestID: "r2", SessionID: "c-1"})
	require.Equal(t, protocol.RequestID(first), onlyMessage[*protocol.Cancel](t, proxy).RequestID)
	agent.Leave()
	second = onlyMessage[*protocol.Cancel](t, proxy).RequestID
	require.NotEqual(t, protocol.RequestID(first), second)
}

// An agent's request over a proxy's connection that is lost is refused, and never asked again.
func TestAnAgentsRequestIsNotAskedAgain(t *testing.T) {
	h, proxy := talking(t)
	opens := chatting("secret")
	opens.Asks = true
	proxy.Handle(opens)
	agent := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	agent.Handle(approval("r"))
	onlyMessage[*protocol.ChatAsk](t, proxy)
	proxy.Leave()
	mustFail(t, agent, "r", protocol.CodeUnavailable)
	agent.Handle(approval("r2"))
	mustFail(t, agent, "r2", protocol.CodeUnavailable)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opens)
	require.Empty(t, allMessages(proxy))
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "c-1"})
	agent.Handle(approval("r3"))
	mustFail(t, agent, "r3", protocol.CodeExited)
}
