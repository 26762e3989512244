package text_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

func TestTokensAreCountedHigh(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"", 0},
		{"the", 1},
		{"the quick brown fox", 6},
		{" indented", 3},
		{"    indented", 4},
		{"x = 1", 5},
		{"2026", 4},
		{"7f45 4c46", 9},
		{"--------", 2},
		{"{}();", 5},
		{"a\nb\n", 4},
		{"é", 2},
		{"漢字", 6},
		{"─────", 3 + 4},
		{"🔥", 4},
		{"\xff\xff", 2},
		{"\x1b[0m", 4},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, text.Tokens(tt.in), "%q", tt.in)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"the quick", "─ ─", "\xff", "a  b\n", "12ab"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		n := text.Tokens(a)
		if n > len(a) || n < len(strings.Fields(a)) {
			t.Fatalf("%q counts %d", a, n)
		}
		if both := text.Tokens(a + b); both > n+text.Tokens(b)+3 { // a character may be cut in two
			t.Fatalf("%q and %q count %d together, more than apart", a, b, both)
		}
	})
}

var dialect = text.Dialect{
	Limit: "max_tokens",
	Lines: func(first uint64, n int) string { return fmt.Sprintf("start %d, lines %d", first, n) },
	Older: "lines, or start",
}

// randomAnswer returns a random answer to a read.
func randomAnswer(r *rand.Rand) *protocol.ReadResult {
	row := func() string { return strings.Repeat([]string{"word ", "漢", "─", "0x7f, "}[r.IntN(4)], r.IntN(60)) }
	var past, lines []string
	for range r.IntN(100) {
		past = append(past, row()+".")
	}
	for range 1 + r.IntN(60) {
		lines = append(lines, row())
	}
	first := uint64(r.IntN(1000)) //nolint:gosec // not negative
	got := &protocol.ReadResult{
		Frame: &protocol.Frame{Seq: 500, Line: first + 200, Screen: protocol.Screen{Cols: 80, Rows: len(lines), Lines: lines, Scrollback: r.IntN(200)}},
		Text:  strings.Join(past, "\n"), FirstLine: first, NextLine: first + uint64(len(past)), OldestLine: first / 2,
	}
	switch f := got.Frame; r.IntN(3) {
	case 0:
		f.Since = 400
	case 1:
		f.Since, f.Moved, f.Screen.Lines = 400, r.IntN(9)-4, nil
		for i := range r.IntN(len(lines)) {
			f.Changed = append(f.Changed, protocol.Row{Row: i, Text: lines[i]})
		}
	}
	return got
}

// A page with its words and marks never exceeds its budget, and says what it leaves out.
func TestNoPageIsLargerThanItsBudget(t *testing.T) {
	cut, without := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same pages each time
		got := randomAnswer(r)
		p := dialect.Changes(got, 400)
		switch r.IntN(3) {
		case 0:
			p = dialect.History(got, r.IntN(2) == 0)
		case 1:
			p = dialect.Whole(got.Frame, r.IntN(9))
		}
		p.Head = strings.Repeat("header ", r.IntN(20))
		if !p.Bare {
			fenced := func(highlights string) func(string) string {
				return func(rows string) string { return text.Fence("m4rk", "screen", rows, "highlighted: "+highlights) }
			}
			plain := p
			plain.Wrap, p.Plain = fenced("left out for max_tokens"), &plain
			p.Wrap = fenced("row 3 columns 1-4 \"Save\", row 4 columns 1-6 \"Cancel\", row 5 columns 1-20 \"a longer one\"")
		}
		tokens := 1 + r.IntN(2000)
		out := p.Fit(tokens, "max_tokens")
		if strings.Contains(out, "has no room for them") || len(p.Rows) == 0 && text.Tokens(out) > tokens {
			without++
			require.Contains(t, out, p.Head, "what has to be said is said")
			require.NotContains(t, out, "columns 1-4")
			if len(p.Rows) == 0 {
				continue
			}
			fitting := regexp.MustCompile(`give (\d+) or more`).FindStringSubmatch(out)
			require.NotNil(t, fitting, out)
			tokens, _ = strconv.Atoi(fitting[1])
			out = p.Fit(tokens, "max_tokens") // the number that was named
			require.NotContains(t, out, "has no room for them")
		}
		require.LessOrEqual(t, text.Tokens(out), tokens, out)
		whole := p.Fit(1<<30, "max_tokens")
		if out != whole {
			cut++
			require.Contains(t, out, "left out", "seed %d", seed)
		}
	}
	require.Greater(t, cut, 40)
	require.Positive(t, without)
}

