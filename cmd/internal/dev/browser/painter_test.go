package browser_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

// static is the directory of the page's files.
const static = "../../../../gateway/doors/page/static"

// play is a screen of the corpus: its size and what is printed on it.
type play struct {
	name       string
	cols, rows int
	in         []byte
}

// looks are inputs about how cells look, and where those are that no plain letter fills.
var looks = []string{
	"\x1b[1ma\x1b[2mb\x1b[22mc\x1b[3md\x1b[23me\x1b[4mf\x1b[24mg\x1b[5mh\x1b[25mi" +
		"\x1b[7mj\x1b[27mk\x1b[8ml\x1b[28mm\x1b[9mn\x1b[29mo\x1b[53mp\x1b[55mq",
	"\x1b[31;42ma\x1b[91;102mb\x1b[39mc\x1b[49md\x1b[38;5;200;48;5;17me\x1b[38;2;1;2;3;48;2;4;5;6mf\x1b[0mg",
	"\x1b[4:1ma\x1b[4:2mb\x1b[4:3mc\x1b[4:4md\x1b[4:5;58;5;9me\x1b[58:2::1:2:3mf\x1b[9;53mg\x1b[59;8mh",
	"\x1b[7ma\x1b[31mb\x1b[42mc\x1b[2md\x1b[1me\x1b[8mf\x1b[m \x1b[2;33mg\x1b[1mh\x1b[7;4mi j",
	"\x1b]4;1;#123456;200;rgb:ab/cd/ef\x1b\\\x1b]10;#010203\x1b\\\x1b]11;#fefdfc\x1b\\a\x1b[31mb\x1b[38;5;200mc\x1b[7md",
	"\x1b[?5ha\x1b[31mb\x1b[42mc\x1b[7md\x1b[me \x1b[1;33mf\x1b[2mg\x1b[m\x1b[4mh \x1b[8mi",
	"漢字 e\u0301x \x1b[41m世\x1b[42m界\x1b[m ｱ한글 ─│┌┐└┘├┤┬┴┼ █▓▒░ ⠿⣿ → ✓ ★ …",
	"╭──╮\r\n│ab│\r\n╰──╯ «é» Ωß Жя \x1b[1m╔══╗\x1b[m \x1b[7m▁▂▃▄▅▆▇█\x1b[m",
	"שלום abc سلام x हिन्दी y ไทย z 👩🏽 🇩🇪 ❤ ☃ 👩\u200d👧x",
	"\x1b[?2027h👩\u200d👧x 🇩🇪y ❤\ufe0fz 👍🏽w 1\ufe0f\u20e3v",
}

// corpus is the looks, and the inputs of the terminal model's pictures that have one step.
func corpus(t *testing.T) (all []play) {
	for i, in := range looks {
		all = append(all, play{"looks " + strconv.Itoa(i), 60, 6, []byte(in)})
	}
	files, err := filepath.Glob("../../../../proxy/terminal/screen/testdata/pictures/*.txtar")
	require.NoError(t, err)
	step := regexp.MustCompile(`(?m)^(\d+)x(\d+) ("(?:[^"\\‹]|\\.)*")$`)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range step.FindAllStringSubmatch(string(b), -1) {
			cols, _ := strconv.Atoi(m[1])
			rows, _ := strconv.Atoi(m[2])
			in, err := strconv.Unquote(m[3])
			require.NoError(t, err, m[0])
			all = append(all, play{filepath.Base(name) + " " + m[0], cols, rows, []byte(in)})
		}
	}
	require.Greater(t, len(all), 200)
	return all
}

