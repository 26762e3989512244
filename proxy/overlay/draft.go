package overlay

import (
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// Recipient names the agent that a message of the user's is for.
func Recipient(a control.Agent) string {
	if a.ID == "" {
		return "the next agent"
	}
	return a.Name
}

// drafting is the line in which the user writes.
func (s *Status) drafting(cols int) string {
	const keys = "Enter sends · Esc closes"
	head := "to " + Recipient(s.state.Draft.To) + ": "
	room := max(4, cols-len(keys)-len(head)-4)
	return notice.Line(cols, head+notice.Tail(s.state.Draft.Text, room)+"▏", keys)
}
