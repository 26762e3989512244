package protocol

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// However a screen changed, a peer with an older screen gets the new one from the difference, over
// the wire.
func TestADifferenceOfRowsGivesTheScreen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // not for secrets
	word := func() string { return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(40)) }
	screen := func(seq uint64, rows int) *Rows {
		m := &Rows{SessionID: "x", Seq: seq, Cols: 80, Rows: rows, State: &ViewState{Title: word()[:0]}}
		for range rows {
			m.Lines = append(m.Lines, word())
		}
		return m
	}
	old := screen(1, 24)
	parts := 0
	for seq := range uint64(500) {
		next := screen(seq+2, 24)
		switch r.IntN(5) {
		case 0: // another size
			next = screen(seq+2, 1+r.IntN(30))
		case 1: // scrolled
			n := r.IntN(len(old.Lines))
			next.Lines, next.Rows = append(slices.Clone(old.Lines[n:]), next.Lines[:min(n, 24)]...), len(old.Lines)
			next.Lines = append(next.Lines, make([]string, max(0, next.Rows-len(next.Lines)))...)
		case 2: // a row
			next.Lines, next.Rows = slices.Clone(old.Lines), old.Rows
			next.Lines[r.IntN(next.Rows)] = word()
		case 3: // cleared
			next.Lines = make([]string, next.Rows)
		}
		frame, err := Encode(next.Difference(old))
		require.NoError(t, err)
		m, err := Decode(frame, MaxMessage)
		require.NoError(t, err)
		got, ok := m.(*Rows).Complete(old)
		require.True(t, ok)
		require.Equal(t, next, got)
		if m.(*Rows).Since > 0 {
			parts++
			_, ok = m.(*Rows).Complete(nil)
			require.False(t, ok)
		}
		old = next
	}
	require.Greater(t, parts, 100)
}

// The fast path for acks accepts what the general one accepts, with the same result.
func TestAcksAreReadAsOthers(t *testing.T) {
	const begin = `{"type":"terminal.ack","sessionId":"`
	for frame, short := range map[string]bool{
		begin + `vim-1","seq":1}`: true, begin + `vim-1","seq":18446744073709551615}`: true, begin + `vim-1","seq":0}`: true,
		begin + `vim-1","seq":1} `: false, begin + `vim-1","seq":1`: false, begin + `vim-1","seq":01}`: false, begin + `vim-1","seq":-1}`: false, begin + `vim-1","seq":+1}`: false,
		begin + `vim-1","seq":18446744073709551616}`: false, begin + `vim-1","seq":1.0}`: false, begin + `vim-1","seq":1_0}`: false, begin + `vim-1","seq":}`: false,
		begin + `vim-1","seq":1,"seq":2}`: false, begin + `vim-1","seq":1}}`: false, begin + `","seq":1}`: false, begin + `vim 1","seq":1}`: false, begin + `a\"b","seq":1}`: false,
		begin + "\xff" + `","seq":1}`: false, begin + `vim-1"}`: false, begin: false, `{"type":"terminal.ack","seq":1,"sessionId":"vim-1"}`: false,
	} {
		got := plainAck([]byte(frame))
		require.Equal(t, short, got != nil, frame)
		long, err := Decode([]byte(strings.Replace(frame, "{", "{ ", 1)), MaxMessage)
		if short {
			require.NoError(t, err, frame)
			require.Equal(t, long, got, frame)
		}
	}
}