// message returns the screen as the wire has it.
func message(s *screen.Screen) *protocol.Rows {
	m := &protocol.Rows{SessionID: "x", Seq: 1, State: new(protocol.ViewState)}
	m.Cols, m.Rows = s.Size()
	for y := range m.Rows {
		m.Lines = append(m.Lines, protocol.VisibleRow(string(s.AppendVeiledRowANSI(nil, y))))
	}
	s.EachPaletteChange(func(name string, r, g, b uint8) {
		rgb := fmt.Sprintf("#%02x%02x%02x", r, g, b)
		m.State.Palette = append(m.State.Palette, protocol.Color{Name: name, RGB: rgb})
	})
	m.State.Clusters, m.State.Reverse, m.State.Alt = s.Modes().Graphemes, s.Modes().Reverse, s.Alt()
	switch modes := s.Modes(); {
	case modes.MouseProtocol >= 1002:
		m.State.Mouse = protocol.MouseMotion
	case modes.MouseProtocol > 0:
		m.State.Mouse = protocol.MouseButtons
	case s.Alt():
		m.State.Mouse = protocol.MouseScrolls
	}
	for y := range m.Rows {
		if s.RowWrapped(y) {
			m.State.Wraps = append(m.State.Wraps, protocol.Wrap{Row: y, Blanks: s.RowBlanks(y)})
		}
		for _, l := range s.RowLinks(y) {
			link := protocol.Link{Row: y, From: l.From, To: l.To, Target: l.Target}
			m.State.Links = append(m.State.Links, link)
		}
	}
	m.Line = s.HistoryNumber() + uint64(s.HistoryLen())
	return m
}

// drawn describes a cell as a person sees it: of a blank, only the background, and lines through
// it.
func drawn(cols int, text, fg, bg, weight, slant, lines, kind, line string) string {
	if text = protocol.Visible(text); strings.TrimSpace(text) == "" {
		text, fg, weight, slant = "", "", "", ""
	}
	return fmt.Sprintf("%d %q %s on %s %s %s %s %s %s", cols, text, fg, bg, weight, slant, lines, kind, line)
}

// expected returns the cells of a row of the model, by column.
func expected(s *screen.Screen, y int) map[int]string {
	cols, _ := s.Size()
	cells := make(map[int]string)
	for x := range cols {
		if c := s.Cell(y, x); c.Width > 0 {
			cells[x] = wanted(s, c)
		}
	}
	return cells
}

// wanted describes how a cell of the model is to be drawn: bold colours are bright, and faint ones
// are mixed with their background.
func wanted(s *screen.Screen, c screen.Cell) string {
	st := c.Style
	if i, ok := st.Fg.Index(); ok && i < 8 && st.Attrs&screen.Bold != 0 {
		st.Fg = screen.Indexed(i + 8)
	}
	rgb := func(c screen.Color, fg bool) (v [3]uint8) { v[0], v[1], v[2] = s.ResolveColor(c, fg); return v }
	fg, bg := rgb(st.Fg, true), rgb(st.Bg, false)
	if (st.Attrs&screen.Inverse != 0) != s.Modes().Reverse {
		fg, bg = bg, fg
	}
	if st.Attrs&screen.Faint != 0 {
		for i := range fg {
			fg[i] = uint8((3*int(fg[i]) + 2*int(bg[i])) / 5)
		}
	}
	css := func(v [3]uint8) string { return fmt.Sprintf("rgb(%d, %d, %d)", v[0], v[1], v[2]) }
	weight, slant, kind, line := "400", "normal", "", ""
	var lines []string
	if st.Attrs&screen.Bold != 0 {
		weight = "700"
	}
	if st.Attrs&screen.Italic != 0 {
		slant = "italic"
	}
	text := c.Content
	if st.Attrs&screen.Conceal != 0 {
		text, st.Underline, st.Attrs = "", 0, 0
	}
	if st.Underline != 0 {
		lines, kind, line = append(lines, "underline"), kinds[st.Underline], css(fg)
		if !st.UnderlineColor.IsDefault() {
			line = css(rgb(st.UnderlineColor, true))
		}
	}
	if st.Attrs&screen.Overline != 0 {
		lines = append(lines, "overline")
	}
	if st.Attrs&screen.Strike != 0 {
		lines = append(lines, "line-through")
	}
	if len(lines) > 0 && st.Underline == 0 {
		kind, line = "solid", css(fg)
	}
	return drawn(c.Width, text, css(fg), css(bg), weight, slant, strings.Join(lines, " "), kind, line)
}

