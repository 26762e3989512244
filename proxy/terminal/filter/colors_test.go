package filter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/filter"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
)

// Sequences that set a colour come later, the last for each; queries and everything else pass.
func TestColorsAreKeptBackR67(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, In, Passes, Later string }](t, "colors") {
		for _, driven := range []bool{false, true} {
			for _, cut := range []bool{false, true} {
				if driven && c.Name == "text" {
					continue // its title is filtered
				}
				f := filter.Filter{}
				require.Nil(t, f.KeepColors(true))
				got := ""
				if cut {
					for i := range len(c.In) {
						got += string(f.FilterOutput([]byte(c.In[i:i+1]), driven).Bytes)
					}
				} else {
					got = string(f.FilterOutput([]byte(c.In), driven).Bytes)
				}
				require.Equal(t, c.Passes, got, "%s, cut %v", c.Name, cut)
				require.Equal(t, c.Later, string(f.KeepColors(false)), "%s, cut %v", c.Name, cut)
				require.Equal(t, "\x1b]4;1;red\a", string(f.FilterOutput([]byte("\x1b]4;1;red\a"), driven).Bytes), "and then no more")
			}
		}
	}
}

// TestTheColorsAreThoseOfARunWithoutR67 sets colours at random: a terminal that gets them late ends
// with the same ones.
func TestTheColorsAreThoseOfARunWithoutR67(t *testing.T) {
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
			with.Feed(f.FilterOutput(c, false).Bytes)
			if r.IntN(6) == 0 {
				with.Feed(f.KeepColors(r.IntN(2) == 0))
			}
		}
		with.Feed(f.KeepColors(false))
		colors := func(s *screen.Screen) (all []any) {
			s.EachPaletteChange(func(name string, r, g, b uint8) { all = append(all, name, r, g, b) })
			return all
		}
		require.Equal(t, colors(without), colors(with), "seed %d", seed)
		require.Equal(t, without.TakeReplies(), with.TakeReplies(), "seed %d", seed)
	}
}
