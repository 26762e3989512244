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

func seqs(all []protocol.Message) []uint64 {
	var out []uint64
	for _, m := range all {
		if o, ok := m.(*protocol.Output); ok {
			out = append(out, o.Seq)
		}
	}
	return out
}

func watching(h *Hub) *Peer {
	p := h.Join(Member{Role: RoleViewer, Local: true})
	p.Handle(&protocol.Watch{SessionID: "vim-1"})
	return p
}

func TestAWatcherBeginsWithARepaint(t *testing.T) {
	h, proxy, _ := scene()
	p := watching(h)
	onlyMessage[*protocol.Watch](t, proxy)
	proxy.Handle(live(0, 10))
	require.Empty(t, allMessages(p), "of no use before the repaint")
	proxy.Handle(repaint(10))
	proxy.Handle(live(10, 5))
	second := watching(h)
	onlyMessage[*protocol.Watch](t, proxy)
	proxy.Handle(repaint(15))
	proxy.Handle(live(15, 1))
	require.Equal(t, []uint64{10, 10, 15}, seqs(allMessages(p)), "the second one's repaint is not for the first")
	require.Equal(t, []uint64{15, 15}, seqs(allMessages(second)))

	second.Handle(&protocol.Unwatch{SessionID: "vim-1"})
	require.Empty(t, allMessages(proxy))
	p.Leave()
	onlyMessage[*protocol.Unwatch](t, proxy)
}

func TestAGapOrAnotherSizeNeedsARepaint(t *testing.T) {
	h, proxy, _ := scene()
	p := watching(h)
	proxy.Handle(repaint(0))
	_, _ = allMessages(proxy), allMessages(p)
	proxy.Handle(live(7, 1))
	require.Empty(t, allMessages(p))
	onlyMessage[*protocol.Watch](t, proxy)
	proxy.Handle(repaint(8))
	require.Len(t, allMessages(p), 1)
	wider := repaint(8)
	wider.Cols = 5
	proxy.Handle(wider)
	require.Len(t, allMessages(p), 1)
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

func TestAnAttachedPersonsKeysReachTheProxy(t *testing.T) {
	h, proxy, agent := scene()
	p := h.Join(Member{Role: RoleViewer, Local: true, ID: "v-1"})
	p.Handle(&protocol.ViewerInput{SessionID: "vim-1", DataB64: []byte("x")})
	require.Equal(t, protocol.CodeNoGrant, onlyMessage[*protocol.Error](t, p).Code)
	p.Handle(&protocol.Attach{RequestID: "r", SessionID: "vim-1", Cols: 80, Rows: 24, ViewerID: "v-9"})
	attach := onlyMessage[*protocol.Attach](t, proxy)
	require.Equal(t, "v-1", attach.ViewerID)
	proxy.Handle(&protocol.Done{RequestID: attach.RequestID})
	onlyMessage[*protocol.Done](t, p)
	p.Handle(&protocol.ViewerInput{SessionID: "vim-1", DataB64: []byte("x"), ViewerID: "v-9"})
	require.Equal(t, "v-1", onlyMessage[*protocol.ViewerInput](t, proxy).ViewerID)

	back := h.Join(Member{Role: RoleProxy})
	back.Handle(opening("vim-1", "secret"))
	require.Equal(t, attach.ViewerID, onlyMessage[*protocol.Attach](t, back).ViewerID, "a proxy that comes back hears who sits there")
	back.Handle(&protocol.Detach{SessionID: "vim-1", ViewerID: "v-1"})
	onlyMessage[*protocol.Detach](t, p)
	p.Leave()
	require.Empty(t, allMessages(back), "it is known already")

	q := h.Join(Member{Role: RoleOwner})
	q.Handle(&protocol.Attach{RequestID: "r", SessionID: "vim-1", Cols: 80, Rows: 24})
	onlyMessage[*protocol.Attach](t, back)
	q.Leave()
	onlyMessage[*protocol.Detach](t, back)
	require.Empty(t, allMessages(agent))
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

func TestTheEndReachesWatchers(t *testing.T) {
	h, proxy, _ := scene()
	p := watching(h)
	proxy.Handle(&protocol.SessionClose{ID: "i", SessionID: "vim-1", ExitCode: 3})
	require.Equal(t, 3, onlyMessage[*protocol.SessionClose](t, p).ExitCode)
	p.Handle(&protocol.Watch{SessionID: "vim-1"})
	require.Equal(t, 3, onlyMessage[*protocol.SessionClose](t, p).ExitCode)
	p.Handle(&protocol.Watch{SessionID: "other"})
	require.Equal(t, protocol.CodeNoSession, onlyMessage[*protocol.Error](t, p).Code)
}
