package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func rows(text string) []string { return strings.Split(text, "|") }

func TestDelta(t *testing.T) {
	log := func(from, to int) (out []string) {
		for i := from; i < to; i++ {
			out = append(out, fmt.Sprintf("compiling file number %d", i))
		}
		return out
	}
	ten := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}
	tests := []struct {
		name       string
		prev, next []string
		moved      int
		changed    []int
		shorter    bool
	}{
		{"nothing", log(0, 9), log(0, 9), 0, nil, true},
		{"nothing on a blank screen", rows("||"), rows("||"), 0, nil, true},
		{"one row", log(0, 9), append(log(0, 8), "done"), 0, []int{8}, true},
		{"scrolled by one", log(0, 9), log(1, 10), 1, []int{8}, true},
		{"scrolled, with a status line", append(log(0, 9), "-- more 10%"), append(log(2, 11), "-- more 20%"), 2, []int{7, 8, 9}, true},
		{"scrolled back", log(5, 14), log(3, 12), -2, []int{0, 1}, true},
		{"all of it", log(0, 9), log(100, 109), 0, nil, false},
		{"short rows are said", ten, slices.Concat(ten[1:], []string{"11"}), 0, nil, false},
		{"repeated rows have no say", rows("a|a|a|b|c"), rows("a|a|b|a|a"), 0, nil, false},
		{"another size", log(0, 9), log(0, 8), 0, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			moved, changed, shorter := Delta(tt.prev, tt.next, true)
			require.Equal(t, tt.shorter, shorter)
			if !shorter {
				return
			}
			require.Equal(t, tt.moved, moved)
			require.Len(t, changed, len(tt.changed))
			for i, row := range tt.changed {
				require.Equal(t, Row{Row: row, Text: tt.next[row]}, changed[i])
			}
		})
	}
}

func TestPatchLeavesTheOldRows(t *testing.T) {
	old := []string{"a", "b"}
	require.Equal(t, []string{"a", "x"}, Patch(old, []Row{{1, "x"}, {2, "y"}, {-1, "z"}}))
	require.Equal(t, []string{"a", "b"}, old, "others may still read them")
}

// FuzzDelta checks that a delta rebuilds the screen, whether rows may move or not.
func FuzzDelta(f *testing.F) {
	f.Add("a\nb\nc", "b\nc\nd", true)
	f.Add("a\nb\nc", "a\nx\nc", false)
	f.Add("", "\n", false)
	f.Fuzz(func(t *testing.T, a, b string, moves bool) {
		prev, next := strings.Split(a, "\n"), strings.Split(b, "\n")
		moved, changed, shorter := Delta(prev, next, moves)
		if len(prev) != len(next) {
			require.False(t, shorter)
			return
		}
		require.Equal(t, next, Patch(Move(prev, moved), changed))
	})
}
