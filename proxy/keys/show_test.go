package keys_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/keys"
)

// TestR47Show: what would be sent, exactly and visibly.
func TestR47Show(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"echo hi\r"}, `"echo hi"<Enter>`},
		{[]string{"echo ", "hi", "\r"}, `"echo hi"<Enter>`},
		{[]string{"\x03"}, "<Ctrl-C>"},
		{[]string{"a\x04b"}, `"a"<Ctrl-D>"b"`},
		{[]string{"\x1b", "[A"}, `<Esc>"[A"`},
		{[]string{"\x1b[A"}, "<Up>"},
		{[]string{"\x1bOA"}, "<Up>"},
		{[]string{"\x1b[A", "\x1b[A", "\x1bOA"}, "<Up×3>"},
		{[]string{"\x1b[1;5C"}, "<Ctrl-Right>"},
		{[]string{"\x1b[5~\x1b[3;2~"}, "<PageUp><Shift-Delete>"},
		{[]string{"\x1b[Z\t"}, "<Shift-Tab><Tab>"},
		{[]string{"\x1bOP\x1b[15~"}, "<F1><F5>"},
		{[]string{"\x1bOM"}, "<KP-Enter>"},
		{[]string{"\x1bx\x1bX\x1b\r"}, "<Alt-x><Alt-X><Alt-Enter>"},
		{[]string{"\x1b[13u"}, "<Enter>"},
		{[]string{"\x1b[13;2u"}, "<Shift-Enter>"},
		{[]string{"\x1b[99;5u"}, "<Ctrl-C>"},
		{[]string{"\x1b[99;69u"}, "<Ctrl-C>"},
		{[]string{"\x1b[27;5;99~"}, "<Ctrl-C>"},
		{[]string{"\x1b[97u\x1b[98;;98u\x1b[99:67;2u"}, `"abC"`},
		{[]string{"\x1b[13;1:3u"}, "<release of Enter>"},
		{[]string{"\x07"}, "<Ctrl-G>"},
		{[]string{"\x00\n\x7f\x08"}, "<Ctrl-Space><Ctrl-J><Backspace><Ctrl-H>"},
		{[]string{"\x1b[200~a\x1b[201~"}, `<paste begins>"a"<paste ends>`},
		// What is no key in its usual form stands there as it is.
		{[]string{"\x1b[99z"}, `<\x1b[99z>`},
		{[]string{"\x1b[1;1;99A"}, `<\x1b[1;1;99A>`},
		{[]string{"\x1b[?5~"}, `<\x1b[?5~>`},
		{[]string{"\x1b]0;x\x07"}, `<\x1b]0;x\a>`},
		{[]string{"\xff\xfe"}, `<\xff><\xfe>`},
		{[]string{"\x1b[120;5;65u"}, `<\x1b[120;5;65u>`},
		// Nothing hides, and quotes end where they seem to.
		{[]string{`say "x" \o/`}, `"say \"x\" \\o/"`},
		{[]string{"ls\u200b \u202erm\u00a0\U000e0041\u3164\u0301"}, `"ls\u200b \u202erm\u00a0\U000e0041\u3164\u0301"`},
		{[]string{"größe 世界"}, `"größe 世界"`},
		{nil, ""},
	} {
		pieces := make([][]byte, len(c.pieces))
		for i, p := range c.pieces {
			pieces[i] = []byte(p)
		}
		require.Equal(t, c.want, keys.Show(pieces...), "%q", c.pieces)
	}
}

// TestEveryNamedKeyShows: what an agent can name, the user can read.
func TestEveryNamedKeyShows(t *testing.T) {
	modes := []keys.Modes{{}, {AppCursor: true, AppKeypad: true}, {KittyFlags: 1}, {KittyFlags: 31}, {ModifyOtherKeys: 2}}
	for name, want := range map[string]string{
		"enter": "<Enter>", "tab": "<Tab>", "esc": "<Esc>", "backspace": "<Backspace>", "up": "<Up>", "home": "<Home>",
		"pageup": "<PageUp>", "delete": "<Delete>", "f1": "<F1>", "f12": "<F12>", "ctrl-c": "<Ctrl-C>", "ctrl-z": "<Ctrl-Z>",
		"alt-x": "<Alt-x>", "ctrl-up": "<Ctrl-Up>", "a": `"a"`, "shift-tab": "<Shift-Tab>", "ctrl-space": "<Ctrl-Space>",
	} {
		press, err := keys.Parse(name)
		require.NoError(t, err)
		for _, m := range modes {
			b, err := press.Encode(m)
			require.NoError(t, err)
			require.Equal(t, want, keys.Show(b), "%s in %+v: %q", name, m, b)
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{"echo hi\r", "\x1b[1;5A\x1bOP", "\x1b[27;5;99~\xff", "\u202ex\x1b[200~", "\x9b3~", "\x1b[", "\x1b[$"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		shown := keys.Show(b)
		require.Equal(t, len(b) == 0, shown == "")
		require.False(t, strings.ContainsFunc(shown, func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 }), "%q", shown)
		n := 0
		keys.Strokes(b, func(s keys.Stroke) {
			n++
			require.NotEqual(t, s.Text == "", s.Key == "")
		})
		require.LessOrEqual(t, n, len(b))
	})
}
