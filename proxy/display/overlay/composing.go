package overlay

import "terminalproxy/proxy/display/notice"

// composeLine shows the message that the user is writing.
func (w *wording) composeLine(cols, rows int) string {
	return notice.Input(cols, max(1, rows-1), "to "+notice.Recipient(w.state.Message.To.Name)+": ",
		w.state.Message.Text, "Enter sends · Esc closes")
}
