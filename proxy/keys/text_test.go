package keys_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/keys"
)

// TestR79CutAct: what a program may act on ends a piece, in every encoding of Enter.
func TestR79CutAct(t *testing.T) {
	for _, c := range []struct {
		in, want string
		acts     bool
	}{
		{"text", "text", false},
		{"sh\ntouch F\n", "sh\n", true},
		{"sh\rtouch F", "sh\r", true},
		{"sh\x1b[13utouch F", "sh\x1b[13u", true},
		{"sh\x1b[106;5utouch", "sh\x1b[106;5u", true}, // ctrl-j
		{"sh\x1b[109;5utouch", "sh\x1b[109;5u", true}, // ctrl-m
		{"sh\x1b[27;5;109~touch", "sh\x1b[27;5;109~", true},
		{"sh\x1bOMtouch", "sh\x1bOM", true}, // the keypad's
		{"sh\x0ftouch", "sh\x0f", true},     // operate-and-get-next
		{"sh\u0085touch", "sh\u0085", true}, // NEL
		{"sh\x8dtouch", "sh\x8d", true},
		{"süß 漢\x7fx", "süß 漢\x7fx", false},
		{"", "", false},
	} {
		n, acts := keys.CutAct([]byte(c.in))
		require.Equal(t, c.want, c.in[:n])
		require.Equal(t, c.acts, acts, "%q", c.in)
	}
}

// TestR65KeysThatOnlyEdit: the arrows and their like edit, but not with Alt, on which fish changes the directory.
func TestR65KeysThatOnlyEdit(t *testing.T) {
	for key, submits := range map[string]bool{
		"\x1b[D": false, "\x1b[1;2D": false, "\x1b[1;5D": false, "\x1b[1;6H": false, "\x1b[1;3D": true, "\x1b[1;9A": true,
		"\x1b[3~": false, "\x1b[3;5~": false, "\x1b[3;2~": true, "\x1b[3;3~": true, "\x1b\x1b[D": true, "\x1b[1;3": true,
	} {
		require.Equal(t, submits, keys.Submits([]byte(key), false), "%q", key)
	}
}
