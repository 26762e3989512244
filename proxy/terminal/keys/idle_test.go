package keys_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
)

// A released key, and a modifier alone, are not typing.
func TestIdle(t *testing.T) {
	for unit, want := range map[string]bool{
		"\x1b[103;5:3u": true, "\x1b[57442;5u": true, "\x1b[57442;1:3u": true, "\x1b[57358u": true, "\x1b[1;1:3A": true, "\x1b[3;1:3~": true,
		"\x1b[17;29;0;1;8;1_": true, "\x1b[71;34;7;0;8;1_": true, "\x1b[16;42;0;1;16;1_": true,
		"\x1b[103;5u": false, "\x1b[97u": false, "\x1b[97;1:2u": false, "\x1b[1;5A": false, "\x1b[3~": false, "\x1b[65;30;97;1;0;1_": false,
		"a": false, "": false, "\x1b": false, "\x1ba": false, "\x1b[?1;3u": false, "\x1bOA": false,
	} {
		require.Equal(t, want, keys.TypesNothing([]byte(unit)), "%q", unit)
	}
}
