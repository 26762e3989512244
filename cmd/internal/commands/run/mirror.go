package run

import (
	"slices"
	"strconv"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

// mirror shows a session on a terminal of another size. A program's bytes are valid only on a
// screen of its own size, so they go into a model of that size, and the terminal gets the model's
// rows. On a larger terminal they appear in the upper left corner; a smaller one shows the part
// with the cursor. Owned by one goroutine.
type mirror struct {
	model      *screen.Screen
	cols, rows int // of the terminal
	part       screen.Window

	shown [][]byte     // the rows as drawn on the terminal; nil before that
	modes screen.Modes // set on the terminal
	title string
	bells uint64
	shape int
}

// newMirror makes a mirror of a session of size cols x rows. The terminal must be clear and in its
// own modes.
func newMirror(cols, rows, termCols, termRows int) *mirror {
	m := &mirror{model: screen.New(screen.Config{Cols: cols, Rows: rows})}
	m.modes = m.model.Modes()
	m.resizeTerminal(termCols, termRows)
	return m
}

// hasSize reports whether the session has this size.
func (m *mirror) hasSize(cols, rows int) bool {
	c, r := m.model.Size()
	return c == cols && r == rows
}

// resizeTerminal sets the terminal's size. All rows are drawn again.
func (m *mirror) resizeTerminal(cols, rows int) { m.cols, m.rows, m.shown = cols, rows, nil }

// feedOutput feeds the program's output into the model.
func (m *mirror) feedOutput(p []byte) {
	m.model.Feed(p)
	m.model.TakeReplies() // the session's own model has answered
}

// appendUpdate appends the bytes that bring the terminal up to date.
func (m *mirror) appendUpdate(dst []byte) []byte {
	m.part.Follow(m.model, m.cols, m.rows)
	dst = append(dst, "\x1b[?25l"...)
	if m.shown == nil {
		dst = append(dst, "\x1b[m\x1b[2J"...)
		m.shown = make([][]byte, m.rows)
	}
	for y := range m.rows {
		row := m.model.AppendPartANSI(nil, m.part.Top+y, m.part.Left, m.part.Left+m.cols)
		if slices.Equal(row, m.shown[y]) {
			continue
		}
		m.shown[y] = row
		dst = moveTo(dst, y, 0)
		dst = append(append(dst, "\x1b[m\x1b[2K"...), row...)
	}
	dst = m.drawModes(dst)
	cursor := m.model.Cursor()
	if cursor.Visible {
		dst = moveTo(dst, cursor.Row-m.part.Top, min(cursor.Col-m.part.Left, m.cols-1))
	}
	return m.drawCursor(dst, cursor)
}

// drawModes sets the program's modes of keyboard, mouse and window on the terminal.
func (m *mirror) drawModes(dst []byte) []byte {
	want := m.model.Modes()
	want.CursorVisible, want.KeyboardLock = m.modes.CursorVisible, false
	if m.part.Top > 0 || m.part.Left > 0 { // the mouse would point at other cells
		want.MouseProtocol, want.MouseEncoding = 0, 0
	}
	dst = screen.AppendModes(dst, m.modes, want)
	m.modes = want
	if title := m.model.Title(); title != m.title {
		dst = notice.Title(dst, title)
		m.title = title
	}
	if bells := m.model.Bells(); bells != m.bells {
		dst = append(dst, '\a')
		m.bells = bells
	}
	return dst
}

func (m *mirror) drawCursor(dst []byte, c screen.Cursor) []byte {
	if c.Shape != m.shape {
		dst = append(strconv.AppendInt(append(dst, "\x1b["...), int64(c.Shape), 10), " q"...)
		m.shape = c.Shape
	}
	if c.Visible {
		dst = append(dst, "\x1b[?25h"...)
	}
	return dst
}

// moveTo appends CUP. Row and column count from 0.
func moveTo(dst []byte, row, col int) []byte {
	dst = strconv.AppendInt(append(dst, "\x1b["...), int64(row)+1, 10)
	dst = strconv.AppendInt(append(dst, ';'), int64(col)+1, 10)
	return append(dst, 'H')
}
