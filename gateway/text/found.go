package text

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// ErrNoSearch is for a session whose proxy is too old to search its history.
var ErrNoSearch = errors.New("the session's proxy is an older one, which cannot search: read the history without match")

// Found is the page of the rows that a search found: "61: " stands before a row that matches, "60- " before one around it, with the
// line's number in the history. got has to have [protocol.ReadResult.Found].
func (d Dialect) Found(got *protocol.ReadResult) Page {
	found := got.Found
	if found.Count == 0 {
		p := said("no row matches")
		p.Part = true
		return p
	}
	rows := make([]string, 0, len(found.Rows))
	for _, r := range found.Rows {
		sign := "- "
		if r.Match {
			sign = ": "
		}
		rows = append(rows, strings.TrimRight(strconv.FormatUint(r.Line, 10)+sign+oneRow(r.Text), " "))
	}
	return Page{Kind: kindFound, Rows: rows, Oldest: true, Part: true, Say: func(_, to int) string {
		shown := 0
		for _, r := range found.Rows[:to] {
			if r.Match {
				shown++
			}
		}
		next := found.More
		if i := slices.IndexFunc(found.Rows[to:], func(r protocol.FoundRow) bool { return r.Match }); i >= 0 {
			next = &found.Rows[to+i].Line
		}
		return more(found.Count, shown, next)
	}}
}

// more says how many rows match, and where those go on that are not shown.
func more(count, shown int, next *uint64) string {
	words := "1 row matches"
	if count != 1 {
		words = fmt.Sprintf("%d rows match", count)
	}
	if shown < count && next != nil {
		words += fmt.Sprintf(", the first %d of them here; the next is line %d", shown, *next)
	}
	return words + ":"
}

// Concealed is the note about found rows with text that the user cannot see.
func Concealed(found *protocol.Found) string {
	var rows []int
	for _, r := range found.Rows {
		if r.Hidden {
			rows = append(rows, int(r.Line)-1) //nolint:gosec // a program would have to print for years
		}
	}
	return Unseen("line", rows)
}
