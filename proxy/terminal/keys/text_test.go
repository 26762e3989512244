package keys_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
)

// A piece ends with what a program may act on, in every encoding of Enter.
func TestCutActR79(t *testing.T) {
	for _, in := range []string{ // | stands after what is acted on
		"text", "", "süß 漢\x7fx", "sh\n|touch F\n", "sh\r|touch F", "sh\x1b[13u|touch F", "sh\x1b[106;5u|as ctrl-j", "sh\x1b[109;5u|as ctrl-m",
		"sh\x1b[27;5;109~|touch", "sh\x1bOM|the keypad's", "sh\x0f|operate-and-get-next", "sh\u0085|NEL", "sh\x8d|touch",
	} {
		want, rest, cut := strings.Cut(in, "|")
		n, acts := keys.CutAct([]byte(want + rest))
		require.Equal(t, len(want), n, in)
		require.Equal(t, cut, acts, "%q", in)
	}
}

// The arrows and similar keys edit, but not with Alt, with which fish changes the directory.
func TestKeysThatOnlyEditR65(t *testing.T) {
	for key, submits := range map[string]bool{
		"\x1b[D": false, "\x1b[1;2D": false, "\x1b[1;5D": false, "\x1b[1;6H": false, "\x1b[1;3D": true, "\x1b[1;9A": true,
		"\x1b[3~": false, "\x1b[3;5~": false, "\x1b[3;2~": true, "\x1b[3;3~": true, "\x1b\x1b[D": true, "\x1b[1;3": true,
	} {
		require.Equal(t, submits, keys.MaySubmit([]byte(key), false), "%q", key)
	}
}

// Text has no control character, no sequence, and no byte that is not UTF-8.
func TestTextLenR65(t *testing.T) {
	for _, in := range []string{"text|", "|", "süß 漢|\x7fx", "a|\rb", "a|\x1b[201~", "ä|\u009b201~", "ä|\x9b201~", "a|\t", "ᱣ|\xe1\xb1", "\ufffd|"} {
		want, rest, _ := strings.Cut(in, "|")
		require.Equal(t, len(want), keys.TextLen([]byte(want+rest)), "%q", in)
	}
}
