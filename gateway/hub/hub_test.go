package hub

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is a closed channel, with which Next returns at once if there is no message.
var now = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// allMessages returns all messages that wait for p, but for those that tell a proxy of subscribers.
func allMessages(p *Peer) []protocol.Message {
	return slices.DeleteFunc(everyMessage(p), func(m protocol.Message) bool {
		_, counts := m.(*protocol.Subscribed)
		return counts
	})
}

// everyMessage returns all messages that wait for p.
func everyMessage(p *Peer) []protocol.Message {
	var out []protocol.Message
	for {
		m, err := p.out.tryPop()
		if m == nil || err != nil {
			return out
		}
		out = append(out, m)
	}
}

// onlyMessage returns the only message that waits for p, see [allMessages].
func onlyMessage[T protocol.Message](t *testing.T, p *Peer) T {
	t.Helper()
	return onlyOf[T](t, allMessages(p))
}

// onlyOf returns the only one of several messages.
func onlyOf[T protocol.Message](t *testing.T, all []protocol.Message) T {
	t.Helper()
	require.Len(t, all, 1, "%v", kinds(all))
	m, ok := all[0].(T)
	require.True(t, ok, "got %s %+v", protocol.KindOf(all[0]), all[0])
	return m
}

func kinds(all []protocol.Message) []string {
	var out []string
	for _, m := range all {
		out = append(out, protocol.KindOf(m))
	}
	return out
}

func mustFail(t *testing.T, p *Peer, id string, code protocol.Code) protocol.Error {
	t.Helper()
	e := onlyMessage[*protocol.Error](t, p)
	require.Equal(t, id, e.RequestID)
	require.Equal(t, code, e.Code, e.Message)
	return *e
}

func opening(id, key string) *protocol.SessionOpen {
	return &protocol.SessionOpen{ID: "o1", SessionID: id, Name: "vim", Command: "vim", Args: []string{"a"}, Cols: 4, Rows: 2, ResumeKey: key}
}

func full(id string, seq uint64, lines ...string) *protocol.Snapshot {
	return &protocol.Snapshot{ID: "s", SessionID: id, Content: strings.Join(lines, "\n"), Seq: seq, Screen: &protocol.Screen{Cols: 4, Rows: len(lines), Lines: lines}}
}

// scene is a hub with a proxy that has opened session "vim-1", and an agent.
func scene() (h *Hub, proxy, agent *Peer) {
	h = New(nil)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("vim-1", "secret"))
	return h, proxy, h.Join(Member{Role: RoleAgent, ID: "a-1", Name: "claude"})
}

// inScene plays on a scene in the test's time.
func inScene(t *testing.T, play func(t *testing.T, h *Hub, proxy, agent *Peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		defer h.Close()
		play(t, h, proxy, agent)
	})
}
