package overlay

import "terminalproxy/proxy/notice"

// drafting is the line in which the user writes.
func (s *Status) drafting(cols int) string {
	const keys = "Enter sends · Esc closes"
	head := "to " + notice.Recipient(s.state.Draft.To.Name) + ": "
	room := max(4, cols-len(keys)-len(head)-4)
	return notice.Line(cols, head+notice.Tail(s.state.Draft.Text, room)+"▏", keys)
}
