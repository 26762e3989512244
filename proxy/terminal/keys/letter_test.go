package keys_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
)

func TestLetter(t *testing.T) {
	for unit, want := range map[string]byte{
		"h": 'h', "H": 'H', "\x1b[104u": 'h', "\x1b[104;1u": 'h', "\x1b[104;129u": 'h', "\x1b[104;1:1u": 'h', "\x1b[104;1:2u": 'h',
		"\x1b[104;;104u": 'h', "\x1b[104::104;65;104u": 'h',
		"": 0, "hh": 0, "1": 0, "\x1b": 0, "\x1bh": 0, "\x1b[h": 0, "\x1b[104;5u": 0, "\x1b[104;1:3u": 0, "\x1b[27u": 0,
		"\x1b[104~": 0, "\x1b[u": 0, "\x1b[;u": 0, "\x1b[x;1u": 0, "\x1b[104;xu": 0, "é": 0,
	} {
		got, ok := keys.Letter([]byte(unit))
		require.Equal(t, want != 0, ok, "%q", unit)
		if ok {
			require.Equal(t, want, got, "%q", unit)
		}
	}
}
