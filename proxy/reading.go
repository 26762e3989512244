package proxy

import (
	"fmt"
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/screen"
)

// Bounds of what is remembered of the screens that agents were shown.
const (
	recallMost  = 32
	recallBytes = 256 << 10
)

// pastBytes bounds the rows of history in one answer, which is one message: what is over it has to be asked for by its number.
const pastBytes = 256 << 10

// legacyBytes bounds the rows of history that the gateway keeps of a program that has ended.
const legacyBytes = 128 << 10

// recall is the screens that agents were shown last, so that an answer can say what is new to who saw one of them: rows are
// compared with what was sent, and not with what the model once held. It belongs to the screen loop.
type recall struct {
	screens []recalled // oldest first
	bytes   int
}

// recalled is a screen as an agent was shown it. The rows are shared with the frame, which nobody changes.
type recalled struct {
	seq   uint64
	cols  int
	lines []string
	line  uint64 // the lasting number of its first row
	bytes int
}

// keep remembers a screen, at the cost of the oldest ones.
func (r *recall) keep(s recalled) {
	if r.at(s.seq) != nil {
		return
	}
	for _, line := range s.lines {
		s.bytes += len(line) + 16
	}
	r.screens, r.bytes = append(r.screens, s), r.bytes+s.bytes
	for len(r.screens) > recallMost || r.bytes > recallBytes && len(r.screens) > 1 {
		r.bytes -= r.screens[0].bytes
		r.screens = slices.Delete(r.screens, 0, 1)
	}
}

// at is the screen with a revision, nil if it is not remembered. It is good until the next keep.
func (r *recall) at(seq uint64) *recalled {
	for i := range r.screens {
		if r.screens[i].seq == seq {
			return &r.screens[i]
		}
	}
	return nil
}

// line is the lasting number that the first row of the main screen will have in the history.
func (l *screenLoop) line() uint64 { return l.model.HistoryNumber() + uint64(l.model.HistoryLen()) }

// mark completes a frame for an answer, with what stands out and where its rows are in the history, and remembers it.
func (l *screenLoop) mark(f *protocol.Frame) {
	f.Line = l.line()
	for _, h := range l.model.Highlights(nil, protocol.MaxHighlights) {
		if text := columns(f.Screen.Lines[h.Row], h); text != "" {
			f.Highlights = append(f.Highlights, protocol.Highlight{Row: h.Row, Rows: several(h.Rows), Col: h.Col, Cols: h.Cols, Text: text})
		}
	}
	l.recall.keep(recalled{seq: f.Seq, cols: f.Screen.Cols, lines: f.Screen.Lines, line: f.Line})
}

// several is a number of rows where there is more than one.
func several(rows int) int {
	if rows == 1 {
		return 0
	}
	return rows
}

// columns is what is shown of a row in the columns of a highlight, at most MaxHighlight characters of it.
func columns(row string, h screen.Highlight) string {
	from := byteAt(row, h.Col)
	if from < 0 {
		return ""
	}
	row = row[from:]
	if to := byteAt(row, h.Cols); to >= 0 {
		row = row[:to]
	}
	row = strings.TrimSpace(row)
	if r := []rune(row); len(r) > protocol.MaxHighlight {
		row = string(r[:protocol.MaxHighlight])
	}
	return row
}

// follow replaces the rows of f by how they moved and what changed for who has seen a screen, where that is shorter. It says
// in f that the screen is known; nil is none.
func (l *screenLoop) follow(f *protocol.Frame, seen *recalled) {
	if seen == nil || seen.cols != f.Screen.Cols || len(seen.lines) != f.Screen.Rows {
		return
	}
	f.Since = seen.seq
	if moved, changed, shorter := protocol.Follow(seen.lines, f.Screen.Lines); shorter {
		f.Moved, f.Changed, f.Screen.Lines = moved, changed, nil
	}
}

// followed makes the answer to a wait that of a read with Follow.
func (l *screenLoop) followed(out *protocol.WaitResult, m *protocol.Wait) {
	if out.Frame.Blackout.Hidden() {
		return
	}
	seen, r := l.recall.at(m.SinceSeq), out.Read()
	l.follow(r.Frame, seen)
	if l.past(r, &protocol.Read{Follow: true, Scrollback: m.Scrollback}, seen) != nil {
		return // it asks for no line by its number
	}
	out.Text, out.FirstLine, out.NextLine, out.OldestLine, out.HiddenText = r.Text, r.FirstLine, r.NextLine, r.OldestLine, r.HiddenText
	out.Unseen = r.Unseen
}

