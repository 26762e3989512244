package notice

// Tag appends the bytes that show text on a row from a column on, both counted from 0, and leave
// everything else as it was. The text must fit, and column must not be the second half of a wide
// character.
func Tag(dst []byte, s Screen, row, column int, look, text string) []byte {
	dst = beginDrawing(dst, s)
	dst = append(moveTo(dst, row, column), look...)
	dst = append(dst, text...)
	return endDrawing(append(dst, "\x1b[0m"...), s)
}

// Untag appends the bytes that show the program's own cells again where Tag showed text at the
// right end of a row.
func Untag(dst []byte, s Screen, row, column int) []byte {
	return endDrawing(appendCells(beginDrawing(dst, s), s, row, column), s)
}

// UntagLast is Untag after the program is gone: the terminal's own slot keeps the cursor in place,
// independent of later output.
func UntagLast(dst []byte, s Screen, row, column int) []byte {
	dst = appendCells(beginDrawing(append(dst, "\x1b7"...), s), s, row, column)
	return append(s.AppendSides(append(dst, "\x1b[?7h"...)), "\x1b8"...)
}

// appendCells appends the bytes that show the program's cells from a column on.
func appendCells(dst []byte, s Screen, row, column int) []byte {
	cols, _ := s.Size()
	dst = append(moveTo(dst, row, column), "\x1b[K"...)
	return append(s.AppendPartANSI(dst, row, column, cols), "\x1b[0m"...)
}
