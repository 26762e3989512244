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
