package requests

import (
	"strconv"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/line"
)

// seenMost bounds the agents of which it is known what they have seen.
const seenMost = 64

// glimpse is what an input is for, as far as a screen shows it: the place and the row of the cursor.
type glimpse struct {
	known bool
	place line.Place
	row   string // as it stands
	left  string // of the cursor
	// edits: a known line editor has the terminal, whose prompt asks nothing.
	edits bool
}

// seen is what agents saw last of the screen, by id. It belongs to the observer's goroutine.
type seen map[string]glimpse

// note notes that an agent sees the screen as it is now.
func (s seen) note(agentID string, now glimpse) {
	if _, known := s[agentID]; agentID == "" || !known && len(s) >= seenMost {
		return // it is judged by the screen as its input comes
	}
	s[agentID] = now
}

// glimpse is the present one.
func (l *Line) glimpse() glimpse {
	v := l.screen()
	row, col := v.Cursor()
	g := glimpse{known: true, place: line.Place{Alt: v.Alt(), Line: v.Line(row), Col: col}, row: v.RowText(row)}
	g.left = line.Look(v).Prompt
	g.edits = line.IsEditor(l.editorFacts())
	return g
}

// editorFacts are the facts with the program in front, whatever the line settings.
func (l *Line) editorFacts() line.Facts {
	f := l.facts()
	if leader, ok := l.Program.GroupLeader(); ok {
		f.Program = line.Program{Exe: leader.Exe, Args: leader.Args, Crowd: leader.Crowd}
	}
	return f
}

// unseen refuses an input that waited while the user typed, and would now answer something that its agent has not seen: nil where the
// cursor's row is the one that it saw. The prompt of a shell or a REPL asks nothing, and what the user runs there is no reason; neither
// is what changes elsewhere on the screen.
func (l *Line) unseen(saw glimpse) error {
	now := l.glimpse()
	switch {
	case !saw.known, saw.edits && now.edits, saw.place == now.place && saw.row == now.row:
		return nil
	case !now.place.Alt && strings.TrimSpace(saw.left+now.left) == "": // rows that somebody reads: nothing is asked
		return nil
	}
	return &refusal{protocol.CodeScreenChanged, "the user typed while this waited, and it is no longer what you saw: the cursor was in the row " +
		l.quoteRow(saw) + " and is in the row " + l.quoteRow(now) + "; look again before you answer"}
}

// quoteRow is the cursor's row as agents may read it.
func (l *Line) quoteRow(g glimpse) string {
	row := l.Observer.Redact(protocol.Visible(strings.TrimSpace(g.row)), -1)
	if r := []rune(row); len(r) > quoteMost {
		row = string(r[:quoteMost]) + "…"
	}
	return strconv.Quote(row)
}
