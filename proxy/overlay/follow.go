package overlay

import (
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/vt"
)

// follower tells of most output, without the model, that it does not touch the row on which the sign stands: what a program
// echoes should not wait for more than a look at it. It knows the cursor's row, and a bound of its column, and gives up at
// anything that it does not know.
type follower struct {
	on         bool
	row, col   int // col may be more than the cursor's column, never less; it is cols while a wrap may be pending
	cols, rows int
	sign       int // the row of the sign
}

// follow begins where the model is.
func follow(m *screen.Screen, signRow int) follower {
	if !m.Plain() || !m.Ground() {
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

// misses reports whether a chunk leaves the sign's row alone, for sure; if so it has been followed.
func (f *follower) misses(chunk vt.Chunk) bool {
	was := *f
	if !f.on || !f.chunk(chunk) || f.row == f.sign { // there the sign is in the cursor's way
		*f = was
		return false
	}
	return true
}

// chunk follows a chunk, and reports whether it knows all of it.
func (f *follower) chunk(chunk vt.Chunk) bool {
	if !f.text(chunk.Bytes[:chunk.End(-1)]) {
		return false
	}
	for i, cut := range chunk.Cuts {
		part := chunk.Bytes[cut.At:chunk.End(i)]
		size := int(cut.Size)
		if size == 0 {
			size = escape(part)
		} else if !f.control(cut.Final, chunk.Params(cut)) {
			return false
		}
		if size == 0 || !f.text(part[size:]) {
			return false
		}
	}
	return true
}

// text follows what stands between sequences.
func (f *follower) text(p []byte) bool {
	for len(p) > 0 {
		n := f.char(p)
		if n == 0 {
			return false
		}
		p = p[n:]
	}
	return true
}

// char follows one character and returns its length, 0 to give up.
func (f *follower) char(p []byte) int {
	switch c := p[0]; {
	case c >= ' ' && c < 0x7f:
		return f.print(1, 1)
	case c >= 0x80:
		return f.wide(p)
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

// print follows a character of some columns and n bytes.
func (f *follower) print(columns, n int) int {
	if f.row == f.sign || f.col+columns > f.cols {
		return 0
	}
	f.col += columns
	return n
}

// wide follows a character of UTF-8 as if it were two columns wide.
func (f *follower) wide(p []byte) int {
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
	return f.print(2, n)
}

// escape is the length of a sequence of ESC that moves nothing, 0 for any other.
func escape(p []byte) int {
	switch {
	case len(p) > 1 && (p[1] == '7' || p[1] == '=' || p[1] == '>'):
		return 2
	case len(p) > 2 && (p[1] == '(' || p[1] == ')') && (p[2] == 'B' || p[2] == '0'):
		return 3
	}
	return 0
}

// control follows a control sequence: one private marker at most, and two numbers that matter.
func (f *follower) control(final byte, params []byte) bool {
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
	return f.obey(private, final, numbers, count)
}

// obey follows a control sequence by its final byte, and reports whether it is one that is known.
func (f *follower) obey(private, final byte, n [2]int, count int) bool {
	one := max(n[0], 1)
	switch {
	case private == '?' && (final == 'h' || final == 'l'):
		return count == 0 && harmlessMode(n[0])
	case private != 0:
		return private == ':' && final == 'm'
	}
	switch final {
	case 'm':
		return true
	case 'K', 'X', 'P', '@': // within the row
		return f.row != f.sign
	case 'H', 'f':
		return f.move(one-1, max(n[1], 1)-1)
	case 'd':
		return f.move(one-1, f.col)
	case 'G', '`':
		return f.move(f.row, one-1)
	case 'A':
		return f.move(f.row-one, f.col)
	case 'B':
		return f.move(f.row+one, f.col)
	case 'C':
		return f.move(f.row, f.col+one)
	case 'D':
		return f.move(f.row, f.col-one)
	}
	return false
}

// move puts the cursor somewhere on the screen.
func (f *follower) move(row, col int) bool {
	f.row, f.col = max(0, min(row, f.rows-1)), max(0, min(col, f.cols))
	return true
}

// harmlessMode reports whether a private mode moves no cursor and changes no row: keys, the cursor's look, mouse, focus,
// paste, synchronised output.
func harmlessMode(n int) bool {
	switch n {
	case 1, 12, 25, 1000, 1002, 1003, 1004, 1006, 2004, 2026:
		return true
	}
	return false
}
