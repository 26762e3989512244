package protocol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The gateway does not trust the history that a proxy leaves it.
func TestAHistoryMatchesItsNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		past Past
		ok   bool
	}{
		{"two rows", Past{Text: "a\nb", FirstLine: 3, NextLine: 5, HiddenText: []int{1}, Seen: []Seen{{1, 3}}}, true},
		{"as many as there may be", Past{Text: strings.Repeat("\n", MaxHistory-1), NextLine: MaxHistory}, true},
		{"one more", Past{Text: strings.Repeat("\n", MaxHistory), NextLine: MaxHistory + 1}, false},
		{"too many rows", Past{Text: "a\nb\nc", FirstLine: 3, NextLine: 5}, false},
		{"backwards", Past{FirstLine: 3, NextLine: 2}, false},
		{"a hidden row that is none", Past{Text: "a", NextLine: 1, HiddenText: []int{1}}, false},
		{"too many screens", Past{Seen: make([]Seen, maxPastSeen+1)}, false},
		{"two pages", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(Excerpt{First: 3, Rows: []string{""}}), NewPage(Excerpt{First: 4, Rows: []string{"b"}})}}, true},
		{"a gap after a page", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(Excerpt{First: 3, Rows: []string{"a"}})}}, false},
		{"a page without rows", Past{FirstLine: 5, NextLine: 5, Older: []Page{NewPage(Excerpt{First: 5, Rows: nil})}}, false},
		{"a page of too much text", Past{FirstLine: 1, NextLine: 1, Older: []Page{NewPage(Excerpt{First: 0, Rows: []string{strings.Repeat("a", MaxPageBytes+1)}})}}, false},
		{"a page that is none", Past{FirstLine: 1, NextLine: 1, Older: []Page{{NextLine: 1, TextB64: []byte("x")}}}, false},
		{"a hidden row that is none in a page", Past{FirstLine: 1, NextLine: 1, Older: []Page{NewPage(Excerpt{First: 0, Rows: []string{"a"}, Hidden: []int{1}})}}, false},
		{"too many pages", Past{FirstLine: 5, NextLine: 5, Older: make([]Page, maxPages+1)}, false},
	} {
		_, err := Encode(&SessionClose{ID: "c", SessionID: "s", Past: &c.past})
		require.Equal(t, c.ok, err == nil, "%s: %v", c.name, err)
	}
}

func TestTheRowsOfAHistoryInPages(t *testing.T) {
	p := &Past{
		Text: "four\nfive", FirstLine: 14, NextLine: 16, HiddenText: []int{1},
		Older: []Page{NewPage(Excerpt{First: 10, Rows: []string{"zero", ""}, Hidden: []int{0}}), NewPage(Excerpt{First: 12, Rows: []string{"two", "three"}, Hidden: []int{1}})},
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
		got := p.Rows(c.from, c.to)
		require.Equal(t, c.rows, got.Rows)
		require.Equal(t, c.hidden, got.Hidden)
	}
	p.Older[1].Wraps, p.Wraps = []Wrap{{Row: 1, Blanks: 2}}, []Wrap{{Row: 1}, {Row: 2}}
	require.Equal(t, []Wrap{{Row: 2, Blanks: 2}, {Row: 4}, {Row: 5}}, p.Rows(11, 16).Wraps, "row 5 is the screen's")
	require.Equal(t, []Wrap{{Row: 2, Blanks: 2}}, p.Rows(11, 15).Wraps)
	last := p.Rows(16, 16)
	last.AppendScreen(&Frame{Screen: Screen{Lines: []string{"six", "seven"}}, HiddenText: []int{1}})
	require.Equal(t, Excerpt{First: 16, Rows: []string{"six", "seven"}, Hidden: []int{1}, Wraps: []Wrap{{Row: 0}}}, last)
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
