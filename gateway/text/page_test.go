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
	for seed := range uint64(1000) {
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
	require.Greater(t, cut, 150)
	require.Greater(t, without, 6)
}

func TestRowsThatAreLeftOutAreNamed(t *testing.T) {
	lines := make([]string, 10)
	for i := range lines {
		lines[i] = strings.Repeat("many words ", 10)
	}
	f := &protocol.Frame{Seq: 500, Line: 54, Screen: protocol.Screen{Cols: 120, Rows: 10, Lines: lines, Scrollback: 4}}
	got := &protocol.ReadResult{Frame: f, Text: "a\nb\nc\nd", FirstLine: 50, NextLine: 54, OldestLine: 50}
	out := func(p text.Page, tokens int) string {
		return strings.SplitN(p.Fit(tokens, "max_tokens"), "\n", 2)[0]
	}

	require.Equal(t, "4 rows of history, lines 50 to 53, then the screen; 9 of these rows are "+
		"left out because they are too long for max_tokens (start 50, lines 4), of the screen "+
		"its rows 1 to 5:", out(dialect.History(got, false), 300))
	require.Equal(t, "4 rows of history, lines 50 to 53, then the screen; 7 of these rows are "+
		"left out because they are too long for max_tokens, of the screen its rows 4 to 10:", out(dialect.History(got, true), 200))
	require.Equal(t, "rows 10 to 10; earlier rows are left out because they are too long for max_tokens:", out(dialect.Whole(f, 0), 100))
	require.Equal(t, "all rows are left out because max_tokens 50 has no room for them: give 500 or more", out(dialect.Whole(f, 0), 50))
	f.Since = 400
	require.Contains(t, out(dialect.Changes(&protocol.ReadResult{Frame: f}, 400), 200), "the whole screen, its first 6 rows left out because they are too long for max_tokens:")
	require.Contains(t, out(dialect.Changes(&protocol.ReadResult{Frame: f}, 400), 400), "the whole screen, its first row left out because it is too long for max_tokens:")
}

func TestMoreRowsLeftUnseenThanAnAnswerHolds(t *testing.T) {
	f := &protocol.Frame{Seq: 500, Line: 5000, Since: 400, Screen: protocol.Screen{Cols: 120, Rows: 1, Lines: []string{"$"}}}
	got := &protocol.ReadResult{Frame: f, Text: "b\nc\nd", FirstLine: 4997, NextLine: 5000, Unseen: 4990}
	out := func(tokens int) string {
		return strings.SplitN(dialect.Changes(got, 400).Fit(tokens, "max_tokens"), "\n", 2)[0]
	}
	require.Equal(t, "4990 rows that you have not seen left the screen, lines 10 to 4999 of the history; 4987 older ones are left out: "+
		"start 10, lines 2000; then the whole screen:", out(1000))
	got.OldestLine = 110
	require.Contains(t, out(1000), "; 4887 older ones are left out: start 110, lines 2000, and 100 before those are no longer kept; then")
	got.Unseen = 3
	require.Equal(t, "3 rows that you have not seen left the screen, lines 4997 to 4999 of the history; then the whole screen:", out(1000))
}

func TestNumberedHistoryIsGoneWithTheProgram(t *testing.T) {
	f := &protocol.Frame{Seq: 500, Screen: protocol.Screen{Cols: 120, Rows: 1, Lines: []string{"$"}}, Activity: &protocol.Activity{State: protocol.StateExited}}
	got := &protocol.ReadResult{Frame: f, Text: "b\nc\n"}
	const gone = "numbered history is gone with the program; "
	out := func(p text.Page) string { return strings.SplitN(p.Fit(1000, "max_tokens"), "\n", 2)[0] }
	require.Equal(t, "2 rows of what the program printed last, then the screen:", out(dialect.History(got, false)))
	require.Equal(t, gone+"2 rows of what the program printed last, then the screen:", out(dialect.History(got, true)))
	require.Equal(t, "the changes since rev 400 are no longer known, and the "+gone+"its last output:", out(dialect.Changes(got, 400)))
	f.Screen.Alt = true
	require.Equal(t, "the changes since rev 400 are no longer known, and the "+gone+"its last screen:", out(dialect.Changes(got, 400)))
	require.Equal(t, "nothing changed since rev 500", out(dialect.Changes(got, 500)))
	got.Text = ""
	require.Equal(t, gone+"no rows of history, the screen is all there is:", out(dialect.History(got, true)))
	f.Activity = nil
	require.Contains(t, out(dialect.History(got, false)), "no rows of history while the alternate screen is shown")
}

