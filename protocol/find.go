package protocol

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Found holds the lines of a history, and of the main screen after it, that match a regular
// expression. Rows that the terminal wrapped count as one line, up to [MaxJoined] of them.
type Found struct {
	// Count is how many of the searched lines match.
	Count int `json:"count"`
	// Rows are the first lines that match, each with the lines around it, in order.
	Rows []FoundRow `json:"rows"`
	// More is the number of the first match that is not in Rows, or of the line at which a search
	// that was given up can continue; nil if there is nothing more.
	More *uint64 `json:"more,omitempty"`
	// Cut is set if the search took too long and was given up before the last row, so that Count
	// may be too low.
	Cut bool `json:"cut,omitempty"`
	// Gone is how many rows the history had dropped before the search.
	Gone uint64 `json:"gone,omitempty"`
}

// FoundRow is a line that matches, or one near it.
type FoundRow struct {
	// Line is the number of its first row.
	Line uint64 `json:"line"`
	Text string `json:"text"`
	// Rows is how many rows it takes; 0 for one.
	Rows  int  `json:"rows,omitempty"`
	Match bool `json:"match,omitempty"`
	// Hidden is set if the line holds text that a person cannot see.
	Hidden bool `json:"hidden,omitempty"`
}

// Wrap marks a row that continues in the next one, because it reached the right edge of the screen.
type Wrap struct {
	Row int `json:"row"`
	// Blanks counts the blanks at the end of the row, which its text omits.
	Blanks int `json:"blanks,omitempty"`
}

// WrapsBefore returns the wraps of the rows before row n. wraps must be in order.
func WrapsBefore(wraps []Wrap, n int) []Wrap {
	end, _ := slices.BinarySearchFunc(wraps, n, func(w Wrap, n int) int { return w.Row - n })
	return slices.Clip(wraps[:end])
}

// MaxJoined is the most wrapped rows that count as one line.
const MaxJoined = 100

// Excerpt is consecutive rows of a history, or of the main screen after it. Rows count from 0.
type Excerpt struct {
	First uint64 // lasting number of Rows[0]
	Rows  []string
	// Hidden lists the rows with text that a person cannot see, and Wraps those that continue in
	// the next one. Both are in order.
	Hidden []int
	Wraps  []Wrap
}

// Skip returns the rows from n on.
func (e Excerpt) Skip(n int) Excerpt {
	out := Excerpt{First: e.First + uint64(n), Rows: e.Rows[n:]} //nolint:gosec // not negative
	hidden, wraps := e.indexesOf(n)
	for _, row := range e.Hidden[hidden:] {
		out.Hidden = append(out.Hidden, row-n)
	}
	for _, w := range e.Wraps[wraps:] {
		out.Wraps = append(out.Wraps, Wrap{Row: w.Row - n, Blanks: w.Blanks})
	}
	return out
}

// indexesOf returns the indexes in Hidden and Wraps of the first entries for rows from n on.
func (e Excerpt) indexesOf(n int) (hidden, wraps int) {
	hidden, _ = slices.BinarySearch(e.Hidden, n)
	wraps, _ = slices.BinarySearchFunc(e.Wraps, n, func(w Wrap, n int) int { return w.Row - n })
	return hidden, wraps
}

// Until returns the rows before n.
func (e Excerpt) Until(n int) Excerpt {
	hidden, wraps := e.indexesOf(n)
	return Excerpt{First: e.First, Rows: e.Rows[:n], Hidden: e.Hidden[:hidden:hidden], Wraps: e.Wraps[:wraps:wraps]}
}

// AppendScreen appends the rows of a screen.
func (e *Excerpt) AppendScreen(f *Frame) {
	for _, row := range f.HiddenText {
		e.Hidden = append(e.Hidden, len(e.Rows)+row)
	}
	e.Rows = append(e.Rows, f.Screen.Lines...)
}

// Lines returns the text of each line.
func (e Excerpt) Lines() []string {
	starts := e.joinLines()
	lines := make([]string, 0, len(starts)-1)
	for i, row := range starts[:len(starts)-1] {
		lines = append(lines, e.lineBetween(row, starts[i+1]).Text)
	}
	return lines
}

