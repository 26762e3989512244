package keys_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
)

// The sender's bytes are given, and other people's after a ^; a pause is |.
func TestUnclosedR20(t *testing.T) {
	for typed, want := range map[string]string{
		"ls\r": "", "\x1b[A": "", "é": "", "\x1bd": "", "\x1b[200~a\r\x1b[201~": "",
		// a paste
		"\x1b[200~":       "\x1b[201~",
		"\x1b[200~a\x1b[": "201~", "\x1b[200~a\x1b[201": "~", "\x1b[200~\x1b[3": "\x1b[201~",
		"\x1b[200~\xc3": "\x80\x1b[201~", "\x1b[200~a^\x1b[201~": "", "^\x1b[200~a": "",
		// half a key
		"\x1b": "\x00", "\x1b|": "\x00", "\x1b|O": "", "\x1b^d": "", "^\x1b": "",
		"\x1b[": "\x00", "\x1b[20": "\x00", "\x1b[1;5": "\x00", "\x1bO": "\x00", "\x1b[M !": "!",
		"\xc3": "\x80", "\xe2\x82": "\x80", "\xe0": "\xa0\x80", "\xf0": "\xa0\x80\x80", "\xed": "\x80\x80",
		// a button
		"\x1b[<0;3;4M": "\x1b[<0;3;4m", "\x1b[<16;3;4M": "\x1b[<16;3;4m", "\x1b[<0;3;4M\x1b[<0;3;4m": "",
		"\x1b[<0;3;4M\x1b[<32;5;6M": "\x1b[<0;5;6m", "\x1b[<35;5;6M": "", "\x1b[<64;5;6M": "",
		"\x1b[<0;3;4M^\x1b[<0;9;9m": "", "^\x1b[<0;3;4M": "", "\x1b[<0;3;4M^\x1b[<2;9;9M\x1b[<2;9;9m": "\x1b[<0;3;4m",
		"\x1b[M #$": "\x1b[M##$", "\x1b[M #$\x1b[M##$": "", "\x1b[32;3;4M": "\x1b[35;3;4M", "\x1b[32;3;4M\x1b[35;3;4M": "",
		// a key that is held
		"\x1b[57442;5u": "\x1b[57442;5:3u", "\x1b[57442;5u\x1b[57442;1:3u": "", "\x1b[97;5u": "",
		"\x1b[97;1:1u": "\x1b[97;1:3u", "\x1b[1;1:2A": "\x1b[1;1:3A", "\x1b[3;1:1~\x1b[3;1:3~": "",
		"\x1b[65;30;97;1;0;1_": "\x1b[65;30;97;0;0;1_", "\x1b[65;30;97;1;0;1_\x1b[65;30;97;0;0;1_": "",
		// several
		"\x1b[<0;3;4M\x1b[200~": "\x1b[201~\x1b[<0;3;4m",
	} {
		var u keys.Unclosed
		for i, part := range strings.Split(typed, "^") {
			for k, run := range strings.Split(part, "|") {
				if run != "" {
					u.Feed([]byte(run), i == 0, k < strings.Count(part, "|"))
				}
			}
		}
		require.Equal(t, want, string(u.EndUnit())+string(u.EndPaste())+string(u.ReleaseKeys()), "%q", typed)
		require.Equal(t, typed == "^\x1b" || typed == "^\x1b[200~a", u.IsOthersOpen(), "%q", typed)
		u.ForgetKeys()
		require.Empty(t, string(u.EndUnit())+string(u.ReleaseKeys()), "%q", typed)
		require.Equal(t, strings.Contains(want, "~"), u.EndPaste() != nil, "%q: only the paste is still open", typed)
	}
}
