package protocol

import (
	"errors"
	"regexp"
	"time"
)

// Found is the rows of a history, and of the main screen after it, that match a regular expression.
type Found struct {
	// Count is how many rows match, of those that were searched.
	Count int `json:"count"`
	// Rows are those that match first, each with the rows around it, in order.
	Rows []FoundRow `json:"rows"`
	// More is the line of the first row that matches and is not in Rows, or from which a search
	// that was given up can go on; nil if there is nothing more.
	More *uint64 `json:"more,omitempty"`
	// Cut: the search took too long and was given up before the last row, so that Count does not
	// count all.
	Cut bool `json:"cut,omitempty"`
	// Gone is how many rows were dropped from the history before the search.
	Gone uint64 `json:"gone,omitempty"`
}

// FoundRow is one row.
type FoundRow struct {
	Line  uint64 `json:"line"`
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"`
	// Hidden: the row holds text which a person cannot see.
	Hidden bool `json:"hidden,omitempty"`
}

// MaxContext is the most rows before and after one that matches.
const MaxContext = 20

// foundBytes bounds the text of the rows of one answer.
const foundBytes = 256 << 10

// SearchTime is how long a search may take. It runs where the user's screen is followed, or where a
// gateway's messages are: they wait.
const SearchTime = 150 * time.Millisecond

// Pattern is the compiled Match of m. The error is a *FieldError.
func (m *Read) Pattern() (*regexp.Regexp, error) {
	re, err := CompilePattern("match", m.Match)
	if bad, ok := errors.AsType[*FieldError](err); ok {
		bad.RequestID = m.RequestID
	}
	return re, err
}

// Find looks for rows that match, of those that begin with line first: at most most rows with
// context rows before and after each. hidden are the rows, counted from 0, that hold text which a
// person cannot see; one before the first is passed over. It gives up after 150 ms: see
// [Found.Cut].
func Find(re *regexp.Regexp, rows []string, first uint64, hidden []int, context, most int) *Found {
	end := time.Now().Add(SearchTime)
	return find(re, rows, first, hidden, context, most, func() bool {
		return time.Now().After(end)
	})
}

// find is [Find] until over says that it has taken too long, which it is asked after each row.
func find(
	re *regexp.Regexp,
	rows []string,
	first uint64,
	hidden []int,
	context, most int,
	over func() bool,
) *Found {
	out, size, to := &Found{Rows: []FoundRow{}}, 0, 0
	for i, row := range rows {
		if i > 0 && over() {
			if out.Cut = true; out.More == nil {
				out.More = new(first + uint64(i)) //nolint:gosec // not negative
			}
			break
		}
		if !re.MatchString(row) {
			continue
		}
		if out.Count++; out.More != nil {
			continue
		}
		from, end := max(to, i-context), min(len(rows), i+1+context)
		switch full := len(out.Rows)+end-from > most && len(out.Rows) > 0 || size > foundBytes; {
		case i < to: // it stands among the rows around the one before
			if out.Rows[len(out.Rows)-(to-i)].Match = true; full {
				continue
			}
		case full:
			out.More = new(first + uint64(i)) //nolint:gosec // not negative
			continue
		}
		for j := from; j < end; j++ {
			out.Rows = append(out.Rows, FoundRow{
				Line:  first + uint64(j),
				Text:  rows[j],
				Match: j == i,
			}) //nolint:gosec // not negative
			size += len(rows[j])
		}
		to = max(to, end)
	}
	marks := make(map[uint64]bool, len(hidden))
	for _, row := range hidden {
		if row >= 0 {
			marks[first+uint64(row)] = true //nolint:gosec // not negative
		}
	}
	for i := range out.Rows {
		out.Rows[i].Hidden = marks[out.Rows[i].Line]
	}
	return out
}
