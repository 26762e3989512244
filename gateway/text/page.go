package text

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Dialect holds the phrases that tell the readers of one interface how to ask for more.
type Dialect struct {
	// Limit names the parameter for the number of tokens.
	Limit string
	// Lines asks for n rows of history from line first on.
	Lines func(first uint64, n int) string
	// Output asks for n rows of the output of the nth command from the end, from line first on.
	Output func(nth int, first uint64, n int) string
	// Older asks for rows of history that are older.
	Older string
	// Screen says how to see the whole screen.
	Screen string
}

// Whole is the page of a screen, or of its last rows only; last is 0 for all of them.
func (d Dialect) Whole(f *protocol.Frame, last int) Page {
	rows, above := lastRows(f.Screen.Lines, last)
	return Page{Rows: rows, Part: above > 0, Say: func(first, _ int) string {
		switch shown := above + first; {
		case first > 0 && first == len(rows):
			return fmt.Sprintf("all rows are left out because they are too long for %s:", d.Limit)
		case first > 0:
			return fmt.Sprintf("rows %d to %d; earlier rows are left out because they are too "+
				"long for %s:", shown+1, len(f.Screen.Lines), d.Limit)
		case above > 0:
			return fmt.Sprintf("rows %d to %d:", shown+1, len(f.Screen.Lines))
		}
		return ""
	}}
}

func lastRows(lines []string, last int) (rows []string, above int) {
	if last > 0 && last < len(lines) {
		above = len(lines) - last
	}
	return splitRows(Rows(lines[above:])), above
}

// Changes is the page of the changes since a revision: got answers a read with Follow. The rows
// that left the screen unseen come first, then the rows that changed, or all of them if that is
// shorter.
func (d Dialect) Changes(got *protocol.ReadResult, since uint64) Page {
	f, past := got.Frame, HistoryRows(got)
	switch {
	case f.Seq == since:
		return notePage("nothing changed since rev %d", since)
	case f.Screen.Lines != nil && f.Since == 0 && f.Line == 0 && len(past) > 0 && !f.Screen.Alt:
		p := Page{Rows: past} // a gateway's memory of a program that has ended
		return p.withNote(func(first, _ int) string {
			return fmt.Sprintf("the changes since rev %d are no longer known, and the numbered "+
				"history is gone with the program; its last output", since) + d.omittedNote(first, "the")
		})
	case f.Screen.Lines != nil && f.Since == 0:
		p := d.Whole(f, 0)
		return p.withNote(func(first, _ int) string {
			note := fmt.Sprintf("the changes since rev %d are no longer known, and the rows "+
				"that scrolled off are in the history (%s); the whole screen", since, d.Older)
			if got.NextLine == 0 && IsLastFrame(f) {
				note = fmt.Sprintf("the changes since rev %d are no longer known, and the "+
					"numbered history is gone with the program; its last screen", since)
			}
			return d.screenNote(note, first)
		})
	case f.Screen.Lines != nil:
		p := Page{Rows: append(past, splitRows(Rows(f.Screen.Lines))...)}
		return p.withNote(func(first, _ int) string {
			if len(past) == 0 && got.Unseen == 0 {
				return d.screenNote("", first)
			}
			return d.goneNote(got, len(past), first) + "; then the whole screen" +
				d.omittedNote(first-len(past), "its")
		})
	case len(f.Changed) == 0 && len(past) == 0 && got.Unseen == 0 && f.Moved == 0:
		p := notePage("no row changed since rev %d", since)
		// Another entry of a menu may be selected with the same text.
		p.Bare = len(f.Highlights) == 0
		return p
	}
	return d.changedPage(got, past)
}

