package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// live is n bytes of live output after the first seq bytes.
func live(seq uint64, n int) *protocol.Output {
	return &protocol.Output{ID: "i", SessionID: "vim-1", Seq: seq, DataB64: make([]byte, n)}
}

func repaint(seq uint64) *protocol.Output {
	return &protocol.Output{ID: "i", SessionID: "vim-1", Seq: seq, DataB64: []byte("all"), Repaint: true, Cols: 4, Rows: 2}
}

func watching(h *Hub) *Peer {
	p := h.Join(Member{Role: RoleViewer, Local: true})
	p.Handle(&protocol.Watch{SessionID: "vim-1"})
	return p
}

func TestASlowWatcherIsRepaintedWhenItTakesMessagesAgain(t *testing.T) {
	h, proxy, _ := scene()
	p := watching(h)
	proxy.Handle(repaint(0))
	seq := uint64(0)
	for range 3 * maxBytes / (32 << 10) {
		proxy.Handle(live(seq, 32<<10))
		seq += 32 << 10
		require.LessOrEqual(t, p.out.bytes, maxBytes)
	}
	require.Len(t, allMessages(proxy), 1, "the proxy is not asked while nothing is taken")
	_, err := p.Next(now)
	require.ErrorIs(t, err, ErrLeft)
	onlyMessage[*protocol.Watch](t, proxy)
	proxy.Handle(live(seq, 1))
	proxy.Handle(repaint(seq + 1))
	m, err := p.Next(now)
	require.NoError(t, err)
	require.True(t, m.(*protocol.Output).Repaint)
	for range maxLive + 1 {
		proxy.Handle(live(seq+1, 0))
	}
	require.NoError(t, p.out.reason, "live output cuts nobody off")
}

// R49: neither a remote viewer nor an agent types.
func TestOnlyAPersonOfThisMachineOrAnOwnerAttachesR49(t *testing.T) {
	for _, member := range []Member{{Role: RoleViewer}, {Role: RoleAgent, Local: true}, {Role: RoleProxy, Local: true}} {
		for _, m := range []protocol.Message{
			&protocol.Attach{RequestID: "r", SessionID: "vim-1", Cols: 80, Rows: 24},
			&protocol.ViewerInput{SessionID: "vim-1", DataB64: []byte("x")},
			&protocol.Watch{SessionID: "vim-1"},
		} {
			h, proxy, _ := scene()
			p := h.Join(member)
			p.Handle(m)
			require.Equal(t, protocol.CodeForbidden, onlyMessage[*protocol.Error](t, p).Code)
			require.Empty(t, allMessages(proxy))
		}
	}
}
