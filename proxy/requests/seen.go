package requests

import (
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/line"
)

// seenMost bounds the agents of which it is known what they have seen.
const seenMost = 64

// glimpse is what an input is for, as far as a screen shows it: the place and the row of the cursor.
type glimpse struct {
	keys  uint64 // how often the user had typed
	whole bool   // the program was done with that, and waited for more: else nothing is known
	place line.Place
	at    protocol.Cell // on the screen
	row   string        // as it stands
	left  string        // of the cursor
	// prompt is what stands before the line, and kind says how a shell or a REPL reads it, None for what is no prompt of one.
	prompt string
	kind   line.Prompt
}

// seen is what agents saw last of the screen, by id. It belongs to the observer's goroutine.
type seen map[string]glimpse

// noteSeen notes that an agent sees the screen as it is now. While another program has the terminal than the one that the agent's
// grant is for, what it types waits for its own: that is compared with how it saw its own program last.
func (h *Handler) noteSeen(agentID string) {
	if st := h.Control.Newest(); st.Away != "" && st.Agent.ID == agentID {
		return
	}
	now := h.line.glimpse()
	if _, known := h.seen[agentID]; agentID == "" || !now.whole || !known && len(h.seen) >= seenMost {
		return // it is judged by the screen as its input comes
	}
	h.seen[agentID] = now
}

// glimpse is the present one.
func (l *Line) glimpse() glimpse {
	v, typed := l.screen(), l.Tracker.Typed()
	row, col := v.Cursor()
	g := glimpse{keys: typed.Keys(), whole: l.doing(time.Now()).Answered(), place: line.Place{Alt: v.Alt(), Line: v.Line(row), Col: col}, at: protocol.Cell{Row: row, Col: col}, row: v.RowText(row)}
	g.left = line.Look(v).Prompt
	g.prompt = typed.PromptOn(v)
	f := l.facts()
	if f.Settings.Canonical {
		leader, _ := l.Program.GroupLeader()
		f.Program = line.Program{Exe: leader.Exe, Args: leader.Args, Crowd: leader.Crowd}
	}
	switch {
	case line.Prompts(f):
		g.kind = line.Cooked
	case line.Shared(f) == line.Editor:
		g.kind = line.Editor
	}
	return g
}

// sameLine reports whether both are the prompt of one shell or REPL, which asks nothing. A line editor has a mode of its own at its prompt;
// where the kernel collects lines only the prompt tells it from a question of what the shell runs. Of a user who is quick it may stand
// there several times.
func (g glimpse) sameLine(now glimpse) bool {
	if g.kind == line.None || now.kind == line.None {
		return false
	}
	return g.kind == line.Editor && now.kind == line.Editor || endsWith(now.left, g.prompt) || endsWith(now.left, g.left)
}

// endsWith reports whether a row ends with a prompt.
func endsWith(row, prompt string) bool {
	at := len(row) - len(prompt)
	return at >= 0 && strings.TrimSpace(prompt) != "" && line.Alike(row[at:], prompt)
}

// unseen refuses an input that waited while the user typed, and would now answer something that its agent has not seen: nil where the
// cursor's row is the one that it saw. The prompt of a shell or a REPL asks nothing, and what the user runs there is no reason; neither
// is what changes elsewhere on the screen, nor what the program does by itself. While the program has yet to show what the user's keys
// did, which is pending, nothing can be said unless it is late.
func (l *Line) unseen(saw glimpse, late bool) (pending bool, err error) {
	now := l.glimpse()
	switch {
	case !saw.whole, saw.keys == now.keys, saw.sameLine(now):
		return false, nil
	case !now.whole && !late:
		return true, nil
	case saw.place == now.place && saw.row == now.row:
		return false, nil
	case !now.place.Alt && strings.TrimSpace(now.left) == "" && (strings.TrimSpace(saw.left) == "" || saw.kind != line.None):
		// Rows that somebody reads, or what the user ran at a prompt: nothing is asked.
		return false, nil
	}
	return false, &refusal{protocol.CodeScreenChanged, "the user typed since you looked, and it is no longer what you saw: the cursor was " +
		l.quoteRow(saw) + " and is " + l.quoteRow(now) + "; look again before you answer"}
}

// quoteRow is where the cursor is, counted from 1, and its row as agents may read it.
func (l *Line) quoteRow(g glimpse) string {
	row := l.Observer.Redact(protocol.Visible(strings.TrimSpace(g.row)), -1)
	if r := []rune(row); len(r) > quoteMost {
		row = string(r[:quoteMost]) + "…"
	}
	return fmt.Sprintf("at %d,%d in %q", g.at.Row+1, g.at.Col+1, row)
}
