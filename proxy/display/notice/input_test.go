package notice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/notice"
)

// On a screen of every width the user reads the end of what they type, and the keys where the
// screen has rows for them.
func TestWhatTheUserTypesIsReadAtEveryWidth(t *testing.T) {
	const head, keys = "password for sudo: ", `Enter sends · Esc closes · Ctrl+\ refuses`
	for cols := 20; cols <= 120; cols++ {
		for most := 1; most <= 5; most++ {
			rowsOfOne := 0
			for _, n := range []int{0, 1, 5, 10, 11, 12, 200} {
				at := fmt.Sprintf("%d columns, %d rows, %d characters", cols, most, n)
				rows := strings.Split(notice.Input(cols, most, head, strings.Repeat("•", n), keys), "\n")
				require.LessOrEqual(t, len(rows), most, at)
				for _, row := range rows {
					require.LessOrEqual(t, displaywidth.String(row), cols, at)
				}
				require.Contains(t, rows[0], strings.Repeat("•", min(n, 10))+"▏", at)
				if n <= 11 {
					require.Equal(t, n, strings.Count(rows[0], "•"), at)
				}
				require.Contains(t, rows[0], "pass", at)
				if cols >= 40 {
					require.Contains(t, rows[0], head, at)
				}
				if most >= 4 {
					require.Equal(t, keys, strings.Join(strings.Fields(keysOf(rows)), " "), at)
				}
				if n == 0 {
					rowsOfOne = len(rows)
				}
				require.Len(t, rows, rowsOfOne, "the rows change while the user types: "+at)
			}
		}
	}
}

// keysOf returns the keys of rows, with a dot between two rows.
func keysOf(rows []string) string {
	if _, keys, isBeside := strings.Cut(rows[0], "▏"); isBeside && len(rows) == 1 {
		return keys
	}
	return strings.Join(rows[1:], " ·")
}
