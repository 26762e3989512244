package overlay

import (
	"fmt"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// approvalLine asks about input that waits for a confirmation. It shows who would send what, to the
// last character.
func (s *Status) approvalLine(cols, rows int) string {
	text, keys := s.confirmQuestion(
		s.state.Agent.Name,
		s.state.Pending,
		s.state.Again && cols >= narrow,
	)
	return notice.Rows(cols, rows-1, text, keys)
}

// describeInput says what would be sent, and what that does to the line.
func describeInput(c control.Confirmation) string {
	if c.Line == "" {
		return c.Keys
	}
	return c.Keys + " " + c.Line
}

// maxTitleInput bounds what a window's title shows of an input, in characters.
const maxTitleInput = 60

// FitsScreen reports whether all of the question about input can be read on a screen of this size.
func (s *Status) FitsScreen(agent string, c control.Confirmation, cols, rows int) bool {
	if !s.conf.Line {
		return len([]rune(describeInput(c))) <= maxTitleInput
	}
	text, keys := s.confirmQuestion(agent, c, cols >= narrow) // the longer of the two
	return notice.Fits(cols, rows-1, text, keys)
}

// confirmQuestion words the question about input, and the keys that answer it.
func (s *Status) confirmQuestion(
	agent string, c control.Confirmation, again bool,
) (text, keys string) {
	verb := " wants to send "
	if c.Mouse {
		verb = " wants to "
	}
	text = "“" + agent + "”" + verb + describeInput(c)
	keys = pressAgain(again) + s.grantLabel() + " sends it · " + s.conf.Reclaim +
		" refuses and stops " + agent
	return text, keys
}

// pressAgain stands before what Ctrl+G does, and tells the user that the last Ctrl+G did not count.
// A narrow line has no room for it.
func pressAgain(again bool) string {
	if again {
		return "press again: "
	}
	return ""
}

// occupiedLine says that an agent's input waits until the user has submitted the line.
func (s *Status) occupiedLine(cols, rows int) string {
	keys := pressAgain(s.state.Again && cols >= narrow) + s.grantLetsType() + " · " +
		s.conf.Reclaim + " stops it"
	return notice.Rows(cols, min(rows-1, tellRows), s.whoWaits(), keys)
}

func (s *Status) whoWaits() string { return "“" + s.state.Agent.Name + "” waits for your line" }

func (s *Status) grantLetsType() string { return s.grantLabel() + " lets it type" }

// approvalTitle asks the question of approvalLine in the window's title, if the user wants no line.
// It says how much of a long text has no room there.
func (s *Status) approvalTitle() string {
	text := describeInput(s.state.Pending)
	if r := []rune(text); len(r) > maxTitleInput {
		more := len(r) - maxTitleInput
		text = fmt.Sprintf("%s… and %d more characters", string(r[:maxTitleInput]), more)
	}
	return "[" + s.state.Agent.Name + ": " + pressAgain(s.state.Again) + s.grantLabel() +
		" sends " + text + ", " + s.conf.Reclaim + " refuses]"
}
