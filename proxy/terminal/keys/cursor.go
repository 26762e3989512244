package keys

import (
	"bytes"
	"fmt"
)

// CursorReport reads CPR (CSI row ; col R, ECMA-48 8.3.14), a terminal's answer to the question for
// its cursor. Rows count from 0.
func CursorReport(b []byte) (row int, ok bool) {
	var col int
	n, err := fmt.Sscanf(string(b), "\x1b[%d;%dR", &row, &col)
	return row - 1, err == nil && n == 2 && row > 0
}

// ModeReport reads DECRPM for a private mode (CSI ? mode ; state $ y, VT510), a terminal's answer
// to the question for it.
func ModeReport(b []byte) (mode, state int, ok bool) {
	var end string
	n, err := fmt.Sscanf(string(b), "\x1b[?%d;%d$%1s", &mode, &state, &end)
	return mode, state, err == nil && n == 3 && end == "y" && b[len(b)-1] == 'y'
}

// CursorReports counts the cursor reports among what a terminal answers.
func CursorReports(replies []byte) int {
	n := 0
	for part := range bytes.SplitAfterSeq(replies, []byte{'R'}) {
		if at := bytes.LastIndexByte(part, 0x1b); at >= 0 {
			if _, ok := CursorReport(part[at:]); ok {
				n++
			}
		}
	}
	return n
}
