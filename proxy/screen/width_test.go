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
		require.True(t, p[0] >= firstWide && p[0] <= lastWide)
	}
	require.Equal(t, 0xa000-0x4e00+0xd7a4-0xac00, wide)
}
