package protocol

import (
	"fmt"
	"math/rand/v2"
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

func TestMoveAndPatchRebuildEveryScreen(t *testing.T) {
	words := []string{"", "", "ok", "compiling", "a row that is rather long and seen once", "~"}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same screens each time
	for range 5000 {
		prev := make([]string, 1+random.IntN(30))
		for i := range prev {
			prev[i] = strings.TrimSpace(words[random.IntN(len(words))] + strings.Repeat("x", random.IntN(3)))
		}
		next := Move(prev, random.IntN(2*len(prev)+1)-len(prev))
		for range random.IntN(4) {
			next[random.IntN(len(next))] = words[random.IntN(len(words))]
		}
		moved, changed, shorter := Delta(prev, next, true)
		require.Equal(t, next, Patch(Move(prev, moved), changed))
		require.LessOrEqual(t, max(moved, -moved), len(prev))
		if shorter {
			size := 0
			for _, row := range changed {
				size += len(row.Text) + 5
			}
			require.LessOrEqual(t, size, max(0, len(strings.TrimRight(strings.Join(next, "\n"), "\n"))+1))
		}
	}
}

func FuzzDelta(f *testing.F) {
	f.Add("a\nb\nc", "b\nc\nd")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		prev, next := strings.Split(a, "\n"), strings.Split(b, "\n")
		moved, changed, _ := Delta(prev, next, true)
		if len(prev) != len(next) {
			return
		}
		if got := Patch(Move(prev, moved), changed); !slices.Equal(got, next) {
			t.Fatalf("%q, not %q: moved %d, changed %v", got, next, moved, changed)
		}
	})
}
