package keys_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/view/corpus"
)

// The user sees exactly what would be sent, with every character visible.
func TestShowR47(t *testing.T) {
	for _, row := range corpus.Rows[struct{ Pieces, Want string }](t, "show") {
		require.Equal(t, row.Want, keys.FormatPieces(bytes.Split([]byte(row.Pieces), []byte("|"))...), "%q", row.Pieces)
	}
	require.Empty(t, keys.FormatPieces())
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{"echo hi\r", "\x1b[1;5A\x1bOP", "\x1b[27;5;99~\xff", "\u202ex\x1b[200~", "\x9b3~", "\x1b[", "\x1b[$"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		shown := keys.FormatPieces(b)
		require.Equal(t, len(b) == 0, shown == "")
		require.False(t, strings.ContainsFunc(shown, func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 }), "%q", shown)
		n := 0
		keys.EachStroke(b, func(s keys.Stroke) {
			n++
			require.NotEqual(t, s.Text == "", s.Key == "")
		})
		require.LessOrEqual(t, n, len(b))
	})
}
