package notice

// Tag appends the bytes that show text on a row from a column on, both counted from 0, and leave everything else as it was.
// The text must fit, and column must not be the second half of a wide character.
func Tag(dst []byte, s Screen, row, column int, look, text string) []byte {
	dst = begin(dst, s)
	dst = append(moveTo(dst, row, column), look...)
	dst = append(dst, text...)
	return end(append(dst, "\x1b[0m"...), s)
}

// Untag appends the bytes that show the program's own cells again where Tag showed text at the right end of a row.
func Untag(dst []byte, s Screen, row, column int) []byte {
	return end(bare(begin(dst, s), s, row, column), s)
}

// UntagLast is Untag for a terminal whose program is gone: the cursor stays where it is by the terminal's own slot for it,
// whatever the program has printed since.
func UntagLast(dst []byte, s Screen, row, column int) []byte {
	dst = bare(begin(append(dst, "\x1b7"...), s), s, row, column)
	return append(s.AppendSides(append(dst, "\x1b[?7h"...)), "\x1b8"...)
}

// bare appends what shows the program's cells from a column on.
func bare(dst []byte, s Screen, row, column int) []byte {
	cols, _ := s.Size()
	dst = append(moveTo(dst, row, column), "\x1b[K"...)
	return append(s.AppendPartANSI(dst, row, column, cols), "\x1b[0m"...)
}
