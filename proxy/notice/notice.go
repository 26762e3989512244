// Package notice is the line that the proxy shows the user over the program, and its exact removal. It makes bytes for
// the user's terminal out of the terminal model, and words of others fit to stand there (words.go); it knows no network and
// decides nothing.
//
// The line covers the bottom row, or as many rows from there upwards as its text has. It changes nothing that the program could notice: the row, the cursor, the colours and
// the modes that drawing disturbs come back from the model, without the terminal's one slot for a saved cursor (DECSC),
// which is the program's.
package notice

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/acarl005/stripansi"
	"github.com/clipperhouse/displaywidth"

	"terminalproxy/protocol"
)

// Screen is what the package needs of the terminal model, which must show what the user's terminal shows.
type Screen interface {
	Size() (cols, rows int)
	// AppendRowANSI appends a row from its first column on, as text and SGR sequences.
	AppendRowANSI(dst []byte, row int) []byte
	// AppendPartANSI is that for the columns from to to, the latter not among them.
	AppendPartANSI(dst []byte, row, from, to int) []byte
	// AppendSides appends what brings left and right margins back, nothing where there are none. The cursor may move.
	AppendSides(dst []byte) []byte
	// AppendPen appends what brings cursor, colours, character sets and modes back after Draw disturbed them.
	AppendPen(dst []byte) []byte
}

// disturb is the state in which the line is drawn, whatever the program's is: no hyperlink, plain colours, ASCII, screen
// coordinates, no insertion, no wrapping (ECMA-48 SGR, IRM; DEC SCS, DECOM, DECAWM; OSC 8).
const disturb = "\x1b]8;;\x1b\\\x1b[0m\x1b(B\x0f\x1b[?6l\x1b[4l\x1b[?7l"

// Reverse is reverse video, the look for terminals without colours.
const Reverse = "\x1b[7m"

// Draw appends the bytes that show text from a row on, counted from 0, one row for each of its lines, in the look that the
// SGR sequence look sets, and leave everything else as it was. Lines for which there is no row are left out. [Top] is the row for the bottom of the
// screen; another one is for a bottom row that the user has to read.
func Draw(dst []byte, s Screen, row int, look, text string) []byte {
	cols, rows := s.Size()
	dst = begin(dst, s)
	for _, line := range strings.Split(text, "\n") {
		if row == rows {
			break
		}
		dst = append(moveTo(dst, row, 0), look...)
		dst = append(dst, Fit(line, cols)...)
		row++
	}
	dst = append(dst, "\x1b[0m"...)
	return end(dst, s)
}

// Erase appends the bytes that show the program's own rows again where Draw showed text.
func Erase(dst []byte, s Screen, row int, text string) []byte {
	return redraw(dst, s, row, row+1+strings.Count(text, "\n"), "\x1b[0m")
}

// Top is the row on which text begins that ends on the bottom row.
func Top(s Screen, text string) int {
	_, rows := s.Size()
	return max(0, rows-1-strings.Count(text, "\n"))
}

// Redraw appends the bytes that show every row of the program's anew.
func Redraw(dst []byte, s Screen) []byte {
	_, rows := s.Size()
	return redraw(dst, s, 0, rows, "")
}

// redraw appends the program's rows from a row up to another, as far as there are any, each with after behind it.
func redraw(dst []byte, s Screen, row, to int, after string) []byte {
	_, rows := s.Size()
	dst = begin(dst, s)
	for ; row < min(to, rows); row++ {
		dst = append(moveTo(dst, row, 0), "\x1b[2K"...)
		dst = append(s.AppendRowANSI(dst, row), after...)
	}
	return end(dst, s)
}

// moveTo is CUP. Rows and columns count from 0.
func moveTo(dst []byte, row, column int) []byte {
	return fmt.Appendf(dst, "\x1b[%d;%dH", row+1, column+1)
}

// begin appends what brings the terminal into the state in which is drawn.
func begin(dst []byte, s Screen) []byte {
	dst = append(dst, disturb...)
	if n := len(dst); len(s.AppendSides(dst)) > n {
		dst = append(dst, "\x1b[?69l"...) // text would stop at the right margin
	}
	return dst
}

func end(dst []byte, s Screen) []byte {
	dst = append(dst, "\x1b[?7h"...)
	return s.AppendPen(s.AppendSides(dst))
}

// Fit is text in exactly cols columns: padded with blanks, or cut with an ellipsis that says so.
func Fit(text string, cols int) string {
	if width := displaywidth.String(text); width <= cols {
		return text + strings.Repeat(" ", cols-width)
	}
	head := first(text, fitting(text, cols-1))
	if used := displaywidth.String(head); cols > used {
		return head + "…" + strings.Repeat(" ", cols-used-1)
	}
	return head
}

// Line lays out what is said on the left and the keys that answer it on the right. Where both do not fit, the keys stay
// and the text is cut.
func Line(cols int, say, keys string) string {
	room := cols - displaywidth.String(keys) - 3
	if room < 8 {
		return Fit(" "+keys, cols)
	}
	return " " + Fit(say, room) + " " + keys + " "
}

// Clean makes text from outside fit for one line: no escape sequences, no controls, nothing that is invisible or turns
// the direction of writing, at most limit characters.
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

// PushTitle and PopTitle keep the window's own title on the terminal's stack for the time of the session (xterm ctlseqs,
// XTWINOPS 22 and 23).
const (
	PushTitle = "\x1b[22;2t"
	PopTitle  = "\x1b[23;2t"
)
