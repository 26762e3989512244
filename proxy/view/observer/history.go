package observer

import (
	"fmt"
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/redact"
)

// finalHistoryBytes bounds the rows of history that go to the gateway as plain text when the
// program has ended. Those before them go as pages.
const finalHistoryBytes = 128 << 10

// firstScreenLine returns the history number that the first row of the main screen will have.
func (v *shownScreen) firstScreenLine() uint64 {
	return v.model.HistoryNumber() + uint64(v.model.HistoryLen())
}

// addHistory adds the rows of history that m asks for. seen is the screen that its reader has seen.
// The error is for the agent.
func (v *shownScreen) addHistory(r *protocol.ReadResult, m *protocol.Read, seen *sentScreen) error {
	oldest, length := v.model.HistoryNumber(), v.model.HistoryLen()
	stop := length
	start := max(0, stop-min(m.Scrollback, protocol.MaxHistory))
	switch {
	case m.FromLine != nil:
		from := *m.FromLine
		if from < oldest || from > oldest+uint64(length) {
			return notKept(from, oldest, uint64(length))
		}
		start = int(from - oldest) //nolint:gosec // at most length
		stop = min(length, start+min(m.Scrollback, protocol.MaxHistory))
	case m.Follow && r.Frame.Since == 0:
		start = stop
	case m.Follow:
		unseen := v.firstUnseen(seen)
		start, r.Unseen = max(start, unseen), uint64(length-unseen) //nolint:gosec // a history holds fewer
		if seen.line+uint64(len(seen.lines)) < oldest {             // some rows were dropped
			r.Unseen += oldest - seen.line - uint64(len(seen.lines))
		}
	}
	rows := v.historyRows(start, stop, m.Attributes)
	if n := protocol.FitRows(rows, m.FromLine != nil, protocol.MaxAnswerBytes); m.FromLine != nil {
		rows, stop = rows[:n], start+n
	} else {
		rows, start = rows[len(rows)-n:], stop-n
	}
	r.OldestLine, r.FirstLine, r.NextLine = oldest, oldest+uint64(start), oldest+uint64(stop)
	r.Text = strings.Join(rows, "\n")
	r.HiddenText = v.concealedRows(start, stop)
	if m.Attributes {
		r.Wraps, r.Links = v.pastWraps(start, stop), v.pastLinks(start, stop)
	}
	return nil
}

// searchHistory searches the history, and the main screen after it, from the line that m names. The
// error is for the agent.
func (v *shownScreen) searchHistory(r *protocol.ReadResult, m *protocol.Read) error {
	pattern, err := m.Pattern()
	if err != nil {
		return err
	}
	oldest, length := v.model.HistoryNumber(), v.model.HistoryLen()
	start, skip := 0, 0
	if m.FromLine != nil && *m.FromLine > oldest {
		start = int(min(*m.FromLine-oldest, uint64(length)))                //nolint:gosec // bounded here
		skip = int(min(*m.FromLine-oldest-uint64(start), protocol.MaxSize)) //nolint:gosec // bounded here
	}
	all := v.excerpt(start, length+len(v.mainLines()))
	r.OldestLine = oldest
	r.Found = all.Skip(min(skip, len(all.Rows))).Find(pattern, m.Context, m.Scrollback)
	r.Found.Gone = v.model.HistoryBase()
	return nil
}

// finalHistory returns the history from which the gateway answers once the program has ended. It is
// nil while the user hides the screen.
func (o *Observer) finalHistory() *protocol.Past {
	stop := o.model.HistoryLen()
	if o.privacy.isHidden() {
		return nil
	}
	all := o.excerpt(0, stop)
	rows := all.Rows
	n := min(protocol.FitRows(rows, false, finalHistoryBytes), protocol.MaxHistory)
	start, oldest := stop-n, o.model.HistoryNumber()
	newest := all.Skip(start)
	past := &protocol.Past{
		Text:       strings.Join(rows[start:], "\n"),
		FirstLine:  oldest + uint64(start),
		NextLine:   oldest + uint64(stop), //nolint:gosec // rows of history
		HiddenText: newest.Hidden,
		Wraps:      append(newest.Wraps, o.wrapsOf(len(o.mainLines()), n)...),
		Older:      o.olderPages(all.Until(start)),
	}
	past.Gone = o.model.HistoryBase() + past.Oldest() - oldest
	cols, _ := o.model.Size()
	for i := range o.sent.screens {
		if seen := &o.sent.screens[i]; seen.cols == cols {
			line := oldest + uint64(o.firstUnseen(seen)) //nolint:gosec // rows of history
			if seen.line+uint64(len(seen.lines)) < oldest {
				line = seen.line + uint64(len(seen.lines)) // some rows were dropped
			}
			past.Seen = append(past.Seen, protocol.Seen{Seq: seen.seq, Line: line})
		}
	}
	return past
}

// olderPages packs rows into pages, from the newest row back, as many as have room.
func (v *shownScreen) olderPages(all protocol.Excerpt) (pages []protocol.Page) {
	for room := protocol.MaxOlderBytes; len(all.Rows) > 0; {
		n := min(protocol.FitRows(all.Rows, false, protocol.MaxPageBytes), protocol.MaxHistory)
		start := len(all.Rows) - n
		page := protocol.NewPage(all.Skip(start))
		// One row alone may be too long.
		if room -= page.Size(); room < 0 || n == 0 {
			break
		}
		pages, all = append(pages, page), all.Until(start)
	}
	slices.Reverse(pages)
	return pages
}