func TestBarsAreNotHighlights(t *testing.T) {
	f := &protocol.Frame{Screen: protocol.Screen{Cols: 80, Rows: 24}, Highlights: []protocol.Highlight{
		{Row: 0, Cols: 80, Text: "GNU nano"},
		{Row: 5, Cols: 80, Text: "selected"},
		{Row: 22, Cols: 79, Text: "[ New File ]"},
		{Row: 23, Cols: 2, Text: "^G"},
		{Row: 23, Col: 10, Cols: 2, Text: "^X"},
		{Row: 23, Col: 20, Cols: 2, Text: "^O"},
		{Row: 23, Col: 30, Cols: 2, Text: "^R"},
	}}
	require.Equal(t, `row 6 columns 1-80 "selected"`, text.Highlights(f), "a title bar, a status line and a bar of keys select nothing")
	f.Highlights = f.Highlights[4:]
	require.Equal(t, `row 24 columns 11-12 "^X", row 24 columns 21-22 "^O", row 24 columns 31-32 "^R"`, text.Highlights(f), "three may be the answers to a question")
}

func TestGaps(t *testing.T) {
	many := func(row string) []string { return []string{row, row, row, row} }
	wide := "a" + strings.Repeat(" ", 70) + "│"
	require.Equal(t, many("a  …  │"), text.ShortenGaps(many(wide)))
	require.Equal(t, []string{wide[:40] + "x"}, text.ShortenGaps([]string{wide[:40] + "x"}), "a few blanks are not worth the word for them")
	code := strings.Repeat(" ", 24) + "return x"
	require.Equal(t, many(code), text.ShortenGaps(many(code)), "an indentation stays as it is")
	require.Equal(t, many("  …  centred"), text.ShortenGaps(many(strings.Repeat(" ", 30)+"centred")))
}

// Rows that repeat the one before cost their number; a program cannot make the reader miscount,
// since it does not know the mark.
func TestRepeatedRowsAreCounted(t *testing.T) {
	form := "│" + strings.Repeat(" ", 20) + "│"
	for name, c := range map[string]struct{ rows, want []string }{
		"an empty form":   {[]string{"a", form, form, form, "b"}, []string{"a", form, "m4rk 2 more rows like this", "b"}},
		"short rows":      {[]string{"~", "~", "~"}, []string{"~", "~", "~"}},
		"many short rows": {slices.Repeat([]string{"~"}, 20), []string{"~", "m4rk 19 more rows like this"}},
		"blank rows":      {[]string{"a", "", "", "b"}, []string{"a", "", "", "b"}},
		"like numbered":   {[]string{"9| ~", "10| ~", "11| ~"}, []string{"9| ~", "10| ~", "11| ~"}},
		"a claim":         {[]string{"a", "m4rk 2 more rows like this"}, []string{"a", "m4rk 2 more rows like this"}},
		"bars":            {[]string{"a| b", "a| b"}, []string{"a| b", "a| b"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := "<<<m4rk untrusted\n" + strings.Join(c.want, "\n") + "\nm4rk>>>"
			require.Equal(t, want, text.Fence("m4rk", "", strings.Join(c.rows, "\n")))
		})
	}
	for rows, want := range map[string]string{
		"8| a\n9| ~\n10| ~\n11| ~\n13| ~": "8| a\n9-11| ~\n13| ~",
		"9|\n10|\n11|":                    "9-11|",
		"^| a\n^| a":                      "^| a\n^| a",
		"a| b\na| b":                      "a| b\na| b",
	} {
		require.Equal(t, want, text.FoldNumbered(rows))
	}
}
