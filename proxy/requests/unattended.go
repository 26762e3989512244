package requests

import (
	"errors"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
)

// unattended reports whether this is a terminal of an agent's own with nobody there to be asked. Any goroutine may ask.
func (h *Handler) unattended() bool { return h.Own != nil && h.Own.Unattended() }

// attached has a message of an attached person done.
func (h *Handler) attached(m protocol.Message) {
	switch {
	case h.Own == nil:
		h.refuse(protocol.RequestID(m), protocol.CodeForbidden, "this is the user's own terminal: it is seen there and through snapshots, and nobody attaches to it elsewhere")
	case !h.Attached.Handle(m):
		h.gone(protocol.RequestID(m))
	}
}

// close ends a session that an agent started, on the word of that agent, or of a person (who has no agent's id).
func (h *Handler) close(m *protocol.Close) {
	switch {
	case h.Own == nil:
		h.refuse(m.RequestID, protocol.CodeForbidden, "this is the user's own terminal: only its user ends it")
		return
	case m.AgentID != "" && m.AgentID != h.Own.Agent().ID:
		h.refuse(m.RequestID, protocol.CodeForbidden, "another agent started this terminal: it is not yours to close")
		return
	}
	if m.Signal != "" && m.Signal != "HUP" && m.Signal != "KILL" {
		h.refuse(m.RequestID, protocol.CodeBadMessage, "a session ends by the signal HUP, and what does not heed that by TERM and KILL; or by KILL at once")
		return
	}
	// The answer goes first: after the session's end nothing is said any more.
	h.Link.Send(&protocol.Done{RequestID: m.RequestID})
	h.Own.Stop()
	if m.Signal == "KILL" {
		h.Program.Kill()
	}
}

// excuse says which refusals do not count for an input: where nobody sits in front of the program to answer its question for a
// secret, the agent may still give the question up. That reveals nothing and answers nothing. nil for none.
func (h *Handler) excuse(m *protocol.Input, epoch uint64) func(error) bool {
	other := func(p protocol.InputPart) bool { return p.InputKind != protocol.InputKeys || !givesUp(p.Data) }
	if h.Own == nil || slices.ContainsFunc(m.All(), other) {
		return nil
	}
	return func(err error) bool {
		return errors.Is(err, control.ErrSecret) && h.unattended() && epoch == h.Control.State(time.Now()).Epoch
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

// nobodyAnswers words a question for a secret that nobody is there to answer.
func (h *Handler) nobodyAnswers() string {
	return "the program asks for a password, which only a person may type, and nobody sits in front of this terminal: " +
		"the user does that with gateway attach " + h.SessionID + "; the keys ctrl-c or ctrl-d give the question up, and closing the terminal ends the program"
}
