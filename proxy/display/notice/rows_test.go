package notice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/notice"
)

func TestRowsHoldTheWholeTextR47(t *testing.T) {
	const keys = `Ctrl+G sends it · Ctrl+\ refuses`
	for _, c := range []struct {
		cols, most int
		say        string
		want       []string
	}{
		{60, 5, "ada: <Enter>", []string{" ada: <Enter>" + strings.Repeat(" ", 14) + keys + " "}},
		{34, 5, "ada: <Enter>", []string{" ada: <Enter>", " " + keys}},
		{34, 5, "ada: " + strings.Repeat("0123456789", 5), []string{" ada: 012345678901234567890123456", " 78901234567890123456789", " " + keys}},
		{34, 3, "ada: " + strings.Repeat("0123456789", 9), []string{" ada: 012345678901234567890123456", " 78901234… and 55 more characters", " " + keys}},
		{34, 2, "ada: " + strings.Repeat("0123456789", 9), []string{" ada: 012… and 87 more characters", " " + keys}},
		{12, 4, "ada: 世界世界", []string{" … and 9 more characters", " Ctrl+G ", " sends it", ` Ctrl+\ `}},
		{12, 6, "ada: 世界世界", []string{" ada: ", " 世界世界", " Ctrl+G ", " sends it", ` Ctrl+\ `, " refuses"}},
		{12, 6, "ada: 世界世界世界", []string{" ada: 世界", " 世界世界", " Ctrl+G ", " sends it", ` Ctrl+\ `, " refuses"}},
		{29, 4, "ada wants to send <Enter> after \"git push\"", []string{" ada wants to send <Enter> ", " after \"git push\"", " Ctrl+G sends it", ` Ctrl+\ refuses`}},
		{20, 4, "ada: <Enter>", []string{" ada: <Enter>", " Ctrl+G sends it", ` Ctrl+\ refuses`}},
		{20, 3, "ada", []string{" ada", " Ctrl+G sends it", ` Ctrl+\ refuses`}},
		{80, 1, strings.Repeat("x", 100), []string{" 100 characters not shown · " + keys}},
	} {
		t.Run(fmt.Sprintf("%dx%d/%.20s", c.cols, c.most, c.say), func(t *testing.T) {
			require.Equal(t, c.want, strings.Split(notice.Rows(c.cols, c.most, c.say, keys), "\n"))
		})
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

func TestTail(t *testing.T) {
	for _, c := range []struct {
		text string
		cols int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "…cd"}, {"世界", 4, "世界"}, {"世界a", 4, "…界a"}, {"世界世", 4, "…世"}, {"ab", 1, "…"}, {"", 0, ""}} {
		require.Equal(t, c.want, notice.FitTail(c.text, c.cols))
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
	for _, c := range []struct {
		cols, most int
		text, keys string
		want       []string
	}{
		{40, 3, "hi", "", []string{" message from “ada”: “hi”" + strings.Repeat(" ", 15)}},
		{24, 3, "hello there", "", []string{" message from “ada”: ", " │ “hello there”"}},
		{24, 3, "hello there", "h hides", []string{" message from “ada”: ", " │ “hello there”", " h hides"}},
		{24, 1, "hello there", "h hides", []string{" 33 characters not shown · h hides"}},
	} {
		require.Equal(t, c.want, strings.Split(notice.Quote(c.cols, c.most, "message from “ada”: ", c.text, c.keys), "\n"))
	}
}
