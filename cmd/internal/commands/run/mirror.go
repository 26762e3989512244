package run

import (
	"slices"
	"strconv"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

// mirror shows a session on a terminal of another size. The bytes of a program mean something only
// on a screen of the size that it knows: so they go into a model of that size, and the terminal
// gets the model's rows. On a larger terminal they stand in its upper left corner; a smaller one
// shows the part with the cursor. It belongs to one goroutine.
type mirror struct {
	model      *screen.Screen
	cols, rows int // of the terminal
	part       screen.Window

	shown [][]byte     // the rows as they stand on the terminal; nil for not yet
	modes screen.Modes // that the terminal has
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

// resizeTerminal says that the terminal has another size. What stands on it is drawn anew.
func (m *mirror) resizeTerminal(cols, rows int) { m.cols, m.rows, m.shown = cols, rows, nil }

// feedOutput takes what the program printed.
func (m *mirror) feedOutput(p []byte) {
	m.model.Feed(p)
	m.model.TakeReplies() // the session's own model has answered
}

// appendUpdate appends what brings the terminal up to date.
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

// drawModes follows what the program wants of keyboard, mouse and window.
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

// moveTo is CUP to a place that counts from 0.
func moveTo(dst []byte, row, col int) []byte {
	dst = strconv.AppendInt(append(dst, "\x1b["...), int64(row)+1, 10)
	dst = strconv.AppendInt(append(dst, ';'), int64(col)+1, 10)
	return append(dst, 'H')
}
