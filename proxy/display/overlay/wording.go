package overlay

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// wording composes the texts for a state of control: questions, the effects of keys, and the menu.
// It does not handle time, remarks or messages.
type wording struct {
	conf  Config
	grant atomic.Pointer[string] // the label of the grant key, once the session has moved
	state control.State
}

// LabelGrant sets the label of the grant key, when the session is at another terminal.
func (w *wording) LabelGrant(label string) { w.grant.Store(&label) }

// GrantLabel returns what people press to give the keyboard.
func (w *wording) GrantLabel() string { return w.grantLabel() }

func (w *wording) grantLabel() string {
	if label := w.grant.Load(); label != nil {
		return *label
	}
	return w.conf.Grant
}

// maxQuestionRows is how many rows a request may cover.
func maxQuestionRows(cols, rows int) int {
	if cols < narrowCols {
		return rows - 1
	}
	return min(rows-1, askRows)
}

// controlRequest returns the question for control without the agent's own words.
func (w *wording) controlRequest() string {
	name := "“" + w.state.Agent.Name + "”"
	if w.state.GoesOn {
		return name + " was stopped when you suspended this: let it " + w.wantedGrant()
	}
	return w.namedAsker(name) + " asks to " + w.wantedGrant()
}

// allowLabel describes the grant key's effect on a request.
func (w *wording) allowLabel() string { return w.grantLabel() + " allows" }

// namedAsker marks the asking agent as another one, for a user who read the previous agent's
// question.
func (w *wording) namedAsker(name string) string {
	if w.state.Question.Another {
		return "another agent, " + name + ","
	}
	return name
}

// wantedGrant describes the requested grant: level, scope and time.
func (w *wording) wantedGrant() string {
	text := "drive"
	if w.state.Level == protocol.LevelType {
		text = "type"
	}
	if w.conf.OneProgram {
		text += " this program"
	}
	return text + formatTerm(w.state.For)
}

// formatTerm formats the length of a grant; 0 is without end.
func formatTerm(d time.Duration) string {
	if d == 0 {
		return " until you take it back"
	}
	return " for " + formatDuration(d)
}

// pregrantLine describes the grant that the next agent, or a certain one, will get without a
// question.
func (w *wording) pregrantLine() string {
	g := w.state.RemotePregrant
	agent, verb, by := "the next agent that asks", " will drive", ""
	if g.Agent != "" {
		agent = g.Agent + ", once it asks,"
	}
	if g.Level == protocol.LevelType {
		verb = " will type"
	}
	if g.By != "" {
		by = " (allowed by " + g.By + ")"
	}
	return agent + verb + formatTerm(w.state.For) + by
}

// formatDuration formats a time limit for the user: 10 min, 1 h 30 min, 45 s.
func formatDuration(d time.Duration) string {
	d = d.Round(time.Second)
	var parts []string
	for _, part := range []struct {
		n    time.Duration
		unit string
	}{{d / time.Hour, " h"}, {d % time.Hour / time.Minute, " min"}, {d % time.Minute / time.Second, " s"}} {
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(int(part.n))+part.unit)
		}
	}
	if parts == nil {
		return "0 s"
	}
	return strings.Join(parts, " ")
}
