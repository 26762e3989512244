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
			if len(got) == 1 && (got[0].kind == Confirm && !isReclaim || strings.HasSuffix(name, "-lock")) {
				kind = got[0].kind
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
