// Package notice makes the bytes that draw the proxy's line over the program and, from the terminal
// model, those that remove it without a trace. It also makes foreign text safe to show
// (sanitize.go). It uses no network and makes no decisions.
//
// The line covers the bottom row, or as many rows from there upwards as its text has. It changes
// nothing that the program could notice: the row, the cursor, the colours and the modes that
// drawing disturbs are restored from the model, without the terminal's one slot for a saved cursor
// (DECSC), which belongs to the program.
package notice

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/acarl005/stripansi"
	"github.com/clipperhouse/displaywidth"

	"terminalproxy/protocol"
)

// Screen is the terminal model, which must show the same as the user's terminal.
type Screen interface {
	Size() (cols, rows int)
	// AppendRowANSI appends a row from its first column on, as text and SGR sequences.
	AppendRowANSI(dst []byte, row int) []byte
	// AppendPartANSI is AppendRowANSI for the columns from from to before to.
	AppendPartANSI(dst []byte, row, from, to int) []byte
	// AppendSides appends the bytes that restore left and right margins, if there are any. The
	// cursor may move.
	AppendSides(dst []byte) []byte
	// AppendPen appends the bytes that restore cursor, colours, character sets and modes after Draw
	// disturbed them.
	AppendPen(dst []byte) []byte
}

// drawingState puts the terminal into the state in which the line is drawn: no hyperlink, plain
// colours, ASCII, screen coordinates, no insertion, no wrapping (ECMA-48 SGR, IRM; DEC SCS, DECOM,
// DECAWM; OSC 8).
const drawingState = "\x1b]8;;\x1b\\\x1b[0m\x1b(B\x0f\x1b[?6l\x1b[4l\x1b[?7l"

// Reverse is reverse video, the look for terminals without colours.
const Reverse = "\x1b[7m"

// Draw appends the bytes that show text from a row on, counted from 0, one row for each of its
// lines, and leave everything else as it was. The SGR sequence look sets its look. Lines below the
// screen are left out. [TopRow] returns the row for a text at the bottom of the screen. Another row
// leaves the bottom row readable.
func Draw(dst []byte, s Screen, row int, look, text string) []byte {
	cols, rows := s.Size()
	dst = beginDrawing(dst, s)
	for _, line := range strings.Split(text, "\n") {
		if row == rows {
			break
		}
		dst = append(moveTo(dst, row, 0), look...)
		dst = append(dst, Fit(line, cols)...)
		row++
	}
	dst = append(dst, "\x1b[0m"...)
	return endDrawing(dst, s)
}

// Erase appends the bytes that show the program's own rows again where Draw showed text.
func Erase(dst []byte, s Screen, row int, text string) []byte {
	return redrawRows(dst, s, row, row+1+strings.Count(text, "\n"), "\x1b[0m")
}

// TopRow returns the row on which text begins that ends on the bottom row.
func TopRow(s Screen, text string) int {
	_, rows := s.Size()
	return max(0, rows-1-strings.Count(text, "\n"))
}

// Redraw appends the bytes that draw every row of the program again.
func Redraw(dst []byte, s Screen) []byte {
	_, rows := s.Size()
	return redrawRows(dst, s, 0, rows, "")
}

// redrawRows appends the program's rows from row to before to, each followed by after.
func redrawRows(dst []byte, s Screen, row, to int, after string) []byte {
	_, rows := s.Size()
	dst = beginDrawing(dst, s)
	for ; row < min(to, rows); row++ {
		dst = append(moveTo(dst, row, 0), "\x1b[2K"...)
		dst = append(s.AppendRowANSI(dst, row), after...)
	}
	return endDrawing(dst, s)
}

// moveTo appends CUP. Rows and columns count from 0.
func moveTo(dst []byte, row, column int) []byte {
	return fmt.Appendf(dst, "\x1b[%d;%dH", row+1, column+1)
}

// beginDrawing appends the bytes that bring the terminal into the state for drawing.
func beginDrawing(dst []byte, s Screen) []byte {
	dst = append(dst, drawingState...)
	if n := len(dst); len(s.AppendSides(dst)) > n {
		dst = append(dst, "\x1b[?69l"...) // text would stop at the right margin
	}
	return dst
}

func endDrawing(dst []byte, s Screen) []byte {
	dst = append(dst, "\x1b[?7h"...)
	return s.AppendPen(s.AppendSides(dst))
}

// Fit returns text in exactly cols columns: padded with blanks, or cut with an ellipsis.
func Fit(text string, cols int) string {
	if width := displaywidth.String(text); width <= cols {
		return text + strings.Repeat(" ", cols-width)
	}
	head := firstChars(text, countFitting(text, cols-1))
	if used := displaywidth.String(head); cols > used {
		return head + "…" + strings.Repeat(" ", cols-used-1)
	}
	return head
}

// Line lays out the text on the left and the keys that answer it on the right. If both do not fit,
// the keys stay and the text is cut.
func Line(cols int, text, keys string) string {
	room := cols - displaywidth.String(keys) - 3
	if room < 8 {
		return Fit(" "+keys, cols)
	}
	return " " + Fit(text, room) + " " + keys + " "
}

// Clean makes foreign text safe for one line: no escape sequences, no controls, no characters that
// are invisible or change the direction of writing, at most limit characters.
func Clean(text string, limit int) string {
	text = protocol.Visible(strings.ReplaceAll(stripansi.Strip(text), "\r", " "))
	var b strings.Builder
	n := 0
	for _, r := range text {
		switch {
		case r == '\n':
			r = ' '
		case !unicode.IsPrint(r):
			continue
		}
		if n == limit {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}

// Title appends the bytes that set the window's title (OSC 2). The text must be [Clean].
func Title(dst []byte, title string) []byte {
	return fmt.Appendf(dst, "\x1b]2;%s\a", title)
}

// PushTitle and PopTitle keep the window's own title on the terminal's stack during the session
// (xterm ctlseqs, XTWINOPS 22 and 23).
const (
	PushTitle = "\x1b[22;2t"
	PopTitle  = "\x1b[23;2t"
)
