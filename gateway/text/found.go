package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Found is the page of the lines that a search found: "61: " stands before a line that matches,
// "60- " before one around it, with the number of its first row in the history. got needs
// [protocol.ReadResult.Found].
func (d Dialect) Found(got *protocol.ReadResult) Page {
	found := got.Found
	if found.Count == 0 {
		p := notePage("%s", foundNote(got, 0, nil))
		p.Part = true
		return p
	}
	rows := make([]string, 0, len(found.Rows))
	for _, r := range found.Rows {
		sign := "- "
		if r.Match {
			sign = ": "
		}
		row := strconv.FormatUint(r.Line, 10) + sign + oneRow(r.Text)
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return Page{Rows: rows, Oldest: true, Part: true, Say: func(_, to int) string {
		shown := 0
		for _, r := range found.Rows[:to] {
			if r.Match {
				shown++
			}
		}
		next := found.More
		isMatch := func(r protocol.FoundRow) bool { return r.Match }
		if i := slices.IndexFunc(found.Rows[to:], isMatch); i >= 0 {
			next = &found.Rows[to+i].Line
		}
		return foundNote(got, shown, next)
	}}
}

// foundNote says how many rows match, where the omitted ones begin, and how many rows could not be
// searched.
func foundNote(got *protocol.ReadResult, shown int, next *uint64) string {
	found := got.Found
	var words string
	switch found.Count {
	case 0:
		words = "no line matches"
	case 1:
		words = "1 line matches"
	default:
		words = fmt.Sprintf("%d lines match", found.Count)
	}
	hidden := shown < found.Count && next != nil
	switch {
	case found.Cut && hidden:
		words += " of those that were searched before it took too long"
	case found.Cut:
		words += fmt.Sprintf(" of those before line %d, where the search took too long and "+
			"stopped: go on from there, or simplify the expression", *found.More)
	}
	if hidden {
		words += fmt.Sprintf(", the first %d of them here; the next is line %d", shown, *next)
	}
	if found.Gone > 0 {
		words += fmt.Sprintf("; not searched: %s before line %d, which the history has dropped",
			rowCount(found.Gone), got.OldestLine)
	}
	if found.Count == 0 {
		return words
	}
	return words + ":"
}

// ConcealedWarning warns of found rows with text that the user cannot see.
func ConcealedWarning(found *protocol.Found) string {
	var rows []int
	for _, r := range found.Rows {
		if r.Hidden {
			rows = append(rows, int(r.Line)-1) //nolint:gosec // a program would have to print for years
		}
	}
	return UnseenWarning("line", rows)
}
