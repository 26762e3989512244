package protocol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAHistoryHoldsWhatItsNumbersSay: what a proxy leaves to the gateway is not taken on trust.
func TestAHistoryHoldsWhatItsNumbersSay(t *testing.T) {
	for _, c := range []struct {
		name string
		past Past
		ok   bool
	}{
		{"none", Past{FirstLine: 3, NextLine: 3}, true},
		{"an empty row", Past{FirstLine: 3, NextLine: 4}, true},
		{"two rows", Past{Text: "a\nb", FirstLine: 3, NextLine: 5, HiddenText: []int{1}, Seen: []Seen{{1, 3}}}, true},
		{"as many as there may be", Past{Text: strings.Repeat("\n", MaxHistory-1), NextLine: MaxHistory}, true},
		{"one more", Past{Text: strings.Repeat("\n", MaxHistory), NextLine: MaxHistory + 1}, false},
		{"too few rows", Past{Text: "a", FirstLine: 3, NextLine: 5}, false},
		{"too many rows", Past{Text: "a\nb\nc", FirstLine: 3, NextLine: 5}, false},
		{"text without rows", Past{Text: "a", FirstLine: 3, NextLine: 3}, false},
		{"backwards", Past{FirstLine: 3, NextLine: 2}, false},
		{"round the end", Past{FirstLine: 1<<64 - 1, NextLine: 1}, false},
		{"a hidden row that is none", Past{Text: "a", NextLine: 1, HiddenText: []int{1}}, false},
		{"too many screens", Past{Seen: make([]Seen, maxSeen+1)}, false},
	} {
		_, err := Encode(&SessionClose{ID: "c", SessionID: "s", Past: &c.past})
		require.Equal(t, c.ok, err == nil, "%s: %v", c.name, err)
	}
}