// past adds the rows of history that m asks for. seen is the screen that its reader has seen.
func (l *screenLoop) past(r *protocol.ReadResult, m *protocol.Read, seen *recalled) *refusal {
	oldest, length := l.model.HistoryNumber(), l.model.HistoryLen()
	stop := length
	start := max(0, stop-min(m.Scrollback, protocol.MaxHistory))
	switch {
	case m.FromLine != nil:
		from := *m.FromLine
		if from < oldest || from > oldest+uint64(length) {
			return &refusal{protocol.CodeBadMessage, notKept(from, oldest, uint64(length))}
		}
		start = int(from - oldest) //nolint:gosec // at most length
		stop = min(length, start+min(m.Scrollback, protocol.MaxHistory))
	case m.Follow && r.Frame.Since == 0:
		start = stop
	case m.Follow:
		unseen := l.unseen(seen)
		start, r.Unseen = max(start, unseen), uint64(length-unseen) //nolint:gosec // a history holds fewer
		if seen.line+uint64(len(seen.lines)) < oldest {             // some are not kept any more
			r.Unseen += oldest - seen.line - uint64(len(seen.lines))
		}
	}
	rows := l.pastRows(start, stop)
	if n := fitting(rows, m.FromLine != nil, pastBytes); m.FromLine != nil {
		rows, stop = rows[:n], start+n
	} else {
		rows, start = rows[len(rows)-n:], stop-n
	}
	r.OldestLine, r.FirstLine, r.NextLine = oldest, oldest+uint64(start), oldest+uint64(stop)
	r.Text = strings.Join(rows, "\n")
	for i := start; i < stop; i++ {
		if l.model.HistoryConceals(i) {
			r.HiddenText = append(r.HiddenText, i-start)
		}
	}
	return nil
}

// legacy is the history that the gateway answers for when the program has ended: nobody can ask for it later. It is nil where
// nobody would: no agent has looked at a session that is not its own.
func (l *screenLoop) legacy(own bool) *protocol.Past {
	stop := l.model.HistoryLen()
	if l.privacy.isHidden() || !own && len(l.recall.screens) == 0 {
		return nil
	}
	rows := l.pastRows(max(0, stop-protocol.MaxHistory), stop)
	n := fitting(rows, false, legacyBytes)
	start, oldest := stop-n, l.model.HistoryNumber()
	past := &protocol.Past{
		Text: strings.Join(rows[len(rows)-n:], "\n"), FirstLine: oldest + uint64(start), NextLine: oldest + uint64(stop), //nolint:gosec // rows of history
	}
	for i := start; i < stop; i++ {
		if l.model.HistoryConceals(i) {
			past.HiddenText = append(past.HiddenText, i-start)
		}
	}
	cols, _ := l.model.Size()
	for i := range l.recall.screens {
		if seen := &l.recall.screens[i]; seen.cols == cols {
			line := oldest + uint64(l.unseen(seen)) //nolint:gosec // rows of history
			if seen.line+uint64(len(seen.lines)) < oldest {
				line = seen.line + uint64(len(seen.lines)) // some are not kept any more
			}
			past.Seen = append(past.Seen, protocol.Seen{Seq: seen.seq, Line: line})
		}
	}
	return past
}

// fitting is how many rows make no more than so many bytes: the first ones, or the last.
func fitting(rows []string, first bool, most int) (n int) {
	for size := 0; n < len(rows); n++ {
		row := rows[len(rows)-1-n]
		if first {
			row = rows[n]
		}
		if size += len(row) + 1; size > most {
			break
		}
	}
	return n
}

// notKept says which lines there are in place of one that is not.
func notKept(from, oldest, length uint64) string {
	switch {
	case length == 0:
		return fmt.Sprintf("there is no line %d: the history is empty, and its next line will be %d", from, oldest)
	case from < oldest:
		return fmt.Sprintf("line %d is no longer kept: the history has the lines %d to %d", from, oldest, oldest+length-1)
	}
	return fmt.Sprintf("line %d has not left the screen yet: the history has the lines %d to %d", from, oldest, oldest+length-1)
}

// unseen is the first row of the history that somebody who has seen a screen does not know.
func (l *screenLoop) unseen(seen *recalled) int {
	oldest, length := l.model.HistoryNumber(), l.model.HistoryLen()
	if seen.line < oldest {
		return 0
	}
	start := min(length, int(seen.line-oldest)) //nolint:gosec // a history holds a million rows at most
	for i, row := range l.pastRows(start, min(length, start+len(seen.lines))) {
		if row != seen.lines[i] {
			return start + i
		}
	}
	return min(length, start+len(seen.lines))
}

// pastRows are the rows of history from start to before stop, as they are shown. What stands around them is looked at too: a
// secret may begin before them and end after them.
func (l *screenLoop) pastRows(start, stop int) []string {
	m := l.model
	length := m.HistoryLen()
	first, last := max(0, start-above), min(length, stop+above)
	if start >= stop {
		return nil
	}
	all := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		all = append(all, protocol.Visible(m.HistoryText(i)))
	}
	rows := slices.Clone(all[start-first : stop-first])
	if l.shown.open {
		return rows
	}
	if last == length && !m.Alt() { // the last of them may go on on the screen
		l.currentLines()
		all = append(all, l.shown.raw...)
	}
	cols, _ := m.Size()
	set := rowSet{rows: all, cols: cols, at: -1, wrapped: func(i int) bool {
		if i += first; i < length {
			return m.HistoryWrapped(i)
		}
		return m.RowWrapped(i - length)
	}}
	covers := set.secrets(nil, start-first)
	for i := len(covers) - 1; i >= 0; i-- {
		if c := covers[i]; c.row < len(rows) {
			rows[c.row] = redact.Cover(rows[c.row], c.from, c.to)
		}
	}
	return rows
}