var kinds = [...]string{"", "solid", "double", "wavy", "dotted", "dashed"}

// cell is a cell as grid.js reads it; see there.
type cell [10]any

// shown returns the cells of a row of the page, by column; a missing cell is blank.
func shown(cells []cell, cols int, own string) map[string]string {
	got := make(map[string]string)
	for _, c := range cells {
		word := func(i int) string { return c[i].(string) }
		bg := word(4)
		if bg == "rgba(0, 0, 0, 0)" {
			bg = own
		}
		width, _ := c[1].(float64)
		got[fmt.Sprint(c[0])] = drawn(int(width), word(2), word(3), bg, word(5), word(6), word(7), word(8), word(9))
	}
	for x := range cols {
		if _, ok := got[strconv.Itoa(x)]; !ok {
			got[strconv.Itoa(x)] = drawn(1, "", "", own, "", "", "", "", "")
		}
	}
	return got
}

// differences lists the cells of the page that differ from the model's.
func differences(s *screen.Screen, grid [][]cell) (all []string) {
	cols, _ := s.Size()
	r, g, b := s.ResolveColor(0, s.Modes().Reverse)
	own := fmt.Sprintf("rgb(%d, %d, %d)", r, g, b)
	for y, row := range grid {
		got := shown(row, cols, own)
		for x, want := range expected(s, y) {
			if is := got[strconv.Itoa(x)]; is != want {
				where := fmt.Sprintf("row %d, column %d", y, x)
				all = append(all, where+":\n  want "+want+"\n  is   "+is)
			}
		}
	}
	return all
}

// onScreen opens a page that has only a screen, in the colours of the model.
func onScreen(t *testing.T) *browser.Tab {
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(bare(t).URL))
	script, err := os.ReadFile("testdata/grid.js")
	require.NoError(t, err)
	browser.JS[bool](b, string(script)+"; true")
	s := screen.New(screen.Config{Cols: 1, Rows: 1})
	hex := func(c screen.Color, foreground bool) string {
		r, g, b := s.ResolveColor(c, foreground)
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	var colors []string
	for i := range uint8(16) {
		colors = append(colors, hex(screen.Indexed(i), true))
	}
	browser.Call[bool](b, `async ({colors, foreground, background}) => {
		const {Painter} = await import('/app/painter.js'), {makePalette} = await import('/app/colors.js');
		const theme = {foreground, background, colors: makePalette(colors)};
		window.painter = new Painter(document.getElementById('s'), theme);
		painter.setSize(13);
		return true;
	}`, map[string]any{"colors": colors, "foreground": hex(0, true), "background": hex(0, false)})
	return b
}

// TestThePageDrawsTheCellsOfTheModel_Client reads back every cell of the screen corpus from where
// Chromium has put it.
func TestThePageDrawsTheCellsOfTheModel_Client(t *testing.T) {
	t.Parallel()
	b := onScreen(t)
	plays := corpus(t)
	screens, messages := make([]*screen.Screen, len(plays)), make([]*protocol.Rows, len(plays))
	for i, p := range plays {
		screens[i] = screen.New(screen.Config{Cols: p.cols, Rows: p.rows})
		screens[i].Feed(p.in)
		messages[i] = message(screens[i])
	}
	grids := browser.Call[[][][]cell](b, `(all) => all.map((m) => {
		painter.show(m);
		return grid(painter.root, painter.cell);
	})`, messages)
	for i, s := range screens {
		if diff := differences(s, grids[i]); len(diff) > 0 {
			t.Errorf("%s: %d cells differ, the first:\n%s", plays[i].name, len(diff), diff[0])
		}
	}
}

