package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/keys"
)

// TestKeysGetTheTimeThatTheyNeed: an Escape to be seen alone, an interrupt to throw away only what came before it, and a
// text to be taken before its Enter.
func TestKeysGetTheTimeThatTheyNeed(t *testing.T) {
	for names, want := range map[string]string{
		"a b enter":          `"a" 0s, "b" 250ms, "\r" 0s`,
		"y kp-enter":         `"y" 250ms, "\r" 0s`,
		"a*2 enter*2":        `"a" 0s, "a" 250ms, "\r" 0s, "\r" 0s`,
		"down enter":         `"\x1b[B" 0s, "\r" 0s`,
		"a down enter":       `"a" 0s, "\x1b[B" 0s, "\r" 0s`,
		"a alt-enter ctrl-j": `"a" 0s, "\x1b\r" 0s, "\n" 0s`,
		"esc : w enter":      `"\x1b" 60ms, ":" 0s, "w" 250ms, "\r" 0s`,
		"ctrl-c up enter":    `"\x03" 60ms, "\x1b[A" 0s, "\r" 0s`,
		"ctrl-c enter":       `"\x03" 60ms, "\r" 0s`,
	} {
		pieces, err := keyPieces(names, keys.Modes{}, keys.Chord{}, true)
		require.NoError(t, err, names)
		var got []string
		for _, p := range pieces {
			got = append(got, fmt.Sprintf("%q %v", p.Bytes, p.Gap.Round(time.Millisecond)))
		}
		require.Equal(t, want, strings.Join(got, ", "), names)
	}
}
