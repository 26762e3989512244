package keys

import (
	"bytes"
	"strconv"
	"strings"
)

// CursorReport reads CPR (CSI row ; col R, ECMA-48 8.3.14), a terminal's answer to the question for
// its cursor. Rows count from 0.
func CursorReport(b []byte) (row int, ok bool) {
	report, _, ends := strings.Cut(string(b), "R")
	row, _, ok = cutNumbers(report, "\x1b[")
	return row - 1, ok && ends && row > 0
}

// ModeReport reads DECRPM for a private mode (CSI ? mode ; state $ y, VT510), a terminal's answer
// to the question for it.
func ModeReport(b []byte) (mode, state int, ok bool) {
	report, ends := strings.CutSuffix(string(b), "$y")
	mode, state, ok = cutNumbers(report, "\x1b[?")
	return mode, state, ok && ends
}

// cutNumbers reads the two numbers of a report after its introducer.
func cutNumbers(report, introducer string) (first, second int, ok bool) {
	report, begins := strings.CutPrefix(report, introducer)
	a, b, _ := strings.Cut(report, ";")
	first, noFirst := strconv.Atoi(a)
	second, noSecond := strconv.Atoi(b)
	return first, second, begins && noFirst == nil && noSecond == nil
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
