package overlay

import (
	"fmt"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// approval is what the user reads while input is held: who would send what, to the last character.
func (s *Status) approval(cols, rows int) string {
	say, keys := s.heldQuestion(s.state.Agent.Name, s.state.Held)
	return notice.Rows(cols, rows-1, say, keys)
}

// wish is what would be sent, and what that has to do with the line.
func wish(h control.Held) string {
	if h.Line == "" {
		return h.Keys
	}
	return h.Keys + " " + h.Line
}

// wishMost is how much of a wish a window's title has room for, in characters.
const wishMost = 60

// Fits reports whether the user can read all of the question about held input on a screen of this size.
func (s *Status) Fits(agent string, h control.Held, cols, rows int) bool {
	if !s.conf.Line {
		return len([]rune(wish(h))) <= wishMost
	}
	say, keys := s.heldQuestion(agent, h)
	return notice.Fits(cols, rows-1, say, keys)
}

// heldQuestion is the question about held input, and the keys that answer it.
func (s *Status) heldQuestion(agent string, h control.Held) (say, keys string) {
	verb := " wants to send "
	if h.Mouse {
		verb = " wants to "
	}
	return "“" + agent + "”" + verb + wish(h), "Ctrl+G sends it · " + s.conf.Key + " refuses and stops " + agent
}

// occupied is what the user reads while an agent's input waits for the line that the user has not submitted.
func (s *Status) occupied(cols, rows int) string {
	return notice.Rows(cols, min(rows-1, tellRows), "“"+s.state.Agent.Name+"” waits for your line",
		"Ctrl+G lets it type · "+s.conf.Key+" stops it")
}

// approvalTitle is approval in the window's title, for a terminal on which no line is wanted. A title has no room for a long
// text, and says so.
func (s *Status) approvalTitle() string {
	text := wish(s.state.Held)
	if r := []rune(text); len(r) > wishMost {
		text = fmt.Sprintf("%s… and %d more characters", string(r[:wishMost]), len(r)-wishMost)
	}
	return "[" + s.state.Agent.Name + ": Ctrl+G sends " + text + ", " + s.conf.Key + " refuses]"
}