func TestHighlightsAreDroppedBeforeRows(t *testing.T) {
	p := text.Page{Head: "header", Rows: []string{"one", "two"}}
	plain := p
	plain.Head, p.Plain, p.Head = "header, highlights left out", &plain, "header "+strings.Repeat("highlight ", 40)
	require.Equal(t, p.Head+"\none\ntwo", p.Fit(200, "max_tokens"))
	require.Equal(t, "header, highlights left out\none\ntwo", p.Fit(100, "max_tokens"))
}

func TestWordsThatHaveToBeSaidAreSaidWithoutRows(t *testing.T) {
	p := text.Page{Head: "typed: x\n" + strings.Repeat("note ", 200), Brief: "typed: x", Rows: []string{"one", "two"}}
	require.Equal(t, "typed: x\nall rows are left out because max_tokens 200 has no room for them: give 900 or more", p.Fit(200, "max_tokens"))
	words, rows := p.Parts(200, "max_tokens")
	require.Equal(t, "all rows are left out because max_tokens 200 has no room for them: give 900 or more", words)
	require.Empty(t, rows)
}

func TestBudgets(t *testing.T) {
	n, err := text.CheckTokens(nil, "max_tokens")
	require.NoError(t, err)
	require.Equal(t, text.DefaultTokens, n)
	for given, want := range map[int]string{
		-1: "max_tokens is -1", 0: "max_tokens is 0, which hardly fits the text around the rows: give 200 or more", 199: "give 200 or more",
		50_001: "max_tokens is 50001, the limit is 50000",
	} {
		_, err := text.CheckTokens(&given, "max_tokens")
		require.ErrorContains(t, err, want)
	}
	n, err = text.CheckTokens(new(200), "max_tokens")
	require.NoError(t, err)
	require.Equal(t, 200, n)
}

func TestHighlights(t *testing.T) {
	f := &protocol.Frame{Screen: protocol.Screen{Cols: 80, Rows: 24}}
	require.Empty(t, text.Highlights(f))
	for i := range 10 {
		f.Highlights = append(f.Highlights, protocol.Highlight{Row: i, Col: 2, Cols: 18, Text: "Sa\u202eve\n\"it\""})
	}
	f.Highlights[1].Rows, f.Highlights[0].Text = 2, strings.Repeat("long ", 20)
	got := text.Highlights(f)
	require.True(t, strings.HasPrefix(got, `row 1 columns 3-20 "long long long long long long long long…", rows 2-3 columns 3-20 "Save \"it\"", row 3 `), got)
	require.True(t, strings.HasSuffix(got, `, and 2 more`), got)
	f.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser}
	require.Empty(t, text.Highlights(f))
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

func TestScrolledOff(t *testing.T) {
	before := &protocol.Frame{Line: 10, Screen: protocol.Screen{Cols: 80, Lines: []string{"a", "$", "", ""}}}
	after := func(line uint64, cols int) *protocol.Frame {
		return &protocol.Frame{Line: line, Screen: protocol.Screen{Cols: cols}}
	}
	require.Empty(t, text.ScrolledOff(before, after(10, 80)))
	require.Empty(t, text.ScrolledOff(before, after(12, 80)), "both were seen")
	require.Equal(t, "1 row that you have not seen left the screen", text.ScrolledOff(before, after(13, 80)))
	require.Equal(t, "28 rows that you have not seen left the screen", text.ScrolledOff(before, after(40, 80)))
	require.Empty(t, text.ScrolledOff(before, after(400, 70)), "another width, other rows")
	require.Empty(t, text.ScrolledOff(&protocol.Frame{}, after(40, 80)), "nothing was seen")
	before.Screen.Alt = true
	require.Equal(t, "3 rows that you have not seen left the screen", text.ScrolledOff(before, after(13, 80)))
}

