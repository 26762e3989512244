package screen

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestWideRuns: the characters that are printed in runs are those of two columns, and no others.
func TestWideRuns(t *testing.T) {
	wide := 0
	for r := rune(0xa0); r < 0x20000; r++ {
		p := utf8.AppendRune(nil, r)
		cells := make([]cell, 2)
		n, columns := printWide(p, cells, styled(3))
		if n == 0 {
			continue
		}
		wide++
		require.Equal(t, 2, runeWidth(r), "%U", r)
		require.Equal(t, [2]int{len(p), 2}, [2]int{n, columns})
		require.Equal(t, []cell{styled(3) | wideFlag | cell(r), styled(3) | tailFlag}, cells)
		require.NotZero(t, wideLead[p[0]].span)
	}
	require.Equal(t, 0xa000-0x4e00+0xd780-0xac00, wide)
}

// TestBrokenWide: no other bytes pass for those characters.
func TestBrokenWide(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for _, c := range []byte{0x00, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff} {
				p := []byte{byte(a), byte(b), c}
				if n, _ := printWide(p, make([]cell, 2), 0); n > 0 {
					require.True(t, utf8.Valid(p), "%x", p)
				}
			}
		}
	}
}
