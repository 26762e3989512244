package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// TestATokenHoldsSoManyBytes: the sessions of one token share a bound, over all of its connections. The
// connection that reaches it is cut off; an ended or smaller screen makes room.
func TestATokenHoldsSoManyBytes(t *testing.T) {
	const screen = 1 << 20
	h := New(nil)
	defer h.Close()
	join := func(token string) *Peer { return h.Join(Member{Role: RoleProxy, ID: token, TokenID: token}) }
	fills := func(p *Peer, id string, bytes int) {
		p.Handle(&protocol.SessionOpen{ID: "o", SessionID: id, Command: "vim", Cols: 80, Rows: 24, StartedAt: 1})
		p.Handle(&protocol.Snapshot{
			ID: "s", SessionID: id, Seq: 1, Keyboard: &protocol.Keyboard{Holder: protocol.HolderUser},
			Screen: &protocol.Screen{Cols: 80, Rows: 1, Lines: []string{strings.Repeat("x", bytes)}},
		})
	}
	first, second := join("one"), join("one")
	for n := range maxHeld / screen {
		fills([]*Peer{first, second}[n%2], fmt.Sprint("s-", n), screen)
	}
	require.NoError(t, first.out.endReason())
	fills(first, "s-0", screen) // the same again
	require.NoError(t, first.out.endReason())

	heavy := join("one")
	fills(heavy, "heavy", 1)
	require.ErrorIs(t, heavy.out.endReason(), ErrHeavy)
	for name, token := range map[string]string{"another token": "two", "the user's own": ""} {
		other := join(token)
		fills(other, "other "+name, 2*screen)
		require.NoError(t, other.out.endReason(), name)
	}

	fills(second, "s-1", screen/2)
	fills(join("one"), "fits", screen/2)
	require.Equal(t, maxHeld, h.held["one"])
	for _, s := range h.sessions {
		h.forgetSession(s)
	}
	require.Empty(t, h.held)
}