// excerpt returns the rows from start to before stop, counted through the history and the main
// screen after it, as agents may see them.
func (v *shownScreen) excerpt(start, stop int) protocol.Excerpt {
	length, main := v.model.HistoryLen(), v.mainLines()
	out := protocol.Excerpt{
		First:  v.model.HistoryNumber() + uint64(start), //nolint:gosec // not negative
		Rows:   v.pastRows(start, min(stop, length)),
		Hidden: v.concealedLines(start, stop),
	}
	out.Rows = append(out.Rows, main[min(max(start-length, 0), len(main)):min(max(stop-length, 0), len(main))]...)
	out.Wraps = v.pastWraps(start, min(stop, length))
	for _, w := range v.wrapsOf(len(main), length) {
		if start <= w.Row && w.Row < stop {
			out.Wraps = append(out.Wraps, protocol.Wrap{Row: w.Row - start, Blanks: w.Blanks})
		}
	}
	return out
}

// pastWraps returns the wrapped rows of history from start to before stop, counted from 0.
func (v *shownScreen) pastWraps(start, stop int) (wraps []protocol.Wrap) {
	for i := start; i < stop; i++ {
		if v.model.HistoryWrapped(i) {
			wraps = append(wraps, protocol.Wrap{Row: i - start, Blanks: v.model.HistoryBlanks(i)})
		}
	}
	return wraps
}

// wrapsOf returns which of the first rows of the shown screen are wrapped, counted from first.
func (v *shownScreen) wrapsOf(rows, first int) (wraps []protocol.Wrap) {
	for row := range rows {
		if v.model.RowWrapped(row) {
			wraps = append(wraps, protocol.Wrap{Row: first + row, Blanks: v.model.RowBlanks(row)})
		}
	}
	return wraps
}

// concealedRows returns the rows of history from start to before stop with text that the user
// cannot see, counted from 0.
func (v *shownScreen) concealedRows(start, stop int) (rows []int) {
	for i := start; i < stop; i++ {
		if v.model.HistoryConceals(i) {
			rows = append(rows, i-start)
		}
	}
	return rows
}

// notKept returns the error about a line that the history does not have. It names the lines that
// are kept.
func notKept(from, oldest, length uint64) error {
	switch {
	case length == 0:
		return fmt.Errorf("there is no line %d: the history is empty, and its next line will be %d",
			from, oldest)
	case from < oldest:
		return fmt.Errorf("line %d is no longer kept: the history has the lines %d to %d", from,
			oldest, oldest+length-1)
	}
	return fmt.Errorf("line %d has not left the screen yet: the history has the lines %d to %d",
		from, oldest, oldest+length-1)
}

// firstUnseen returns the first row of the history that the reader of a screen has not seen.
func (v *shownScreen) firstUnseen(seen *sentScreen) int {
	oldest, length := v.model.HistoryNumber(), v.model.HistoryLen()
	if seen.line < oldest {
		return 0
	}
	start := min(length, int(seen.line-oldest)) //nolint:gosec // a history holds a million rows at most
	for i, row := range v.pastRows(start, min(length, start+len(seen.lines))) {
		if row != seen.lines[i] {
			return start + i
		}
	}
	return min(length, start+len(seen.lines))
}

// pastRows returns the rows of history from start to before stop, as shown.
func (v *shownScreen) pastRows(start, stop int) []string { return v.historyRows(start, stop, false) }

// historyRows is [Observer.pastRows], with SGR sequences if coloured is set. It also examines the
// rows around them: a secret may begin before them and end after them.
func (v *shownScreen) historyRows(start, stop int, coloured bool) []string {
	m := v.model
	length := m.HistoryLen()
	first, last := max(0, start-above), min(length, stop+above)
	if start >= stop {
		return nil
	}
	all := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		all = append(all, protocol.VisibleRow(m.HistoryText(i)))
	}
	raw := all[start-first : stop-first]
	rows := slices.Clone(raw)
	if coloured {
		for i := range rows {
			rows[i] = protocol.VisibleRow(string(m.AppendHistoryANSI(nil, start+i)))
		}
	}
	if v.redacted.open {
		return rows
	}
	covers := v.pastSecrets(all, first, start)
	for i := len(covers) - 1; i >= 0; i-- {
		switch c := covers[i]; {
		case c.Row >= len(rows):
		case coloured:
			rows[c.Row] = c.ANSI(rows[c.Row], raw[c.Row])
		default:
			rows[c.Row] = redact.Cover(rows[c.Row], c.From, c.To)
		}
	}
	return rows
}

// pastSecrets finds what to cover in rows of history, from row start, row 0 of the result. first is
// the row of rows[0].
func (v *shownScreen) pastSecrets(rows []string, first, start int) []redact.CoverOf {
	m := v.model
	length := m.HistoryLen()
	if first+len(rows) == length && !m.Alt() { // the last row may continue on the screen
		v.currentLines()
		rows = append(rows, v.redacted.raw...)
	}
	cols, _ := m.Size()
	set := redact.Rows{
		Own:  v.redacted.own,
		Text: rows,
		Cols: cols,
		At:   -1,
		Wrapped: func(i int) bool {
			if i += first; i < length {
				return m.HistoryWrapped(i)
			}
			return m.RowWrapped(i - length)
		},
	}
	return set.AppendCovers(nil, start-first)
}
