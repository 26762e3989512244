package keys

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEncode(t *testing.T) {
	var (
		legacy = Modes{}
		app    = Modes{AppCursor: true, AppKeypad: true, Backarrow: true}
		k1     = Modes{KittyFlags: 1, AppCursor: true, ModifyOtherKeys: 2}
		k2     = Modes{KittyFlags: 2}
		k5     = Modes{KittyFlags: 5}
		k8     = Modes{KittyFlags: 8}
		k31    = Modes{KittyFlags: 31}
		mok1   = Modes{ModifyOtherKeys: 1}
		mok2   = Modes{ModifyOtherKeys: 2}
		fmt2   = Modes{ModifyOtherKeys: 2, FormatOtherKeys: true}
	)
	tests := []struct {
		name  string
		modes Modes
		want  string
	}{
		{"a", legacy, "a"},
		{"A", legacy, "A"},
		{"é", legacy, "é"},
		{"漢", legacy, "漢"},
		{"İ", legacy, "İ"},
		{"-", legacy, "-"},
		{"*", legacy, "*"},
		{"^", legacy, "^"},
		{"+", legacy, "+"},
		{"shift-a", legacy, "A"},
		{"shift-1", legacy, "!"},
		{"space", legacy, " "},
		{" ", legacy, " "},
		{"ctrl-space", legacy, "\x00"},
		{"ctrl-@", legacy, "\x00"},
		{"alt-space", legacy, "\x1b "},
		{"ctrl-c", legacy, "\x03"},
		{"C-c", legacy, "\x03"},
		{"^C", legacy, "\x03"},
		{"Ctrl+C", legacy, "\x03"},
		{"ctrl-C", legacy, "\x03"},
		{"^[", legacy, "\x1b"},
		{"^?", legacy, "\x7f"},
		{"^^", legacy, "\x1e"},
		{`ctrl-\`, legacy, "\x1c"},
		{"ctrl-]", legacy, "\x1d"},
		{"ctrl-_", legacy, "\x1f"},
		{"ctrl-/", legacy, "\x1f"},
		{"ctrl-4", legacy, "\x1c"},
		{"ctrl-8", legacy, "\x7f"},
		{"alt-x", legacy, "\x1bx"},
		{"M-x", legacy, "\x1bx"},
		{"alt-X", legacy, "\x1bX"},
		{"alt-shift-x", legacy, "\x1bX"},
		{"alt-é", legacy, "\x1bé"},
		{"ctrl-alt-x", legacy, "\x1b\x18"},
		{"esc", legacy, "\x1b"},
		{"Escape", legacy, "\x1b"},
		{"enter", legacy, "\r"},
		{"Return", legacy, "\r"},
		{"alt-enter", legacy, "\x1b\r"},
		{"tab", legacy, "\t"},
		{"alt-tab", legacy, "\x1b\t"},
		{"shift-tab", legacy, "\x1b[Z"},
		{"backtab", legacy, "\x1b[Z"},
		{"backspace", legacy, "\x7f"},
		{"ctrl-backspace", legacy, "\b"},
		{"alt-backspace", legacy, "\x1b\x7f"},
		{"backspace", app, "\b"},
		{"ctrl-backspace", app, "\x7f"},
		{"delete", legacy, "\x1b[3~"},
		{"insert", legacy, "\x1b[2~"},
		{"shift-delete", legacy, "\x1b[3;2~"},
		{"pgup", legacy, "\x1b[5~"},
		{"PageDown", legacy, "\x1b[6~"},
		{"up", legacy, "\x1b[A"},
		{"up", app, "\x1bOA"},
		{"shift-up", app, "\x1b[1;2A"},
		{"ctrl-left", legacy, "\x1b[1;5D"},
		{"ctrl-alt-shift-right", legacy, "\x1b[1;8C"},
		{"home", legacy, "\x1b[H"},
		{"home", app, "\x1bOH"},
		{"end", legacy, "\x1b[F"},
		{"f1", legacy, "\x1bOP"},
		{"F4", legacy, "\x1bOS"},
		{"ctrl-f1", legacy, "\x1b[1;5P"},
		{"f5", legacy, "\x1b[15~"},
		{"f12", legacy, "\x1b[24~"},
		{"shift-f5", legacy, "\x1b[15;2~"},
		{"f13", legacy, "\x1b[1;2P"},
		{"f24", legacy, "\x1b[24;2~"},
		{"kp-enter", legacy, "\r"},
		{"kp-enter", app, "\x1bOM"},
		{"kp-5", legacy, "5"},
		{"kp-5", app, "\x1bOu"},
		{"kp-plus", app, "\x1bOk"},
		{"f25", legacy, "\x1b[1;5P"},
		{"f35", legacy, "\x1b[23;5~"},
		{"menu", legacy, "\x1b[29~"},
		{"kp-left", legacy, "\x1b[D"},
		{"kp-left", app, "\x1bOD"},
		{"shift-kp-left", legacy, "\x1b[1;2D"},
		{"kp-begin", legacy, "\x1b[E"},
		{"kp-pgup", legacy, "\x1b[5~"},

		{"a", k1, "a"},
		{"A", k1, "A"},
		{"esc", k1, "\x1b[27u"},
		{"alt-esc", k1, "\x1b[27;3u"},
		{"enter", k1, "\r"},
		{"tab", k1, "\t"},
		{"backspace", k1, "\x7f"},
		{"shift-enter", k1, "\x1b[13;2u"},
		{"shift-tab", k1, "\x1b[9;2u"},
		{"ctrl-backspace", k1, "\x1b[127;5u"},
		{"ctrl-c", k1, "\x1b[99;5u"},
		{"ctrl-shift-c", k1, "\x1b[99;6u"},
		{"ctrl-space", k1, "\x1b[32;5u"},
		{`ctrl-\`, k1, "\x1b[92;5u"},
		{`ctrl-alt-\`, k1, "\x1b[92;7u"},
		{"alt-X", k1, "\x1b[120;4u"},
		{"super-x", k1, "\x1b[120;9u"},
		{"up", k1, "\x1b[A"},
		{"f1", k1, "\x1b[P"},
		{"f3", k1, "\x1b[13~"},
		{"ctrl-f3", k1, "\x1b[13;5~"},
		{"f13", k1, "\x1b[57376u"},
		{"ctrl-f24", k1, "\x1b[57387;5u"},
		{"kp-5", k1, "\x1b[57404u"},
		{"f25", k1, "\x1b[57388u"},
		{"f35", k1, "\x1b[57398u"},
		{"menu", k1, "\x1b[57363u"},
		{"pause", k1, "\x1b[57362u"},
		{"ctrl-print-screen", k1, "\x1b[57361;5u"},
		{"kp-left", k1, "\x1b[57417u"},
		{"shift-kp-begin", k1, "\x1b[57427;2u"},
		{"media-play-pause", k1, "\x1b[57430u"},
		{"mute", k1, "\x1b[57440u"},
		{"hyper-x", k1, "\x1b[120;17u"},
		{"super-up", k1, "\x1b[1;9A"},
		{"kp-enter", k1, "\x1b[57414u"},
		{"ctrl-c", k2, "\x03"},
		{"super-x", k2, "\x1b[120;9u"},
		{"alt-X", k5, "\x1b[120:88;4u"},
		{"ctrl-_", k5, "\x1b[45:95;6u"},
		{"a", k8, "\x1b[97u"},
		{"A", k8, "\x1b[97;2u"},
		{"enter", k8, "\x1b[13u"},
		{"tab", k8, "\x1b[9u"},
		{"backspace", k8, "\x1b[127u"},
		{"esc", k8, "\x1b[27u"},
		{"shift-space", k8, "\x1b[32;2u"},
		{"a", k31, "\x1b[97;;97u"},
		{"A", k31, "\x1b[97:65;2;65u"},
		{"!", k31, "\x1b[49:33;2;33u"},
		{"ctrl-a", k31, "\x1b[97;5u"},
		{"kp-5", k31, "\x1b[57404;;53u"},
		{"kp-enter", k31, "\x1b[57414u"},

		{"ctrl-c", mok1, "\x03"},
		{"alt-x", mok1, "\x1bx"},
		{"ctrl-1", mok1, "\x1b[27;5;49~"},
		{"ctrl-!", mok1, "\x1b[27;6;33~"},
		{"shift-enter", mok1, "\x1b[27;2;13~"},
		{"ctrl-tab", mok1, "\x1b[27;5;9~"},
		{"A", mok1, "A"},
		{"up", mok1, "\x1b[A"},
		{"a", mok2, "a"},
		{"A", mok2, "A"},
		{"ctrl-c", mok2, "\x1b[27;5;99~"},
		{"ctrl-shift-c", mok2, "\x1b[27;6;67~"},
		{"alt-x", mok2, "\x1b[27;3;120~"},
		{`ctrl-\`, mok2, "\x1b[27;5;92~"},
		{"enter", mok2, "\r"},
		{"esc", mok2, "\x1b"},
		{"shift-tab", mok2, "\x1b[Z"},
		{"ctrl-backspace", mok2, "\b"},
		{"shift-space", mok2, "\x1b[27;2;32~"},
		{"ctrl-c", fmt2, "\x1b[99;5u"},
		{"ctrl-shift-c", fmt2, "\x1b[67;6u"},
		{"shift-enter", fmt2, "\x1b[13;2u"},
		{"ctrl-up", fmt2, "\x1b[1;5A"},
		{"esc", fmt2, "\x1b"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %+v", tt.name, tt.modes), func(t *testing.T) {
			k, err := Parse(tt.name)
			require.NoError(t, err)
			require.Equal(t, 1, k.Count)
			got, err := k.Encode(tt.modes)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, modes := range map[string]Modes{
		"ctrl-shift-a": {}, "ctrl-1": {}, "ctrl-é": {}, "ctrl-;": {}, "super-x": {}, "super-up": {}, "shift-enter": {}, "ctrl-enter": {},
		"shift-space": {KittyFlags: 1}, "ctrl-tab": {}, "alt-esc": {}, "ctrl-alt-[": {}, "shift-esc": {}, "shift-alt-tab": {}, "shift-backspace": {},
		"ctrl-f13": {}, "shift-f35": {}, "pause": {}, "ctrl-caps-lock": {ModifyOtherKeys: 2}, "volume-up": {}, "hyper-x": {ModifyOtherKeys: 2}, "ctrl-kp-5": {}, "ctrl-shift-x": {ModifyOtherKeys: 1},
	} {
		k, err := Parse(name)
		require.NoError(t, err, name)
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

// TestARefusalSaysWhatToDoInstead: of a key that the mode has no code for.
func TestARefusalSaysWhatToDoInstead(t *testing.T) {
	for name, says := range map[string]string{
		"shift-enter": "alt-enter or ctrl-j", "ctrl-enter": "alt-enter or ctrl-j", "super-x": "leave out super-", "hyper-x": "leave out hyper-",
		"ctrl-shift-x": "leave out shift-", "alt-esc": "send esc by itself", "pause": "the kitty protocol", "ctrl-mute": "the kitty protocol",
	} {
		k, err := Parse(name)
		require.NoError(t, err, name)
		_, err = k.Encode(Modes{})
		require.ErrorContains(t, err, says, name)
	}
}

func TestIsTextIsEnter(t *testing.T) {
	for name, want := range map[string][2]bool{
		"a": {true}, "A": {true}, "世": {true}, "space": {true}, "ctrl-a": {}, "alt-a": {}, "up": {}, "tab": {}, "kp-5": {},
		"enter": {false, true}, "kp-enter": {false, true}, "alt-enter": {}, "shift-enter": {}, "ctrl-j": {},
	} {
		k, err := Parse(name)
		require.NoError(t, err, name)
		require.Equal(t, want, [2]bool{k.IsText(), k.IsEnter()}, name)
	}
}

func TestInterrupts(t *testing.T) {
	for name, want := range map[string]bool{
		"ctrl-c": true, "^C": true, "ctrl-z": true, `ctrl-\`: true, "c": false, "alt-c": false, "ctrl-alt-c": false, "ctrl-d": false, "esc": false,
	} {
		k, err := Parse(name)
		require.NoError(t, err, name)
		require.Equal(t, want, k.Interrupts(), name)
	}
}

func TestParseRepeat(t *testing.T) {
	for in, want := range map[string]int{"down*3": 3, "**2": 2, "*": 1, "x*1000": 1000, "ctrl-w*2": 2, "ctrl-*": 1} {
		k, err := Parse(in)
		require.NoError(t, err, in)
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
	for _, k := range specials {
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

// TestR12EveryPressIsOneUnit: what the encoder writes, the scanner reads as one
// unit, as the reclaim key if and only if it is that, and Cut never tears it.
func TestR12EveryPressIsOneUnit(t *testing.T) {
	c := ReclaimKey{}.orDefault()
	said := 0
	for _, name := range everyName() {
		k, err := Parse(name)
		require.NoError(t, err, name)
		for _, m := range everyMode() {
			b, err := k.Encode(m)
			if err != nil {
				continue
			}
			said++
			require.NotEmpty(t, b)
			var got []seen
			emit := func(u Unit) { got = append(got, seen{u.Kind, string(u.Bytes)}) }
			s := NewScanner(c)
			s.Scan(b, emit)
			s.Flush(emit)
			if strings.HasPrefix(name, "ctrl-alt-") && strings.HasSuffix(string(b), "\x1c") {
				require.Equal(t, []seen{{Key, "\x1b"}, {Reclaim, "\x1c"}}, got, name)
				require.True(t, k.IsReclaim(c, m))
				continue
			}
			require.Len(t, got, 1, "%s %+v %q", name, m, b)
			isReclaim := k.key == nil && c.matches(k.r, 0, k.mods) || string(b) == "\x1c"
			require.Equal(t, isReclaim, got[0].kind == Reclaim, "%s %+v %q", name, m, b)
			require.Equal(t, isReclaim, k.IsReclaim(c, m), "%s %+v %q", name, m, b)
			require.Contains(t, []Kind{Key, Reclaim, Confirm}, got[0].kind, "%s %+v %q", name, m, b)
			require.Equal(t, len(b), Cut(b, 1), "%s %+v %q", name, m, b)
		}
	}
	require.Greater(t, said, 50000)
}

func TestR12EveryNamedReclaimIsSeen(t *testing.T) {
	for _, m := range everyMode() {
		for _, name := range []string{`ctrl-\`, `C-\`, `^\`, `ctrl-4`} {
			k, err := Parse(name)
			require.NoError(t, err)
			require.True(t, k.IsReclaim(ReclaimKey{}, m), "%s %+v", name, m)
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
		require.Equal(t, want, Submits([]byte(in), false), "%q", in)
	}
	require.False(t, Submits([]byte("make \t"), true), "the kernel's line takes a tab as it is")
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
	tests := []struct {
		in   string
		most int
		want int
	}{
		{"", 64, 0},
		{"abc", 64, 3},
		{"abcdef", 4, 4},
		{"aé", 2, 1},
		{"é", 1, 2},
		{"ab\x1b[1;5Dc", 6, 2},
		{"ab\x1b[1;5Dc", 8, 8},
		{"\x1b[1;5Dc", 3, 6},
		{"a\x1bOAb", 3, 1},
		{"a\x1béb", 3, 1},
		{"\x1b\x1b[A", 2, 1},
		{"\x1b[3$ab", 4, 4},
		{"\x1b[4;2$yab", 5, 7},
		{"\x1b[M !!a", 4, 6},
		{"\x1b]11;x\x07a", 4, 7},
		{"\x1b]11;x\x1b\\a", 4, 8},
		{"\x1b]hello", 4, 4},
		{long, 64, 64},
		{"a" + long, 64, 1},
		{"\x1b[" + strings.Repeat("1", 60), 64, 62},
		{strings.Repeat("漢", 30), 64, 63},
		{"a", 0, 1},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, Cut([]byte(tt.in), tt.most), "%q at %d", tt.in, tt.most)
	}
}

// TestCutAgreesWithScanner: pieces that Cut makes are scanned to the same units as
// the whole, each piece leaving nothing open.
func TestCutAgreesWithScanner(t *testing.T) {
	for _, v := range vectors {
		if len(v.in) > maxWhole {
			continue
		}
		in := []byte("ab" + v.in + "cdé" + v.in + "f")
		for most := 1; most < len(in); most++ {
			s := NewScanner(ReclaimKey{})
			for rest := in; len(rest) > 0; {
				n := Cut(rest, most)
				s.Scan(rest[:n], func(Unit) {})
				require.Nil(t, s.Held(), "%s at %d: %q", v.name, most, rest[:n])
				rest = rest[n:]
			}
		}
	}
}