func TestWhatASearchFound(t *testing.T) {
	d := text.Dialect{Limit: "max_tokens"}
	found := &protocol.Found{Count: 3, More: new(uint64(90)), Rows: []protocol.FoundRow{
		{Line: 4, Text: "before"}, {Line: 5, Text: "error one ", Match: true}, {Line: 60, Text: "error\ttwo", Match: true, Hidden: true},
	}}
	p := d.Found(&protocol.ReadResult{Found: found})
	require.Equal(t, "3 lines match, the first 2 of them here; the next is line 90:\n4- before\n5: error one\n60: error two", p.Fit(5000, "max_tokens"))
	require.Equal(t, "3 lines match, the first 1 of them here; the next is line 60:", p.Say(0, 2))
	require.Contains(t, text.ConcealedWarning(found), "line 60 holds text that the user cannot see")
	found.Rows, found.Count, found.More = found.Rows[:2], 1, nil
	require.Equal(t, "1 line matches:\n4- before\n5: error one", d.Found(&protocol.ReadResult{Found: found}).Fit(5000, "max_tokens"))
	require.Empty(t, text.ConcealedWarning(found))
	require.Equal(t, "no line matches", d.Found(&protocol.ReadResult{Found: &protocol.Found{}}).Fit(5000, "max_tokens"))

	require.Equal(t, "no line matches; not searched: 2000 rows before line 2000, which the history has dropped",
		d.Found(&protocol.ReadResult{Found: &protocol.Found{Gone: 2000}, OldestLine: 2000}).Fit(5000, "max_tokens"))
	found.Gone = 1
	require.Equal(t, "1 line matches; not searched: 1 row before line 1, which the history has dropped:\n4- before\n5: error one",
		d.Found(&protocol.ReadResult{Found: found, OldestLine: 1}).Fit(5000, "max_tokens"))
	found.Gone = 0

	found.Cut, found.More = true, new(uint64(70))
	require.Contains(t, d.Found(&protocol.ReadResult{Found: found}).Fit(5000, "max_tokens"),
		"1 line matches of those before line 70, where the search took too long and stopped: go on from there, or simplify the expression:\n4-")
	require.Contains(t, d.Found(&protocol.ReadResult{Found: &protocol.Found{Cut: true, More: new(uint64(2))}}).Fit(5000, "max_tokens"), "no line matches of those before line 2")
	found.Count = 3
	require.Contains(t, d.Found(&protocol.ReadResult{Found: found}).Fit(5000, "max_tokens"),
		"3 lines match of those that were searched before it took too long, the first 1 of them here; the next is line 70:\n4-")
}

func TestWhichConditionCame(t *testing.T) {
	for want, u := range map[string]protocol.Until{
		`"a+"`: {Regex: "a+"}, `"b"`: {Text: "b"}, `gone "c"`: {Gone: "c"}, "exit": {Exit: true}, "waiting": {Waiting: true}, "changed": {Changed: true}, "quiet": {QuietMs: 3},
	} {
		require.Equal(t, want, text.MetCondition(&u))
	}
	require.Empty(t, text.MetCondition(nil))
	all, err := text.Patterns("stop", []string{"a", "b+"})
	require.NoError(t, err)
	require.Equal(t, []protocol.Until{{Regex: "a"}, {Regex: "b+"}}, all)
	_, err = text.Patterns("stop", []string{"("})
	require.ErrorContains(t, err, "stop: the regular expression does not compile")
	_, err = text.Patterns("stop", make([]string, protocol.MaxConditions+1))
	require.ErrorContains(t, err, "stop has 17 patterns, the limit is 16")
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
