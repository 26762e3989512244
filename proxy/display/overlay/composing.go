package overlay

import "terminalproxy/proxy/display/notice"

// composeLine shows the message that the user is writing.
func (w *wording) composeLine(cols int) string {
	const keys = "Enter sends · Esc closes"
	head := "to " + notice.Recipient(w.state.Message.To.Name) + ": "
	room := max(4, cols-len(keys)-len(head)-4)
	return notice.Line(cols, head+notice.FitTail(w.state.Message.Text, room)+"▏", keys)
}
