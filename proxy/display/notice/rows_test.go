package notice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/view/corpus"
)

// layouts are what TestRowsHoldTheWholeTextR47 lays out: the whole of a text, or the number of
// characters that are missing, and keys.
var layouts = map[string]func(cols, most int, text string) string{
	"input": func(cols, most int, text string) string {
		return notice.Input(cols, most, "password for sudo: ", text, `Enter sends · Esc closes · Ctrl+\ refuses`)
	},
	"rows": func(cols, most int, text string) string {
		return notice.Rows(cols, most, text, `Ctrl+G sends it · Ctrl+\ refuses`)
	},
	"quote": func(cols, most int, text string) string {
		return notice.Quote(cols, most, "message from “ada”: ", text, "")
	},
	"quote with keys": func(cols, most int, text string) string {
		return notice.Quote(cols, most, "message from “ada”: ", text, "h hides")
	},
	"fit":  func(cols, _ int, text string) string { return notice.Fit(text, cols) },
	"tail": func(cols, _ int, text string) string { return notice.FitTail(text, cols) },
}

func TestRowsHoldTheWholeTextR47(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Layout, Text, Want string }](t, "facts") {
		at := strings.LastIndexByte(c.Layout, ' ')
		cols, most := 0, 1
		_, _ = fmt.Sscanf(c.Layout[at+1:], "%dx%d", &cols, &most)
		require.Contains(t, layouts, c.Layout[:at])
		require.Equal(t, c.Want, strings.ReplaceAll(layouts[c.Layout[:at]](cols, most, c.Text), "\n", "¦"), "%+v", c)
	}
}

// TestRowsNeverShortenSilentlyR47 lays texts out on every small screen: either all of the text is
// there, or the number of missing characters.
func TestRowsNeverShortenSilentlyR47(t *testing.T) {
	const keys = `Ctrl+G sends it · Ctrl+\ refuses`
	for _, n := range []int{1, 9, 10, 60, 999} {
		say := "ada:" + strings.Repeat("q", n)
		for cols := 34; cols < 90; cols += 7 {
			for most := 1; most < 9; most++ {
				rows := strings.Split(notice.Rows(cols, most, say, keys), "\n")
				require.LessOrEqual(t, len(rows), most)
				text := strings.Join(rows, "")
				if shown := strings.Count(text, "q"); shown != n {
					missing := fmt.Sprintf("and %d more characters", n-shown)
					if most == 1 {
						missing = fmt.Sprintf("%d characters not shown", n+4)
					}
					require.Contains(t, text, missing, "%d columns, %d rows", cols, most)
				}
				for _, row := range rows[:len(rows)-1] {
					require.LessOrEqual(t, displaywidth.String(row), cols)
				}
			}
		}
	}
}

// TestWordsStayWholeR68 lays out texts of words on screens of every width: no row ends within a
// word that a row has room for, nothing is lost, and the two keys are there.
func TestWordsStayWholeR68(t *testing.T) {
	const say = `claude asks to drive: “run the tests, then fix what fails in  proxy/overlay/painter.go”`
	words := map[string]bool{}
	for _, w := range strings.Fields(say) {
		words[w] = true
	}
	for cols := 8; cols < 140; cols++ {
		rows := strings.Split(notice.Rows(cols, 40, say, `Ctrl+G gives it · Ctrl+\ refuses`), "\n")
		all := ""
		for _, row := range rows {
			require.LessOrEqual(t, displaywidth.String(row), cols)
			all += row[1:]
			for _, w := range strings.Fields(row) {
				require.True(t, words[w] || strings.Contains("Ctrl+G gives it · Ctrl+\\ refuses", w) || cols < 28, "%d columns: %q", cols, row)
			}
		}
		require.Contains(t, all, "Ctrl+G", "%d columns", cols)
		require.Contains(t, all, `Ctrl+\`, "%d columns", cols)
		if len(rows) > 1 {
			require.True(t, strings.HasPrefix(all, say), "%d columns: %q", cols, all)
		}
	}
}

// TestAQuotedTextCannotPassForTheProxysWordsR46 lays out a text that looks like a row of the
// proxy's. The first row begins with the proxy's head, every other row with a mark.
func TestAQuotedTextCannotPassForTheProxysWordsR46(t *testing.T) {
	text := strings.Repeat("x", 40) + " Ctrl+G gives it · Ctrl+\\ refuses " + strings.Repeat("y", 200)
	for cols := 36; cols < 100; cols += 3 {
		for most := 1; most < 7; most++ {
			rows := strings.Split(notice.Quote(cols, most, "message from “ada”: ", text, ""), "\n")
			require.LessOrEqual(t, len(rows), most)
			for _, row := range rows[1:] {
				require.True(t, strings.HasPrefix(row, " │ "), "%d columns: %q", cols, row)
				require.LessOrEqual(t, displaywidth.String(row), cols)
			}
			if last := rows[len(rows)-1]; !strings.HasSuffix(last, "”") {
				require.Regexp(t, `… and \d+ more characters$`, last)
			}
		}
	}
}
