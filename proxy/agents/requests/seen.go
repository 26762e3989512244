package requests

import (
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/line"
)

// maxSeenAgents bounds the agents whose last view is remembered.
const maxSeenAgents = 64

// glimpse is the part of a screen that an input responds to: the cursor's place and row.
type glimpse struct {
	keys    uint64 // how many keys the user had typed
	settled bool   // the program had processed them and waited for more
	looked  bool   // the agent looked; false for the screen at the time of its input
	place   line.Place
	at      protocol.Cell // on the screen
	row     string        // its text
	left    string        // the text left of the cursor
	// prompt is the text before the line. kind is how a shell or REPL reads the line; None if it is
	// not such a prompt.
	prompt string
	kind   line.Prompt
}

// seen holds what each agent last saw of the screen. Owned by the observer's goroutine.
type seen struct {
	*Config
	line    *Line
	byAgent map[string]glimpse // by the agent's id
}

// noteSeen notes that an agent sees the present screen. While a program other than the grant's has
// the terminal, the agent's input waits for its own program, so the glimpse of that program is
// kept.
func (s *seen) noteSeen(agentID string) {
	if st := s.Control.NewestState(); st.OtherProgram != "" && st.Agent.ID == agentID {
		return
	}
	now := s.line.takeGlimpse()
	now.looked = true
	switch saw, known := s.byAgent[agentID]; {
	case agentID == "", !known && len(s.byAgent) >= maxSeenAgents:
		return // its input is judged by the screen at that time
	case saw.settled && !now.settled && saw.keys == now.keys:
		return // what came since is the program's own work, which is no reason to refuse an input
	}
	s.byAgent[agentID] = now
}

// noteFirst notes the present screen for an agent that has not looked yet. The agent asks to type
// into the program that this screen shows.
func (s *seen) noteFirst(agentID string) {
	if !s.byAgent[agentID].looked {
		s.noteSeen(agentID)
	}
}

// lastGlimpse returns what an agent saw last; if unknown, the present screen.
func (s *seen) lastGlimpse(agentID string) glimpse {
	if saw, known := s.byAgent[agentID]; known {
		return saw
	}
	return s.line.takeGlimpse()
}

// takeGlimpse returns the present glimpse.
func (l *Line) takeGlimpse() glimpse {
	v, typed := l.screen(), l.Tracker.TypedLine()
	row, col := v.Cursor()
	doing, f := l.programActivity(time.Now())
	g := glimpse{
		keys:    typed.Keys(),
		settled: doing.HasProcessedKeys(),
		place:   line.Place{Alt: v.Alt(), Line: v.Line(row), Col: col},
		at:      protocol.Cell{Row: row, Col: col},
		row:     v.RowText(row),
		left:    line.ReadPausedRow(v).Prompt,
		prompt:  typed.PromptOn(v),
	}
	if f.Settings.Canonical {
		leader, _ := l.Program.GroupLeader()
		f.Program = line.Program{Exe: leader.Exe, Args: leader.Args, Crowd: leader.Crowd}
	}
	switch {
	case line.IsCookedShell(f):
		g.kind = line.Cooked
	case line.PromptOfUserLine(f) == line.Editor:
		g.kind = line.Editor
	}
	return g
}

// isSamePrompt reports whether both glimpses show the prompt of one shell or REPL, and not a
// question. A line editor has its own mode at its prompt. If the kernel collects lines, only the
// text of the prompt distinguishes it from a question of a program in the shell; after quick typing
// the prompt may be there several times.
func (g glimpse) isSamePrompt(now glimpse) bool {
	if g.kind == line.None || now.kind == line.None {
		return false
	}
	return g.kind == line.Editor && now.kind == line.Editor || endsWith(now.left, g.prompt) ||
		endsWith(now.left, g.left) || beginsWith(g.left, now.left)
}

// beginsWith reports whether a row begins with a prompt. The user's line may follow it: at a Ctrl+C
// the kernel forgets that line before the shell answers.
func beginsWith(row, prompt string) bool {
	return len(prompt) <= len(row) && endsWith(row[:len(prompt)], prompt)
}

// endsWith reports whether a row ends with a prompt.
func endsWith(row, prompt string) bool {
	at := len(row) - len(prompt)
	return at >= 0 && strings.TrimSpace(prompt) != "" && line.SamePrompt(row[at:], prompt)
}

// checkSeen refuses an input that waited while the user typed and would now answer something that
// its agent has not seen. It accepts the same row of the cursor, the prompt of a shell or REPL, and
// changes elsewhere on the screen or by the program itself. pending means that the program has yet
// to show the effect of the user's keys; late ends that.
func (l *Line) checkSeen(saw glimpse, late bool) (pending bool, err error) {
	now := l.takeGlimpse()
	switch {
	case !saw.looked && !saw.settled, saw.settled && saw.keys == now.keys, saw.isSamePrompt(now):
		return false, nil
	case !now.settled && !late:
		return true, nil
	case saw.place == now.place && saw.row == now.row:
		return false, nil
	case !now.place.Alt && strings.TrimSpace(now.left) == "" &&
		(strings.TrimSpace(saw.left) == "" || saw.kind != line.None):
		// A pager, or output of what the user ran at a prompt: no question is open.
		return false, nil
	}
	return false, &refusal{
		protocol.CodeScreenChanged,
		"the user typed since you looked, and it is no longer what you saw: the cursor was " +
			l.quoteRow(saw) + " and is " + l.quoteRow(now) + "; look again before you answer",
	}
}

// quoteRow returns the cursor's place, counted from 1, and its row as agents may read it.
func (l *Line) quoteRow(g glimpse) string {
	return fmt.Sprintf("at %d,%d in %q", g.at.Row+1, g.at.Col+1, l.quote(strings.TrimSpace(g.row), -1))
}