// Ended is the page of the remains of an ended program, for a reader who has seen revision since;
// got answers a read with Follow. It leaves out the rows of a full-screen program, whose screen
// went away with it.
func (d Dialect) Ended(got *protocol.ReadResult, since uint64) Page {
	f, past := got.Frame, HistoryRows(got)
	switch {
	case since == protocol.FirstSeq && f.Seq == protocol.FirstSeq:
		return notePage("it printed nothing")
	case f.Screen.Alt && f.Since > 0 && len(past) > 0:
		p := Page{Rows: past}
		return p.withNote(func(first, _ int) string { return d.goneNote(got, len(past), first) })
	case f.Screen.Alt && f.Since > 0:
		return Page{Bare: true}
	}
	return d.Changes(got, since)
}

// changedPage makes the page of rows that left the screen unseen, and of those that changed.
func (d Dialect) changedPage(got *protocol.ReadResult, past []string) Page {
	f := got.Frame
	rows := make([]string, 0, len(past)+len(f.Changed))
	for _, row := range past {
		rows = append(rows, strings.TrimRight("^| "+row, " "))
	}
	rows = append(rows, splitRows(Numbered(f.Changed))...)
	p := Page{Rows: rows, Numbered: true}
	return p.withNote(func(first, _ int) string {
		var notes []string
		switch {
		case len(past) > 0:
			notes = append(notes, d.goneNote(got, len(past), first)+" (marked ^)")
		case got.Unseen > 0:
			notes = append(notes, d.goneNote(got, 0, 0))
		}
		if moved := MovedRows(f.Moved); moved != "" {
			notes = append(notes, moved)
		}
		note := strings.Join(notes, "; ")
		if left := d.omittedNote(first-len(past), "the"); left != "" {
			note = cmp.Or(note, "changed rows") + left
		}
		return note
	})
}

// Wrapped names the rows of the page that go on in the next row, "" without any.
func (p *Page) Wrapped(f *protocol.Frame) (names string) {
	shown := "\n" + strings.Join(p.Rows, "\n")
	for _, row := range f.Wrapped {
		name := strconv.Itoa(row + 1)
		if !p.Numbered || strings.Contains(shown, "\n"+name+"|") {
			names += ", " + name
		}
	}
	if names != "" {
		names = "rows that go on in the next: " + names[2:]
	}
	return names
}

// screenNote says that the first n rows of a whole screen are left out; otherwise it returns note.
func (d Dialect) screenNote(note string, n int) string {
	if left := d.omittedNote(n, "its"); left != "" {
		return cmp.Or(note, "the whole screen") + left
	}
	return note
}

// After is the page of a screen, whose rows are lines, for a reader who has seen the one before it.
// A before without rows counts as unseen.
func (d Dialect) After(before, f *protocol.Frame, lines []string) Page {
	now := *f
	now.Screen.Lines, now.Changed, now.Moved, now.Since = lines, nil, 0, max(1, before.Seq)
	if moved, changed, shorter := protocol.Delta(before.Screen.Lines, lines, true); shorter {
		now.Screen.Lines, now.Changed, now.Moved = nil, changed, moved
	}
	return d.News(&protocol.ReadResult{Frame: &now}, before.Seq)
}

// News is the page of Changes for a reader who did not ask for them: without changes it has no
// note.
func (d Dialect) News(got *protocol.ReadResult, since uint64) Page {
	p, f := d.Changes(got, since), got.Frame
	if f.Seq == since || f.Screen.Lines == nil && len(p.Rows) == 0 && f.Moved == 0 && got.Unseen == 0 {
		p.Say = nil
	}
	return p
}

// Since is the page of Changes for a reader who did not name the revision, and may have forgotten
// the screen at it: it says how to see all.
func (d Dialect) Since(got *protocol.ReadResult, since uint64) Page {
	p, f := d.Changes(got, since), got.Frame
	if f.Screen.Lines != nil && f.Seq != since {
		return p // the whole screen
	}
	if len(p.Rows) == 0 && f.Moved == 0 && got.Unseen == 0 {
		unchanged := "nothing"
		if !p.Bare { // another entry of a menu may be selected
			unchanged = "no row"
		}
		return p.withNote(func(int, int) string {
			return fmt.Sprintf("%s changed since rev %d (%s)", unchanged, since, d.Screen)
		})
	}
	rest := p.Say
	p.Say = func(from, to int) string {
		since := fmt.Sprintf("since rev %d (%s):", since, d.Screen)
		if words := rest(from, to); words != "" {
			return since + " " + words
		}
		return "changed " + since
	}
	return p
}

