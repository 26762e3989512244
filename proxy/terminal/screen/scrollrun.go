package screen

import "bytes"

// skipScrolls takes the unneeded ones of the same scrolling sequences at the front of p, and
// returns their length. Between side margins no row moves as a whole, and one byte may move every
// cell; but once as many rows as there are have been scrolled, and the cursor has been moved as
// far, another one changes nothing.
func (t *terminal) skipScrolls(p []byte) int {
	unit := scrollUnit(p)
	if unit == nil || len(p) <= 2*t.rows*len(unit) {
		return 0
	}
	n := 1
	for len(p) >= (n+1)*len(unit) && bytes.Equal(p[n*len(unit):(n+1)*len(unit)], unit) {
		n++
	}
	n -= 2 * t.rows
	if n <= 0 {
		return 0
	}
	for range n {
		t.sinkScroll(unit)
	}
	return n * len(unit)
}

// sinkScroll tells the sink of a scrolling sequence of which it is told every time.
func (t *terminal) sinkScroll(unit []byte) {
	returns := unit[0] != esc && t.modes.NewLine
	switch {
	case unit[0] == esc && unit[1] == 'E':
		returns = true
	case unit[0] == esc && unit[1] != 'D':
		return
	}
	t.line = textLine{}
	t.sink.Control('\n')
	if returns {
		t.sink.Control('\r')
	}
}

const esc = 0x1b

// scrollUnit returns the control at the front of p if it scrolls, nil for any other.
func scrollUnit(p []byte) []byte {
	switch {
	case p[0] >= 0x0a && p[0] <= 0x0c:
		return p[:1]
	case p[0] != esc || len(p) < 3:
		return nil
	case p[1] == 'D' || p[1] == 'E' || p[1] == 'M':
		return p[:2]
	case p[1] != '[':
		return nil
	}
	for i, c := range p[2:] {
		switch {
		case c >= '0' && c <= ';':
		case c == 'L' || c == 'M' || c == 'S' || c == 'T' || c == '^':
			return p[:i+3]
		default:
			return nil
		}
	}
	return nil
}
