package proxy

import (
	"errors"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
)

// alone reports whether this is a terminal of an agent's own in front of which nobody sits. Anybody may ask.
func (s *session) alone() bool {
	h := s.conf.headless
	return h != nil && h.people.Load() == 0
}

// excuse says which refusals do not count for an input: where nobody sits in front of the program to answer its question for a
// secret, the agent may still give the question up. That reveals nothing and answers nothing. nil for none.
func (d *desk) excuse(m *protocol.Input, epoch uint64) func(error) bool {
	if d.s.conf.headless == nil || m.InputKind != protocol.InputKeys || !givesUp(m.Data) {
		return nil
	}
	return func(err error) bool {
		return errors.Is(err, control.ErrSecret) && d.s.alone() && epoch == d.s.authority.Epoch()
	}
}

// givesUp reports whether the named keys are nothing but Ctrl+C and Ctrl+D: the interrupt and the end of file (termios(3)).
func givesUp(names string) bool {
	list := strings.Fields(names)
	for _, name := range list {
		press, err := keys.Parse(name)
		if err != nil {
			return false
		}
		if b, err := press.Encode(keys.Modes{}); err != nil || string(b) != "\x03" && string(b) != "\x04" {
			return false
		}
	}
	return len(list) > 0
}

// unattended words a question for a secret that nobody is there to answer.
func (s *session) unattended() string {
	return "the program asks for a password, which only a person may type, and nobody sits in front of this terminal: " +
		"the user does that with gateway attach " + s.id + "; the keys ctrl-c or ctrl-d give the question up, and closing the terminal ends the program"
}