// ScrolledOff says how many rows of the main screen appeared and scrolled off between two frames,
// "" without any.
func ScrolledOff(before, f *protocol.Frame) string {
	if f.Line <= before.Line || before.Screen.Cols != f.Screen.Cols || before.Screen.Lines == nil {
		return ""
	}
	n := int(f.Line - before.Line) //nolint:gosec // a program would have to print for years
	if !before.Screen.Alt {
		n -= len(splitRows(Rows(before.Screen.Lines)))
	}
	if n <= 0 {
		return ""
	}
	return LeftUnseen(n)
}

// LeftUnseen says that n rows left the screen unseen.
func LeftUnseen(n int) string { return rowCount(n) + " that you have not seen left the screen" }

// MovedRows says that the rows of a screen moved, "" if they did not.
func MovedRows(by int) string {
	switch {
	case by > 0:
		return fmt.Sprintf("all rows moved up by %d", by)
	case by < 0:
		return fmt.Sprintf("all rows moved down by %d", -by)
	}
	return ""
}

// goneNote names the rows that left the screen unseen, of which n are in the answer; the first of
// those may be omitted.
func (d Dialect) goneNote(got *protocol.ReadResult, n, first int) string {
	here := uint64(n) //nolint:gosec // n are rows of the answer
	all := max(here, got.Unseen)
	note := fmt.Sprintf("%s that you have not seen left the screen, %s of the history",
		rowCount(int(all)), //nolint:gosec // far fewer
		lineSpan(got.NextLine-all, got.NextLine))
	from := max(got.NextLine-all, got.OldestLine)
	left := got.NextLine - here - from + uint64(min(first, n))           //nolint:gosec // rows of the answer
	switch page := d.Lines(from, int(min(left, protocol.MaxHistory))); { //nolint:gosec // bounded here
	case all > here:
		which := fmt.Sprintf("%d older ones", left)
		if here == 0 {
			which = "they"
		}
		note += fmt.Sprintf("; %s are left out: %s", which, page)
		if lost := from - (got.NextLine - all); lost > 0 {
			note += fmt.Sprintf(", and %d before those are no longer kept", lost)
		}
	case left > 0:
		note += fmt.Sprintf("; the first %d of them are left out for %s (%s)", left, d.Limit, page)
	}
	return note
}

// lineSpan names the lines from from to before to.
func lineSpan(from, to uint64) string {
	if to == from+1 {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d to %d", from, to-1)
}

func rowCount[N int | uint64](rows N) string {
	if rows == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", rows)
}

// omittedNote says that the first n rows are left out; owner is "the" or "its".
func (d Dialect) omittedNote(n int, owner string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return fmt.Sprintf(", %s first row left out because it is too long for %s", owner, d.Limit)
	}
	return fmt.Sprintf(", %s first %d rows left out because they are too long for %s", owner, n, d.Limit)
}

// History is the page of the history in got, and of the screen after it if the rows reach that far.
// paged: the reader asked for rows from a line on, so the first rows are kept.
func (d Dialect) History(got *protocol.ReadResult, paged bool) Page {
	past, f := HistoryRows(got), got.Frame
	rows, lost := past, ""
	if paged && got.NextLine == 0 && (len(past) > 0 || IsLastFrame(f)) {
		lost, paged = "numbered history is gone with the program; ", false
	}
	ends := got.OldestLine + uint64(f.Screen.Scrollback) //nolint:gosec // rows of history
	reaches := !paged || got.NextLine == 0 || got.NextLine >= ends
	if reaches {
		rows = append(rows, splitRows(Rows(f.Screen.Lines))...)
	}
	p := Page{Rows: rows, Oldest: paged, Part: !reaches}
	return p.withNote(func(from, to int) string {
		note := lost + d.historyNote(got, len(past))
		switch {
		case len(past) == 0:
		case reaches:
			note += ", then the screen"
		case to == len(rows):
			note += fmt.Sprintf(" (it goes on: %s)", d.Lines(got.NextLine, len(past)))
		}
		return note + d.olderNote(got, len(past), paged) +
			d.cutNote(got, len(past), from, to, len(rows))
	})
}

