package overlay

import (
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/vt"
)

// follower recognises, without the model, most output that does not touch the row of the sign: the
// echo of a key should not wait for the model. It tracks the cursor's row and an upper bound of its
// column, and gives up at any sequence that it does not recognise.
type follower struct {
	on         bool
	row, col   int // col is at least the cursor's column, and cols while a wrap may be pending
	cols, rows int
	sign       int // the row of the sign
}

// newFollower returns a follower at the model's cursor. It is off if the model's state is not plain
// enough.
func newFollower(m *screen.Screen, signRow int) follower {
	if !m.HasPlainCursor() || !m.IsAtGround() {
		return follower{}
	}
	at := m.Cursor()
	f := follower{on: true, row: at.Row, col: at.Col, sign: signRow}
	f.cols, f.rows = m.Size()
	if at.Pending {
		f.col = f.cols
	}
	return f
}

// followIfHarmless follows a chunk and reports true if the chunk surely leaves the sign's row
// alone. Otherwise the follower stays as it was.
func (f *follower) followIfHarmless(chunk vt.Chunk) bool {
	before := *f
	if !f.on || !f.followChunk(chunk) || f.row == f.sign { // the cursor may run into the sign
		*f = before
		return false
	}
	return true
}

// followChunk reports whether it understood all of the chunk.
func (f *follower) followChunk(chunk vt.Chunk) bool {
	if !f.followText(chunk.Bytes[:chunk.PartEnd(-1)]) {
		return false
	}
	for i, cut := range chunk.Cuts {
		part := chunk.Bytes[cut.At:chunk.PartEnd(i)]
		size := int(cut.Size)
		if size == 0 {
			size = escapeLen(part)
		} else if !f.followControl(cut.Final, chunk.Params(cut)) {
			return false
		}
		if size == 0 || !f.followText(part[size:]) {
			return false
		}
	}
	return true
}

// followText follows the bytes between sequences.
func (f *follower) followText(p []byte) bool {
	for len(p) > 0 {
		n := f.followChar(p)
		if n == 0 {
			return false
		}
		p = p[n:]
	}
	return true
}

// followChar follows one character and returns its length, or 0 to give up.
func (f *follower) followChar(p []byte) int {
	switch c := p[0]; {
	case c >= ' ' && c < 0x7f:
		return f.advance(1, 1)
	case c >= 0x80:
		return f.followUTF8(p)
	case c == '\r':
		f.col = 0
	case c == '\b':
		f.col = max(0, f.col-1)
	case c == '\n':
		if f.row+1 >= f.rows {
			return 0 // it scrolls
		}
		f.row++
	case c == '\a', c == 0x0e, c == 0x0f:
	default:
		return 0
	}
	return 1
}

// advance moves the cursor over a character of n bytes. It returns n, or 0 to give up.
func (f *follower) advance(columns, n int) int {
	if f.row == f.sign || f.col+columns > f.cols {
		return 0
	}
	f.col += columns
	return n
}

// followUTF8 follows a character of UTF-8 as if it were two columns wide.
func (f *follower) followUTF8(p []byte) int {
	n := 0
	switch c := p[0]; {
	case c >= 0xc3 && c < 0xe0: // c2 may begin a C1 control
		n = 2
	case c >= 0xe0 && c < 0xf0:
		n = 3
	case c >= 0xf0 && c < 0xf5:
		n = 4
	}
	if n == 0 || len(p) < n {
		return 0
	}
	for _, c := range p[1:n] {
		if c&0xc0 != 0x80 {
			return 0
		}
	}
	return f.advance(2, n)
}

// escapeLen returns the length of an ESC sequence that moves nothing, and 0 for any other.
func escapeLen(p []byte) int {
	switch {
	case len(p) > 1 && (p[1] == '7' || p[1] == '=' || p[1] == '>'):
		return 2
	case len(p) > 2 && (p[1] == '(' || p[1] == ')') && (p[2] == 'B' || p[2] == '0'):
		return 3
	}
	return 0
}

// followControl parses a control sequence: at most one private marker, and the first two numbers.
func (f *follower) followControl(final byte, params []byte) bool {
	private := byte(0)
	var numbers [2]int
	count := 0
	for i, c := range params {
		switch {
		case c >= '0' && c <= '9':
			if count < len(numbers) {
				numbers[count] = min(numbers[count]*10+int(c-'0'), screen.MaxCols+1)
			}
		case c == ';':
			count++
		case c == ':' && (private == 0 || private == ':'): // of SGR
			count, private = len(numbers), ':'
		case c >= '<' && c <= '?' && i == 0:
			private = c
		default:
			return false
		}
	}
	return f.applyControl(private, final, numbers, count)
}

// applyControl applies a control sequence, and reports whether it knows it.
func (f *follower) applyControl(private, final byte, n [2]int, count int) bool {
	one := max(n[0], 1)
	switch {
	case private == '?' && (final == 'h' || final == 'l'):
		return count == 0 && isHarmlessMode(n[0])
	case private != 0:
		return private == ':' && final == 'm'
	}
	switch final {
	case 'm':
		return true
	case 'K', 'X', 'P', '@': // within the row
		return f.row != f.sign
	case 'H', 'f':
		return f.moveCursor(one-1, max(n[1], 1)-1)
	case 'd':
		return f.moveCursor(one-1, f.col)
	case 'G', '`':
		return f.moveCursor(f.row, one-1)
	case 'A':
		return f.moveCursor(f.row-one, f.col)
	case 'B':
		return f.moveCursor(f.row+one, f.col)
	case 'C':
		return f.moveCursor(f.row, f.col+one)
	case 'D':
		return f.moveCursor(f.row, f.col-one)
	}
	return false
}

// moveCursor clamps the position to the screen. It always reports true.
func (f *follower) moveCursor(row, col int) bool {
	f.row, f.col = max(0, min(row, f.rows-1)), max(0, min(col, f.cols))
	return true
}

// isHarmlessMode reports whether a private mode moves no cursor and changes no row: keys, the
// cursor's look, mouse, focus, paste, synchronised output.
func isHarmlessMode(n int) bool {
	switch n {
	case 1, 12, 25, 1000, 1002, 1003, 1004, 1006, 2004, 2026:
		return true
	}
	return false
}
