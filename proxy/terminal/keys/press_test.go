package keys

import (
	"strings"
	"testing"

	"terminalproxy/proxy/view/corpus"

	"github.com/stretchr/testify/require"
)

// The bytes of every kind of key in every kind of mode.
func TestEncode(t *testing.T) {
	modes := map[string]Modes{
		"legacy": {}, "app": {AppCursor: true, AppKeypad: true, Backarrow: true},
		"k1": {KittyFlags: 1, AppCursor: true, ModifyOtherKeys: 2}, "k2": {KittyFlags: 2}, "k5": {KittyFlags: 5}, "k8": {KittyFlags: 8}, "k31": {KittyFlags: 31},
		"mok1": {ModifyOtherKeys: 1}, "mok2": {ModifyOtherKeys: 2}, "fmt2": {ModifyOtherKeys: 2, FormatOtherKeys: true},
	}
	for _, row := range corpus.Rows[struct{ Modes, Name, Want string }](t, "encode") {
		require.Contains(t, modes, row.Modes)
		k := press(t, row.Name)
		require.Equal(t, 1, k.Count)
		got, err := k.Encode(modes[row.Modes])
		require.NoError(t, err)
		require.Equal(t, row.Want, string(got), "%s, %s", row.Name, row.Modes)
	}
}

func press(t testing.TB, name string) Press {
	t.Helper()
	k, err := Parse(name)
	require.NoError(t, err, name)
	return k
}

func TestEncodeRefuses(t *testing.T) {
	for name, modes := range map[string]Modes{
		"ctrl-shift-a": {}, "ctrl-1": {}, "ctrl-é": {}, "ctrl-;": {}, "super-x": {}, "super-up": {}, "shift-enter": {}, "ctrl-enter": {},
		"shift-space": {KittyFlags: 1}, "ctrl-tab": {}, "alt-esc": {}, "ctrl-alt-[": {}, "shift-esc": {}, "shift-alt-tab": {}, "shift-backspace": {},
		"ctrl-f13": {}, "shift-f35": {}, "pause": {}, "ctrl-caps-lock": {ModifyOtherKeys: 2}, "volume-up": {}, "hyper-x": {ModifyOtherKeys: 2}, "ctrl-kp-5": {}, "ctrl-shift-x": {ModifyOtherKeys: 1},
	} {
		k := press(t, name)
		b, err := k.Encode(modes)
		if modes.KittyFlags != 0 { // the spaces are the same character
			require.NoError(t, err)
			require.NotEqual(t, " ", string(b))
			continue
		}
		require.ErrorContains(t, err, name)
		require.Nil(t, b)
	}
	_, err := Press{}.Encode(Modes{})
	require.ErrorContains(t, err, "empty")
}

// The refusal of a key that the mode has no code for says what to do instead.
func TestARefusalSaysWhatToDoInstead(t *testing.T) {
	for name, says := range map[string]string{
		"shift-enter": "alt-enter or ctrl-j", "ctrl-enter": "alt-enter or ctrl-j", "super-x": "leave out super-", "hyper-x": "leave out hyper-",
		"ctrl-shift-x": "leave out shift-", "alt-esc": "send esc by itself", "pause": "the kitty protocol", "ctrl-mute": "the kitty protocol",
	} {
		k := press(t, name)
		_, err := k.Encode(Modes{})
		require.ErrorContains(t, err, says, name)
	}
}

