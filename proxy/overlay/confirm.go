package overlay

import (
	"fmt"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// approval is what the user reads while input waits for a confirmation: who would send what, to the last character.
func (s *Status) approval(cols, rows int) string {
	say, keys := s.confirmQuestion(s.state.Agent.Name, s.state.Pending, s.state.Again && cols >= narrow)
	return notice.Rows(cols, rows-1, say, keys)
}

// wish is what would be sent, and what that has to do with the line.
func wish(c control.Confirmation) string {
	if c.Line == "" {
		return c.Keys
	}
	return c.Keys + " " + c.Line
}

// wishMost is how much of a wish a window's title has room for, in characters.
const wishMost = 60

// Fits reports whether the user can read all of the question about input on a screen of this size.
func (s *Status) Fits(agent string, c control.Confirmation, cols, rows int) bool {
	if !s.conf.Line {
		return len([]rune(wish(c))) <= wishMost
	}
	say, keys := s.confirmQuestion(agent, c, cols >= narrow) // the longer of the two
	return notice.Fits(cols, rows-1, say, keys)
}

// confirmQuestion is the question about input that waits for a confirmation, and the keys that answer it.
func (s *Status) confirmQuestion(agent string, c control.Confirmation, again bool) (say, keys string) {
	verb := " wants to send "
	if c.Mouse {
		verb = " wants to "
	}
	return "“" + agent + "”" + verb + wish(c), pressAgain(again) + s.grantLabel() + " sends it · " + s.conf.Reclaim + " refuses and stops " + agent
}

// pressAgain tells the user that a Ctrl+G did not count, in front of what that key does. A narrow
// line has no room for it.
func pressAgain(again bool) string {
	if again {
		return "press again: "
	}
	return ""
}

// occupied is what the user reads while an agent's input waits for the line that the user has not submitted.
func (s *Status) occupied(cols, rows int) string {
	return notice.Rows(cols, min(rows-1, tellRows), s.occupant(),
		pressAgain(s.state.Again && cols >= narrow)+s.letsType()+" · "+s.conf.Reclaim+" stops it")
}

// occupant says who waits, and letsType what the key does about it.
func (s *Status) occupant() string { return "“" + s.state.Agent.Name + "” waits for your line" }

func (s *Status) letsType() string { return s.grantLabel() + " lets it type" }

// approvalTitle is approval in the window's title, for a terminal on which no line is wanted. A title has no room for a long
// text, and says so.
func (s *Status) approvalTitle() string {
	text := wish(s.state.Pending)
	if r := []rune(text); len(r) > wishMost {
		text = fmt.Sprintf("%s… and %d more characters", string(r[:wishMost]), len(r)-wishMost)
	}
	return "[" + s.state.Agent.Name + ": " + pressAgain(s.state.Again) + s.grantLabel() + " sends " + text + ", " + s.conf.Reclaim + " refuses]"
}
