package notice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
)

// same checks that two screens are equal: cell for cell, cursor, modes, and the pen, which shows in
// what is printed next.
func same(t *testing.T, want, got *screen.Screen) {
	t.Helper()
	cols, rows := want.Size()
	for y := range rows {
		for x := range cols {
			require.Equal(t, blank(want.Cell(y, x)), blank(got.Cell(y, x)), "row %d, column %d", y, x)
		}
	}
	require.Equal(t, want.Cursor(), got.Cursor())
	require.Equal(t, want.Modes(), got.Modes())
	require.Equal(t, want.Alt(), got.Alt())
	require.Equal(t, want.Title(), got.Title())
}

// blank shows an erased cell as the blank that it looks like.
func blank(c screen.Cell) screen.Cell {
	if c.Content == "" && c.Width == 1 {
		c.Content = " "
	}
	return c
}

// states returns terminals' states in which a line may be drawn, by name.
func states(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, row := range corpus.Rows[struct{ Name, Output string }](t, "states") {
		all[row.Name] = row.Output
	}
	return all
}

// probes print more after the line is gone: they show pen, character sets and the saved cursor.
var probes = []string{"", "qx", "\r\nqx", "\x1b8qx", "\x0eq\x0fq", "\x1b[1;1Hq", "\x1b[?1049lq"}

// TestNoticeLeavesNoTrace draws and erases the line in every state: the terminal then shows and
// does what it would have without.
func TestNoticeLeavesNoTrace(t *testing.T) {
	for name, state := range states(t) {
		for _, size := range [][2]int{{10, 5}, {1, 1}, {3, 1}, {40, 2}} {
			for i, probe := range probes {
				text := []string{"an agent asks 世", "an agent\nasks 世\nto send"}[i%2]
				t.Run(fmt.Sprintf("%s/%dx%d/%d", name, size[0], size[1], i), func(t *testing.T) {
					model := screen.New(screen.Config{Cols: size[0], Rows: size[1]})
					user := screen.New(screen.Config{Cols: size[0], Rows: size[1]})
					model.Feed([]byte(state))
					user.Feed([]byte(state))
					user.Feed(notice.Draw(nil, model, notice.TopRow(model, text), notice.Reverse, text))
					require.Equal(t, model.Cursor(), user.Cursor(), "while it is drawn the cursor stays")
					user.Feed(notice.Erase(nil, model, notice.TopRow(model, text), text))
					model.Feed([]byte(probe))
					user.Feed([]byte(probe))
					same(t, model, user)
				})
			}
		}
	}
}

// Each line has its row, at the bottom; a line that does not fit on the screen is not drawn
// elsewhere.
func TestNoticeOfSeveralRows(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"allow?\nyes", []string{"one", "allow?", "yes"}},
		{"a\nb\nc", []string{"a", "b", "c"}},
		{"a\nb\nc\nd", []string{"a", "b", "c"}},
	} {
		user := screen.New(screen.Config{Cols: 12, Rows: 3})
		user.Feed([]byte("one\r\ntwo\r\nthree"))
		user.Feed(notice.Draw(nil, user, notice.TopRow(user, c.text), notice.Reverse, c.text))
		require.Equal(t, c.want, []string{user.RowText(0), user.RowText(1), user.RowText(2)})
	}
}

// TestRedrawRepairs paints over whatever a terminal shows.
func TestRedrawRepairs(t *testing.T) {
	for name, state := range states(t) {
		t.Run(name, func(t *testing.T) {
			model, user := screen.New(screen.Config{Cols: 10, Rows: 5}), screen.New(screen.Config{Cols: 10, Rows: 5})
			model.Feed([]byte(state))
			user.Feed([]byte(state))
			user.Feed([]byte("\x1b[?6l\x1b[1;1H\x1b[mgarbage"))
			user.Feed(notice.Redraw(nil, model))
			for y := range 5 {
				require.Equal(t, model.RowText(y), user.RowText(y))
			}
		})
	}
}

func TestLineKeepsTheKeys(t *testing.T) {
	for cols := range 120 {
		line := notice.Line(cols, "Ada asks for the keyboard to rename a variable", "Ctrl+G allow  Ctrl+\\ refuse")
		require.Equal(t, cols, displaywidth.String(line))
		if cols >= 28 {
			require.Contains(t, line, "Ctrl+G allow  Ctrl+\\ refuse")
		}
	}
}

func TestHostileTextR47(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain", "plain"},
		{"two\nlines\tand tabs", "two lines and tabs"},
		{"\x1b[31mred\x1b[m\x07\x00", "red"},
		{"left\u202eright", "leftright"},
		{"zero\u200bwidth\U000e0041", "zerowidth"},
		{"filled\u3164and\U000e0101selected\ufe01", "filledandselected"},
		{"car\rriage", "car riage"},
		{strings.Repeat("x", 30), strings.Repeat("x", 20) + "…"},
	} {
		require.Equal(t, c.want, notice.Clean(c.text, 20), c.text)
	}
}
