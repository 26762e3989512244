package observer

import (
	"fmt"
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/redact"
)

// legacyBytes bounds the rows of history that go to the gateway as they are when the program has ended; those before them go as
// pages.
const legacyBytes = 128 << 10

// line is the lasting number that the first row of the main screen will have in the history.
func (o *Observer) line() uint64 { return o.model.HistoryNumber() + uint64(o.model.HistoryLen()) }

// past adds the rows of history that m asks for. seen is the screen that its reader has seen. The error is for the agent.
func (o *Observer) past(r *protocol.ReadResult, m *protocol.Read, seen *sentScreen) error {
	oldest, length := o.model.HistoryNumber(), o.model.HistoryLen()
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
		unseen := o.unseen(seen)
		start, r.Unseen = max(start, unseen), uint64(length-unseen) //nolint:gosec // a history holds fewer
		if seen.line+uint64(len(seen.lines)) < oldest {             // some are not kept any more
			r.Unseen += oldest - seen.line - uint64(len(seen.lines))
		}
	}
	rows := o.history(start, stop, m.Attributes)
	if n := protocol.FitRows(rows, m.FromLine != nil, protocol.MaxAnswerBytes); m.FromLine != nil {
		rows, stop = rows[:n], start+n
	} else {
		rows, start = rows[len(rows)-n:], stop-n
	}
	r.OldestLine, r.FirstLine, r.NextLine = oldest, oldest+uint64(start), oldest+uint64(stop)
	r.Text = strings.Join(rows, "\n")
	r.HiddenText = o.concealed(start, stop)
	return nil
}

// find searches the history, and the main screen after it, from the line that m names on. The error is for the agent.
func (o *Observer) find(r *protocol.ReadResult, m *protocol.Read) error {
	pattern, err := m.Pattern()
	if err != nil {
		return err
	}
	oldest, length := o.model.HistoryNumber(), o.model.HistoryLen()
	start, skip := 0, 0
	if m.FromLine != nil && *m.FromLine > oldest {
		start = int(min(*m.FromLine-oldest, uint64(length)))                //nolint:gosec // bounded here
		skip = int(min(*m.FromLine-oldest-uint64(start), protocol.MaxSize)) //nolint:gosec // bounded here
	}
	rows, hidden := o.pastRows(start, length), o.concealed(start, length)
	if !o.model.Alt() {
		for _, row := range o.hiddenText() {
			hidden = append(hidden, length-start+row)
		}
		rows = append(rows, o.currentLines()...)
	}
	skip = min(skip, len(rows))
	for i := range hidden {
		hidden[i] -= skip
	}
	r.OldestLine = oldest
	r.Found = protocol.Find(pattern, rows[skip:], oldest+uint64(start+skip), hidden, m.Context, m.Scrollback) //nolint:gosec // not negative
	r.Found.Gone = o.model.HistoryBase()
	return nil
}

// legacy is the history from which the gateway answers once the program has ended. It is nil while the user hides the screen.
func (o *Observer) legacy() *protocol.Past {
	stop := o.model.HistoryLen()
	if o.privacy.isHidden() {
		return nil
	}
	rows := o.pastRows(0, stop)
	n := min(protocol.FitRows(rows, false, legacyBytes), protocol.MaxHistory)
	start, oldest := stop-n, o.model.HistoryNumber()
	past := &protocol.Past{
		Text: strings.Join(rows[start:], "\n"), FirstLine: oldest + uint64(start), NextLine: oldest + uint64(stop), //nolint:gosec // rows of history
		HiddenText: o.concealed(start, stop), Older: o.older(rows[:start]),
	}
	past.Gone = o.model.HistoryBase() + past.Oldest() - oldest
	cols, _ := o.model.Size()
	for i := range o.sent.screens {
		if seen := &o.sent.screens[i]; seen.cols == cols {
			line := oldest + uint64(o.unseen(seen)) //nolint:gosec // rows of history
			if seen.line+uint64(len(seen.lines)) < oldest {
				line = seen.line + uint64(len(seen.lines)) // some are not kept any more
			}
			past.Seen = append(past.Seen, protocol.Seen{Seq: seen.seq, Line: line})
		}
	}
	return past
}

// older is the pages of the oldest rows of the history, as many of the newest ones of them as have room.
func (o *Observer) older(rows []string) (pages []protocol.Page) {
	for room := protocol.MaxOlderBytes; len(rows) > 0; {
		n := min(protocol.FitRows(rows, false, protocol.MaxPageBytes), protocol.MaxHistory)
		start := len(rows) - n
		page := protocol.NewPage(o.model.HistoryNumber()+uint64(start), rows[start:], o.concealed(start, len(rows))) //nolint:gosec // not negative
		if room -= len(page.TextB64); room < 0 || n == 0 {                                                           // one row alone may be too long
			break
		}
		pages, rows = append(pages, page), rows[:start]
	}
	slices.Reverse(pages)
	return pages
}

// concealed are the rows of history from start to before stop, counted from 0, with text that the user cannot see.
func (o *Observer) concealed(start, stop int) (rows []int) {
	for i := start; i < stop; i++ {
		if o.model.HistoryConceals(i) {
			rows = append(rows, i-start)
		}
	}
	return rows
}

// notKept is the error for a line that the history does not have: it says which lines there are.
func notKept(from, oldest, length uint64) error {
	switch {
	case length == 0:
		return fmt.Errorf("there is no line %d: the history is empty, and its next line will be %d", from, oldest)
	case from < oldest:
		return fmt.Errorf("line %d is no longer kept: the history has the lines %d to %d", from, oldest, oldest+length-1)
	}
	return fmt.Errorf("line %d has not left the screen yet: the history has the lines %d to %d", from, oldest, oldest+length-1)
}

// unseen is the first row of the history that is new to an agent that has seen a screen.
func (o *Observer) unseen(seen *sentScreen) int {
	oldest, length := o.model.HistoryNumber(), o.model.HistoryLen()
	if seen.line < oldest {
		return 0
	}
	start := min(length, int(seen.line-oldest)) //nolint:gosec // a history holds a million rows at most
	for i, row := range o.pastRows(start, min(length, start+len(seen.lines))) {
		if row != seen.lines[i] {
			return start + i
		}
	}
	return min(length, start+len(seen.lines))
}

// pastRows are the rows of history from start to before stop, as they are shown.
func (o *Observer) pastRows(start, stop int) []string { return o.history(start, stop, false) }

// history is [Observer.pastRows], with SGR sequences if coloured is set. What stands around the rows is looked at too: a secret may
// begin before them and end after them.
func (o *Observer) history(start, stop int, coloured bool) []string {
	m := o.model
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
	if o.redacted.open {
		return rows
	}
	covers := o.pastSecrets(all, first, start)
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

// pastSecrets finds what to cover in rows of history, the first of which is row first, from row start on, which is row 0 of the
// result.
func (o *Observer) pastSecrets(rows []string, first, start int) []redact.CoverOf {
	m := o.model
	length := m.HistoryLen()
	if first+len(rows) == length && !m.Alt() { // the last of them may go on on the screen
		o.currentLines()
		rows = append(rows, o.redacted.raw...)
	}
	cols, _ := m.Size()
	set := redact.Rows{Own: o.redacted.own, Text: rows, Cols: cols, At: -1, Wrapped: func(i int) bool {
		if i += first; i < length {
			return m.HistoryWrapped(i)
		}
		return m.RowWrapped(i - length)
	}}
	return set.Covers(nil, start-first)
}