// IsLastFrame reports whether a frame is the last one of a program.
func IsLastFrame(f *protocol.Frame) bool {
	return f.Activity != nil && f.Activity.State == protocol.StateExited
}

// historyNote names n rows of history.
func (d Dialect) historyNote(got *protocol.ReadResult, n int) string {
	note, first := rowCount(n)+" of history", got.NextLine-uint64(n) //nolint:gosec // rows of the answer
	numbered := got.NextLine > 0
	switch {
	case n == 0 && first > got.OldestLine:
		return fmt.Sprintf("no rows of history from line %d on, the screen is all there is", first)
	case n == 0 && got.Frame.Screen.Alt && !IsLastFrame(got.Frame):
		return "no rows of history while the alternate screen is shown"
	case n == 0:
		return "no rows of history, the screen is all there is"
	case numbered:
		note += ", " + lineSpan(first, got.NextLine)
	default: // rolling text, without line numbers
		note = rowCount(n) + " of what the program printed last"
	}
	return note
}

// olderNote says how many rows of history precede the n shown ones.
func (d Dialect) olderNote(got *protocol.ReadResult, n int, paged bool) string {
	older := got.NextLine - uint64(n) - got.OldestLine //nolint:gosec // rows of the answer
	switch {
	case got.NextLine == 0 || n == 0 || older == 0:
		return ""
	case paged:
		return fmt.Sprintf(" (%d older rows exist, from line %d on)", older, got.OldestLine)
	}
	return fmt.Sprintf(" (%d older rows exist, from line %d on: %s)",
		older, got.OldestLine, d.Older)
}

// cutNote names the omitted rows when only those from from to before to are shown; the first past
// rows are history.
func (d Dialect) cutNote(got *protocol.ReadResult, past, from, to, all int) string {
	if from == 0 && to == all {
		return ""
	}
	first, left := 0, min(past, from) // first omitted row of history, and their number
	if from == 0 {
		first = min(past, to)
		left = past - first
	}
	note := fmt.Sprintf("; %d of these rows are left out because they are too long for %s",
		all-(to-from), d.Limit)
	if left > 0 && got.NextLine > 0 {
		note += " (" + d.Lines(got.NextLine-uint64(past-first), left) + ")" //nolint:gosec // rows of the answer
	}
	switch screen := all - past; {
	case from > past:
		note += ", of the screen its " + rowSpan(1, from-past)
	case to < all && screen > 0:
		note += ", of the screen its " + rowSpan(max(0, to-past)+1, screen)
	}
	return note
}

// rowSpan names the rows of a screen from first to last, counted from 1.
func rowSpan(first, last int) string {
	if first == last {
		return fmt.Sprintf("row %d", first)
	}
	return fmt.Sprintf("rows %d to %d", first, last)
}

// HistoryRows returns the rows of history in an answer.
func HistoryRows(got *protocol.ReadResult) []string {
	if got.Text == "" && got.NextLine <= got.FirstLine {
		return nil
	}
	rows := strings.Split(Clean(got.Text), "\n")
	if got.NextLine == 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1] // the rolling text of a session that has ended
	}
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return rows
}

// withNote puts a note directly above the rows of the page.
func (p Page) withNote(noteFor func(from, to int) string) Page {
	p.Say = func(from, to int) string {
		note := noteFor(from, to)
		if note == "" || from == to {
			return note
		}
		return note + ":"
	}
	return p
}

// notePage makes a page without rows.
func notePage(format string, args ...any) Page {
	return Page{Bare: true, Say: func(int, int) string { return fmt.Sprintf(format, args...) }}
}

func splitRows(rows string) []string {
	if rows == "" {
		return nil
	}
	return strings.Split(rows, "\n")
}
