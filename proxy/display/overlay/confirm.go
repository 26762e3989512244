package overlay

import (
	"fmt"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// approvalLine asks about input that waits for a confirmation. It shows who would send what, to the
// last character.
func (w *wording) approvalLine(cols, rows int) string {
	text, keys := w.confirmQuestion(w.state.Agent.Name, w.state.Pending,
		w.state.GrantKeyIgnored && cols >= narrowCols)
	return notice.Rows(cols, rows-1, text, keys)
}

// describeInput describes what would be sent, and its effect on the line.
func describeInput(c control.Confirmation) string {
	if c.Line == "" {
		return c.Keys
	}
	return c.Keys + " " + c.Line
}

// maxTitleInput bounds what a window's title shows of an input, in characters.
const maxTitleInput = 60

// FitsScreen reports whether all of the question about input can be read on a screen of this size.
func (w *wording) FitsScreen(agent string, c control.Confirmation, cols, rows int) bool {
	if !w.conf.Line {
		return len([]rune(describeInput(c))) <= maxTitleInput
	}
	text, keys := w.confirmQuestion(agent, c, cols >= narrowCols) // the longer of the two
	return notice.Fits(cols, rows-1, text, keys)
}

// confirmQuestion words the question about input, and the keys that answer it.
func (w *wording) confirmQuestion(
	agent string, c control.Confirmation, again bool,
) (text, keys string) {
	verb := " wants to send "
	if c.Mouse {
		verb = " wants to "
	}
	text = "“" + agent + "”" + verb + describeInput(c)
	keys = pressAgain(again) + w.grantLabel() + " sends it · " + w.conf.Reclaim +
		" refuses and stops " + agent
	return text, keys
}

// pressAgain returns the prefix of the grant key's label if the last Ctrl+G did not count. A narrow
// line has no room for it.
func pressAgain(again bool) string {
	if again {
		return "press again: "
	}
	return ""
}

// occupiedLine is the notice that an agent's input waits until the user has submitted the line.
func (w *wording) occupiedLine(cols, rows int) string {
	keys := pressAgain(w.state.GrantKeyIgnored && cols >= narrowCols) + w.typeLabel() + " · " +
		w.conf.Reclaim + " stops it"
	return notice.Rows(cols, min(rows-1, remarkRows), w.waitText(), keys)
}

func (w *wording) waitText() string { return "“" + w.state.Agent.Name + "” waits for your line" }

func (w *wording) typeLabel() string { return w.grantLabel() + " lets it type" }

// approvalTitle asks the question of approvalLine in the window's title, if the user wants no line.
// It says how much of a long text has no room there.
func (w *wording) approvalTitle() string {
	text := describeInput(w.state.Pending)
	if r := []rune(text); len(r) > maxTitleInput {
		more := len(r) - maxTitleInput
		text = fmt.Sprintf("%s… and %d more characters", string(r[:maxTitleInput]), more)
	}
	return "[" + w.state.Agent.Name + ": " + pressAgain(w.state.GrantKeyIgnored) + w.grantLabel() +
		" sends " + text + ", " + w.conf.Reclaim + " refuses]"
}