// Moved rows are moved, changed rows are drawn, and the others are left alone.
func TestOnlyChangedRowsAreDrawn_Client(t *testing.T) {
	t.Parallel()
	b := onScreen(t)
	s := screen.New(screen.Config{Cols: 40, Rows: 10})
	var last *protocol.Rows
	for i, step := range []struct {
		in     string
		redraw int // rows
	}{
		{"one of ten rows\r\ntwo\r\n\x1b[31mthree is red\x1b[m\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nten", 10},
		{"!", 1},
		{"\r\neleven", 1},
		{"\x1b[H\x1bM\x1bM12", 1},
		{"\x1b[5;1H", 0},
		{"\x1b]4;1;#00ff00\x1b\\", 10},
		{"\x1b[2J", 9},
	} {
		s.Feed([]byte(step.in))
		m := message(s)
		m.Seq = uint64(i + 1)
		before := browser.JS[int](b, "painter.painted")
		grid := browser.Call[[][]cell](b, `function (m) {
			if (!painter.show(m)) throw new Error('a difference to something else');
			return grid(painter.root, painter.cell);
		}`, m.Difference(last))
		last = m
		require.Empty(t, differences(s, grid), "step %d", i)
		require.Equal(t, step.redraw, browser.JS[int](b, "painter.painted")-before, "step %d", i)
	}
	require.False(t, browser.Call[bool](b, "(m) => painter.show(m)",
		&protocol.Rows{Seq: 99, Since: 98, Cols: 40, Rows: 10}), "the page lacks the screen before it")
}

// The cursor looks as the program wants it, over the whole of a wide character.
func TestTheCursor_Client(t *testing.T) {
	t.Parallel()
	b := onScreen(t)
	for in, want := range map[string]string{
		"a\x1b[31mb\x1b[m\b": "block 1,0 1x1 \"b\" rgb(0, 0, 0) on rgb(205, 0, 0)",
		"a世\x1b[2D":          "block 1,0 2x1 \"世\" rgb(0, 0, 0) on rgb(229, 229, 229)",
		"a世\b":               "block 1,0 2x1 \"世\" rgb(0, 0, 0) on rgb(229, 229, 229)",
		"\r\n\x1b[?25l":      "hidden",
		"\x1b[2;3H\x1b[4 q":  "underline 2,1 1x0 \"\" rgb(0, 0, 0) on rgb(229, 229, 229)",
		"\x1b[2;3H\x1b[6 q":  "bar 2,1 0x1 \"\" rgb(0, 0, 0) on rgb(229, 229, 229)",
		"\x1b[8;41mx\b":      "block 0,0 1x1 \"\" rgb(205, 0, 0) on rgb(229, 229, 229)",
	} {
		s := screen.New(screen.Config{Cols: 10, Rows: 3})
		s.Feed([]byte(in))
		m := message(s)
		c := s.Cursor()
		m.Cursor = protocol.Cursor{Row: c.Row, Col: c.Col, Visible: c.Visible}
		m.Cursor.Shape = map[int]string{4: protocol.CursorUnderline, 6: protocol.CursorBar}[c.Shape]
		got := browser.Call[string](b, `function (m) {
			painter.show(m);
			const c = painter.cursor;
			if (!c.isConnected) return 'hidden';
			const box = c.getBoundingClientRect(), at = painter.sheet.getBoundingClientRect();
			const shape = c.className.replace('cursor ', ''), css = getComputedStyle(c);
			return shape + ' ' + Math.round((box.left - at.left) / painter.cell)
				+ ',' + Math.floor((box.top - at.top) / painter.row)
				+ ' ' + Math.round(box.width / painter.cell - 0.01)
				+ 'x' + Math.round(box.height / painter.row - 0.01)
				+ ' ' + JSON.stringify(c.textContent) + ' ' + css.color + ' on ' + css.backgroundColor;
		}`, m)
		require.Equal(t, want, got, "%q", in)
	}
}

// bare serves the page's files, and a page that has only a screen.
func bare(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /app/", http.StripPrefix("/app/", http.FileServer(http.Dir(static))))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><link rel="stylesheet" href="/app/screen.css">`+
			`<div class="screen" id="s"></div>`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}
