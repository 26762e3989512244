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
		{"too many screens", Past{Seen: make([]Seen, maxPastSeen+1)}, false},
		{"a page before it", Past{Text: "c", FirstLine: 5, NextLine: 6, Older: []Page{NewPage(3, []string{"a", "b"}, []int{1})}}, true},
		{"two pages", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(3, []string{""}, nil), NewPage(4, []string{"b"}, nil)}}, true},
		{"a gap after a page", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(3, []string{"a"}, nil)}}, false},
		{"a gap between pages", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(2, []string{"a"}, nil), NewPage(4, []string{"b"}, nil)}}, false},
		{"a page without rows", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(5, nil, nil)}}, false},
		{"a page of too many rows", Past{FirstLine: MaxHistory + 1, NextLine: MaxHistory + 1, Older: []Page{NewPage(0, make([]string, MaxHistory+1), nil)}}, false},
		{"a page of too much text", Past{FirstLine: 1, NextLine: 1, Older: []Page{NewPage(0, []string{strings.Repeat("a", MaxPageBytes+1)}, nil)}}, false},
		{"a page of other text", Past{FirstLine: 1, NextLine: 1, Older: []Page{NewPage(0, []string{"\xff"}, nil)}}, false},
		{"a page that is none", Past{FirstLine: 1, NextLine: 1, Older: []Page{{NextLine: 1, TextB64: []byte("x")}}}, false},
		{"a hidden row that is none in a page", Past{FirstLine: 1, NextLine: 1, Older: []Page{NewPage(0, []string{"a"}, []int{1})}}, false},
		{"too many pages", Past{FirstLine: 5, NextLine: 5, Older: make([]Page, maxPages+1)}, false},
	} {
		_, err := Encode(&SessionClose{ID: "c", SessionID: "s", Past: &c.past})
		require.Equal(t, c.ok, err == nil, "%s: %v", c.name, err)
	}
}

func TestTheRowsOfAHistoryInPages(t *testing.T) {
	p := &Past{
		Text: "four\nfive", FirstLine: 14, NextLine: 16, HiddenText: []int{1},
		Older: []Page{NewPage(10, []string{"zero", ""}, []int{0}), NewPage(12, []string{"two", "three"}, []int{1})},
		Seen:  []Seen{{Seq: 7, Line: 13}, {Seq: 9, Line: 20}},
	}
	require.Equal(t, uint64(10), p.Oldest())
	for _, c := range []struct {
		from, to uint64
		rows     []string
		hidden   []int
	}{
		{10, 16, []string{"zero", "", "two", "three", "four", "five"}, []int{0, 3, 5}},
		{11, 15, []string{"", "two", "three", "four"}, []int{2}},
		{12, 13, []string{"two"}, nil},
		{15, 16, []string{"five"}, []int{0}},
		{16, 16, nil, nil},
	} {
		rows, hidden := p.Rows(c.from, c.to)
		require.Equal(t, c.rows, rows)
		require.Equal(t, c.hidden, hidden)
	}
	for seq, want := range map[uint64]uint64{FirstSeq: 0, 7: 13, 9: 16} {
		line, known := p.Unseen(seq)
		require.True(t, known)
		require.Equal(t, want, line)
	}
	_, known := p.Unseen(8)
	require.False(t, known)
	require.Greater(t, p.Size(), len(p.Text))
	require.Zero(t, (*Past)(nil).Size())
	require.Equal(t, uint64(3), (&Past{FirstLine: 3, NextLine: 3}).Oldest())
}
