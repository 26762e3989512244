package filter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/filter"
	"terminalproxy/proxy/screen"
)

// TestR67ColorsAreKeptBack: what sets a colour comes later, the last for each; what asks for one, and all else, passes.
func TestR67ColorsAreKeptBack(t *testing.T) {
	for name, c := range map[string]struct{ in, passes, later string }{
		"text":              {"a\x1b[31mb\x1b]0;t\ac", "a\x1b[31mb\x1b]0;t\ac", ""},
		"one":               {"a\x1b]4;1;red\ab", "ab", "\x1b]4;1;red\a"},
		"the last":          {"\x1b]4;1;red\a\x1b]11;#000\x1b\\\x1b]4;1;blue\x1b\\", "", "\x1b]11;#000\x1b\\\x1b]4;1;blue\x1b\\"},
		"a list":            {"\x1b]4;1;red;2;green\a\x1b]104;1\a", "", "\x1b]4;2;green\a\x1b]104;1\a"},
		"all reset":         {"\x1b]4;1;red;300;x\a\x1b]10;red\a\x1b]104\a\x1b]4;2;blue\a", "", "\x1b]10;red\a\x1b]104\a\x1b]4;2;blue\a"},
		"asks":              {"\x1b]11;?\x1b\\x\x1b]4;7;?\a", "\x1b]11;?\x1b\\x\x1b]4;7;?\a", ""},
		"asks and sets":     {"\x1b]10;red;?;blue\a\x1b]4;1;?;2;red\a", "\x1b]11;?\a\x1b]4;1;?\a", "\x1b]10;red\a\x1b]12;blue\a\x1b]4;2;red\a"},
		"default again":     {"\x1b]11;red\a\x1b]111\a", "", "\x1b]111\a"},
		"kitty":             {"\x1b]21;foreground=red;background=?;3=blue\x1b\\", "\x1b]21;background=?\x1b\\", "\x1b]21;foreground=red\x1b\\\x1b]21;3=blue\x1b\\"},
		"iTerm2":            {"\x1b]1337;SetColors=bg=fff\ax\x1b]1337;CurrentDir=/\a", "x\x1b]1337;CurrentDir=/\a", "\x1b]1337;SetColors=bg=fff\a"},
		"saved, restored":   {"\x1b[#P\x1b]4;1;red\a\x1b[#Q\x1b]4;1;red\a\x1b[P", "\x1b[P", "\x1b[#P\x1b]4;1;red\a\x1b[#Q\x1b]4;1;red\a"},
		"C1":                {"\u009d4;1;red\u009cx", "x", "\x1b]4;1;red\x1b\\"},
		"taken back":        {"\x1b]4;1;red\x18x", "x", ""},
		"special":           {"\x1b]5;0;red\a\x1b]6;0;1\a\x1b]106;0;0\a", "", "\x1b]5;0;red\a\x1b]106;0;0\a"},
		"a link, a mark":    {"\x1b]8;;http://x\a\x1b]133;A\a", "\x1b]8;;http://x\a\x1b]133;A\a", ""},
		"too long to count": {"\x1b]4;1;" + strings.Repeat("r", 20000) + "\ax", "x", ""},
	} {
		for _, driven := range []bool{false, true} {
			for _, cut := range []bool{false, true} {
				if driven && name == "text" {
					continue // its title is filtered
				}
				f := filter.Filter{}
				require.Nil(t, f.KeepColors(true))
				got := ""
				if cut {
					for i := range len(c.in) {
						got += string(f.Pass([]byte(c.in[i:i+1]), driven).Bytes)
					}
				} else {
					got = string(f.Pass([]byte(c.in), driven).Bytes)
				}
				require.Equal(t, c.passes, got, "%s, cut %v", name, cut)
				require.Equal(t, c.later, string(f.KeepColors(false)), "%s, cut %v", name, cut)
				require.Equal(t, "\x1b]4;1;red\a", string(f.Pass([]byte("\x1b]4;1;red\a"), driven).Bytes), "and then no more")
			}
		}
	}
}

// TestR67TheColorsAreThoseOfARunWithout sets colours at random: a terminal that gets them late ends with the same ones.
func TestR67TheColorsAreThoseOfARunWithout(t *testing.T) {
	commands := []string{
		"\x1b]4;1;rgb:10/20/30\a", "\x1b]4;1;#ffffff;2;#010203\a", "\x1b]104\a", "\x1b]104;1\a", "\x1b]104;2;3\a", "\x1b]4;3;#123456\x1b\\",
		"\x1b]10;#111111;#222222\a", "\x1b]11;#333333\a", "\x1b]110\a", "\x1b]111\a", "x", "\x1b[31m", "\x1b]4;200;?\a",
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		with, without := screen.New(screen.Config{Cols: 80, Rows: 24}), screen.New(screen.Config{Cols: 80, Rows: 24})
		f := filter.Filter{}
		for range 60 {
			c := []byte(commands[r.IntN(len(commands))])
			without.Feed(c)
			with.Feed(f.Pass(c, false).Bytes)
			if r.IntN(6) == 0 {
				with.Feed(f.KeepColors(r.IntN(2) == 0))
			}
		}
		with.Feed(f.KeepColors(false))
		colors := func(s *screen.Screen) (all []any) {
			s.Repainted(func(name string, r, g, b uint8) { all = append(all, name, r, g, b) })
			return all
		}
		require.Equal(t, colors(without), colors(with), "seed %d", seed)
		require.Equal(t, without.TakeReplies(), with.TakeReplies(), "seed %d", seed)
	}
}