// joinLines returns the first row of each line, and after them the number of rows.
func (e Excerpt) joinLines() []int {
	starts, wraps := make([]int, 0, len(e.Rows)+1), e.Wraps
	for row := 0; row < len(e.Rows); {
		starts = append(starts, row)
		for len(wraps) > 0 && wraps[0].Row < row {
			wraps = wraps[1:]
		}
		last := min(row+MaxJoined, len(e.Rows)) - 1
		for row < last && len(wraps) > 0 && wraps[0].Row == row {
			row, wraps = row+1, wraps[1:]
		}
		row++
	}
	return append(starts, len(e.Rows))
}

// lineBetween joins the rows from row to before end.
func (e Excerpt) lineBetween(row, end int) FoundRow {
	out := FoundRow{Line: e.First + uint64(row), Text: e.Rows[row]} //nolint:gosec // not negative
	if end == row+1 {
		return out
	}
	var b strings.Builder
	_, at := e.indexesOf(row)
	for i, text := range e.Rows[row:end] {
		b.WriteString(text)
		// Wraps from the same process are not checked: they must not make a gateway panic.
		if k := at + i; row+i+1 < end && k < len(e.Wraps) && e.Wraps[k].Row == row+i {
			b.WriteString(strings.Repeat(" ", min(max(0, e.Wraps[k].Blanks), MaxSize)))
		}
	}
	out.Text, out.Rows = b.String(), end-row
	return out
}

// MaxContext is the most lines of context before and after a match.
const MaxContext = 20

// maxFoundBytes bounds the text of the rows of one answer.
const maxFoundBytes = 256 << 10

// SearchTime is how long a search may take. The user's screen, or a gateway's messages, are not
// processed meanwhile.
const SearchTime = 150 * time.Millisecond

// Pattern returns Match as a compiled regular expression. The error is a *FieldError.
func (m *Read) Pattern() (*regexp.Regexp, error) {
	re, err := CompilePattern("match", m.Match)
	if bad, ok := errors.AsType[*FieldError](err); ok {
		bad.RequestID = m.RequestID
	}
	return re, err
}

// Find searches for lines that match, and returns each with context lines before and after it, at
// most most lines together. It gives up after [SearchTime]: see [Found.Cut].
func (e Excerpt) Find(re *regexp.Regexp, context, most int) *Found {
	end := time.Now().Add(SearchTime)
	return e.find(re, context, most, func() bool { return time.Now().After(end) })
}

// find is [Excerpt.Find] with isOver in place of the clock: called after each line, it reports
// whether to give up.
func (e Excerpt) find(re *regexp.Regexp, context, most int, isOver func() bool) *Found {
	starts := e.joinLines()
	line := func(i int) FoundRow { return e.lineBetween(starts[i], starts[i+1]) }
	out, size, to := &Found{Rows: []FoundRow{}}, 0, 0
	for i := range len(starts) - 1 {
		now := line(i)
		if i > 0 && isOver() {
			if out.Cut = true; out.More == nil {
				out.More = &now.Line
			}
			break
		}
		if !re.MatchString(now.Text) {
			continue
		}
		if out.Count++; out.More != nil {
			continue
		}
		from, end := max(to, i-context), min(len(starts)-1, i+1+context)
		switch full := len(out.Rows)+end-from > most && len(out.Rows) > 0 || size > maxFoundBytes; {
		case i < to: // the line is already part of the previous match's context
			if out.Rows[len(out.Rows)-(to-i)].Match = true; full {
				continue
			}
		case full:
			out.More = &now.Line
			continue
		}
		for j := from; j < end; j++ {
			found := line(j)
			found.Match = i == j
			out.Rows = append(out.Rows, found)
			size += len(found.Text)
		}
		to = max(to, end)
	}
	for i := range out.Rows {
		row := int(out.Rows[i].Line - e.First) //nolint:gosec // a row of e
		at, _ := slices.BinarySearch(e.Hidden, row)
		out.Rows[i].Hidden = at < len(e.Hidden) && e.Hidden[at] < row+max(1, out.Rows[i].Rows)
	}
	return out
}