// Text, Enter, or a key that interrupts a program.
func TestWhatAPressIs(t *testing.T) {
	const text, enter, interrupt, other = "text", "enter", "interrupt", ""
	for name, want := range map[string]string{
		"a": text, "A": text, "世": text, "space": text, "c": text, "ctrl-a": other, "alt-a": other, "up": other, "tab": other, "kp-5": other,
		"enter": enter, "kp-enter": enter, "alt-enter": other, "shift-enter": other, "ctrl-j": other,
		"ctrl-c": interrupt, "^C": interrupt, "ctrl-z": interrupt, `ctrl-\`: interrupt, "alt-c": other, "ctrl-alt-c": other, "ctrl-d": other, "esc": other,
	} {
		k := press(t, name)
		require.Equal(t, []bool{want == text, want == enter, want == interrupt}, []bool{k.IsText(), k.IsEnter(), k.Interrupts()}, name)
	}
}

func TestParseRepeat(t *testing.T) {
	for in, want := range map[string]int{"down*3": 3, "**2": 2, "*": 1, "x*1000": 1000, "ctrl-w*2": 2, "ctrl-*": 1} {
		k := press(t, in)
		require.Equal(t, want, k.Count, in)
	}
}

func TestParseErrors(t *testing.T) {
	for in, says := range map[string]string{
		"":                 "empty",
		"down*0":           "1 to 1000",
		"down*1001":        "1 to 1000",
		"down*99999999999": "1 to 1000",
		"entr":             "enter",
		"pagup":            "pageup",
		"ctrl-ctrl-x":      "twice",
		"ctrl-":            "no key is called",
		"hello":            "no key is called",
		"f36":              "near it: f",
		"ctrl-foo":         `"ctrl-foo"`,
		"\x03":             "not a character",
		"\xff":             "not a character",
		"ab\xff":           "no key is called",
	} {
		_, err := Parse(in)
		require.ErrorContains(t, err, says, "%q", in)
		if !strings.Contains(says, "1000") {
			require.ErrorContains(t, err, "a key is one character", "%q", in)
		}
	}
}

// everyName lists every key with every sensible modifier.
func everyName() []string {
	var bases []string
	for _, k := range specials() {
		bases = append(bases, k.name)
	}
	for c := rune(' '); c < 0x7f; c++ {
		bases = append(bases, string(c))
	}
	bases = append(bases, "é", "Я", "漢", "🦊")
	var names []string
	for _, base := range bases {
		for _, mods := range []string{"", "ctrl-", "alt-", "shift-", "ctrl-alt-", "ctrl-shift-", "alt-shift-", "ctrl-alt-shift-", "super-"} {
			names = append(names, mods+base)
		}
	}
	return names
}

func everyMode() []Modes {
	var all []Modes
	for flags := range uint8(32) {
		for level := range uint8(3) {
			all = append(all, Modes{KittyFlags: flags, ModifyOtherKeys: level})
		}
	}
	return append(all, Modes{AppCursor: true, AppKeypad: true, Backarrow: true}, Modes{AppCursor: true, KittyFlags: 2}, Modes{ModifyOtherKeys: 2, FormatOtherKeys: true})
}

// The scanner reads what the encoder writes as one unit, as the reclaim key only if it is that, and
// CutBetweenKeys never tears it.
func TestEveryPressIsOneUnitR12(t *testing.T) {
	c := Bindings{}.WithDefaults().Reclaim
	said := 0
	for _, name := range everyName() {
		k := press(t, name)
		for _, m := range everyMode() {
			b, err := k.Encode(m)
			if err != nil {
				continue
			}
			said++
			var got []seen // not joined: it is one unit
			emit := func(u Unit) { got = append(got, seen{u.Kind, string(u.Bytes)}) }
			s := NewScanner(Bindings{Reclaim: c})
			s.Scan(b, emit)
			s.Flush(emit)
			if strings.HasPrefix(name, "ctrl-alt-") && strings.HasSuffix(string(b), "\x1c") {
				require.Equal(t, []seen{{Key, "\x1b"}, {Reclaim, "\x1c"}}, got, name)
				require.True(t, k.IsReclaim(c, m))
				continue
			}
			isReclaim := k.key == nil && c.matchesReport(k.r, 0, k.mods) || string(b) == "\x1c"
			kind := map[bool]Kind{true: Reclaim, false: Key}[isReclaim]
			if len(got) == 1 && got[0].kind == Confirm && !isReclaim {
				kind = Confirm
			}
			if len(got) != 1 || got[0] != (seen{kind, string(b)}) || k.IsReclaim(c, m) != isReclaim || CutBetweenKeys(b, 1) != len(b) {
				t.Errorf("%s %+v: %q is %v, reclaim key: %v, cut at %d", name, m, b, got, k.IsReclaim(c, m), CutBetweenKeys(b, 1))
			}
		}
	}
	require.Greater(t, said, 50000)
}

func TestEveryNamedReclaimIsSeenR12(t *testing.T) {
	for _, m := range everyMode() {
		for _, name := range []string{`ctrl-\`, `C-\`, `^\`, `ctrl-4`} {
			k := press(t, name)
			require.True(t, k.IsReclaim(CtrlKey{}, m), "%s %+v", name, m)
			require.False(t, k.IsReclaim(reclaimKey(t, "ctrl-]"), m), "%s %+v", name, m)
		}
	}
}

func TestSubmits(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, "ls -l": false, "héllo 漢": false, "\t": true, "a\tb": true, "\x12": true, "\x14": true, "\x7f": false, "\x01\x05\x0b\x15\x17": false, "\x08": false,
		"\x1b[A": false, "\x1bOC": false, "\x1b[1;5D": false, "\x1b[3~": false, "\x1b[Z": true, "\x1b[97;1;10u": true, "\u0085": true, "\x85": true, "\u00a0": false, "\xff": true, "\x1b[133u": true, "\x1b[97u": false, "\x1b[97;2;65u": true,
		"\x1b[27;5;97~": false, "\x1b[127u": false, "\x1b[9;2u": true, "\x1b[57404u": false, "\x1b[200~ls\x1b[201~": false, "\x1bOu": false,
		"\r": true, "\n": true, "ls\r": true, "\x03": true, "\x04": true, "\x1a": true, "\x1c": true, "\x0f": true, "\x00": true,
		"\x11": true, "\x13": true, "\x16": true, "\x18": true, "\x07": true,
		"\x1b": true, "\x1bx": true, "\x1b\r": true, "\x1b[13u": true, "\x1b[27u": true, "\x1b[99;5u": true, "\x1b[27;5;99~": true,
		"\x1b[27;2;13~": true, "\x1b[57414u": true, "\x1bOM": true, "\x1b[120;3u": true, "\x1bOP": true, "\x1b[15~": true, "\x9b13u": true,
		"\x1b[200~ls\r\x1b[201~": true, "\x1b[<0;1;1M": true, "\x1b[92;5u": true, "ab\x1b[": true, "\x1b]0;x\x07": true, "\x1b[?1;2c": true,
		"\x1b[99;6u": true, "\x1b[97;13u": true, "\x9b": true, "\x1b[": true,
	} {
		require.Equal(t, want, MaySubmit([]byte(in), false), "%q", in)
	}
	require.False(t, MaySubmit([]byte("make \t"), true), "the kernel's line takes a tab as it is")
}

func TestCleanPaste(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext":            "plain\ttext",
		"a\nb\r\nc\rd":           "a\rb\rc\rd",
		"a\n\r\nb":               "a\r\rb",
		"x\x1b[201~rm -rf\x1b":   "x[201~rm -rf",
		"x\u009b201~y\x9b201~z":  "x201~y201~z",
		"\xc2\x1b\x9b201~":       "\uFFFD201~",
		"\x00\x03\x1c\x7f\x07ok": "ok",
		"héllo 漢 \u00a0":         "héllo 漢 \u00a0",
		"\uFFFD\xff":             "\uFFFD\uFFFD",
	} {
		require.Equal(t, want, CleanPaste(in), "%q", in)
	}
}

func TestCut(t *testing.T) {
	long := "\x1b]52;c;" + strings.Repeat("A", 300) + "\x07"
	for _, c := range []struct {
		in   string // | marks the cut
		most int
	}{
		{"|", 64},
		{"abc|", 64},
		{"abcd|ef", 4},
		{"a|é", 2},
		{"é|", 1},
		{"ab|\x1b[1;5Dc", 6},
		{"ab\x1b[1;5D|c", 8},
		{"\x1b[1;5D|c", 3},
		{"a|\x1bOAb", 3},
		{"a|\x1béb", 3},
		{"\x1b|\x1b[A", 2},
		{"\x1b[3$|ab", 4},
		{"\x1b[4;2$y|ab", 5},
		{"\x1b[M !!|a", 4},
		{"\x1b]11;x\x07|a", 4},
		{"\x1b]11;x\x1b\\|a", 4},
		{"\x1b]he|llo", 4},
		{long[:64] + "|" + long[64:], 64},
		{"a|" + long, 64},
		{"\x1b[" + strings.Repeat("1", 60) + "|", 64},
		{strings.Repeat("漢", 21) + "|" + strings.Repeat("漢", 9), 64},
		{"a|", 0},
	} {
		want, rest, _ := strings.Cut(c.in, "|")
		require.Equal(t, len(want), CutBetweenKeys([]byte(want+rest), c.most), "%q at %d", c.in, c.most)
	}
}

// The pieces that CutBetweenKeys makes are scanned to the same units as the whole, each piece leaving nothing
// open.
func TestCutAgreesWithScanner(t *testing.T) {
	for _, v := range vectors(t) {
		if len(v.in) > maxWhole {
			continue
		}
		in := []byte("ab" + v.in + "cdé" + v.in + "f")
		for most := 1; most < len(in); most++ {
			s := NewScanner(Bindings{})
			for rest := in; len(rest) > 0; {
				n := CutBetweenKeys(rest, most)
				s.Scan(rest[:n], func(Unit) {})
				require.Nil(t, s.HeldBytes(), "%s at %d: %q", v.name, most, rest[:n])
				rest = rest[n:]
			}
		}
	}
}
