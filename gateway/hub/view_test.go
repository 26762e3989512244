package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// rowsOf is a screen as a proxy sends it: long rows, so that a difference is shorter.
func rowsOf(seq uint64, lines ...string) *protocol.Rows {
	for i, line := range lines {
		lines[i] = line + strings.Repeat("x", 50)
	}
	return &protocol.Rows{
		SessionID: "vim-1", Seq: seq, Rev: seq, Cols: 80, Rows: len(lines), Lines: lines,
		State: &protocol.ViewState{Title: "notes", Keyboard: protocol.Keyboard{Holder: protocol.HolderUser}},
	}
}

// showing is a hub whose proxy sends rows, and n viewers that look.
func showing(n int) (h *Hub, proxy *Peer, viewers []*Peer) {
	h = New(nil)
	proxy = h.Join(Member{Role: RoleProxy})
	m := opening("vim-1", "secret")
	proxy.Handle(m)
	for i := range n {
		p := h.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
		p.Handle(&protocol.View{RequestID: "w", SessionID: "vim-1"})
		viewers = append(viewers, p)
	}
	return h, proxy, viewers
}

// Viewers with the same screen get one message, whose frame is made once.
func TestViewersOfOneScreenShareTheFrame(t *testing.T) {
	_, proxy, viewers := showing(3)
	proxy.Handle(rowsOf(1, "a", "b"))
	for _, v := range viewers[:2] {
		_ = allMessages(v)
		v.Handle(&protocol.Ack{SessionID: "vim-1", Seq: 1})
	}
	proxy.Handle(rowsOf(2, "a", "c"))
	one1, one2 := onlyMessage[*protocol.Rows](t, viewers[0]), onlyMessage[*protocol.Rows](t, viewers[1])
	require.Same(t, one1, one2)
	frame, err := protocol.Encode(one1)
	require.NoError(t, err)
	again, err := protocol.Encode(one2)
	require.NoError(t, err)
	require.Same(t, &frame[0], &again[0])
	require.Less(t, len(frame), 250)
}
