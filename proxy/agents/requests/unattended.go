package requests

import (
	"errors"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/terminal/keys"
)

// isUnattended reports whether this is an agent's own terminal and no person can be asked. It is
// safe for concurrent use.
func isUnattended(own OwnTerminal) bool { return own != nil && own.IsUnattended() }

// forwardAttached passes on a message of an attached person.
func (h *Handler) forwardAttached(m protocol.Message) {
	switch {
	case h.OwnTerminal == nil:
		sendError(h.Link, protocol.RequestID(m), protocol.CodeForbidden,
			"this is the user's own terminal: it is seen there and through snapshots, and "+
				"cannot be attached to elsewhere")
	case !h.Attached.Handle(m):
		sendExited(h.Link, protocol.RequestID(m))
	}
}

// close ends a session that an agent started, at the request of that agent or of a person, who has
// no agent id.
func (h *Handler) close(m *protocol.Close) {
	switch {
	case h.OwnTerminal == nil:
		sendError(h.Link, m.RequestID, protocol.CodeForbidden,
			"this is the user's own terminal: only its user ends it")
		return
	case m.AgentID != "" && m.AgentID != h.OwnTerminal.Agent().ID:
		sendError(h.Link, m.RequestID, protocol.CodeForbidden,
			"another agent started this terminal: it is not yours to close")
		return
	}
	if m.Signal != "" && m.Signal != "HUP" && m.Signal != "KILL" {
		sendError(h.Link, m.RequestID, protocol.CodeBadMessage,
			"a session is ended by the signal HUP, then by TERM and KILL if it does not heed "+
				"HUP; or by KILL at once")
		return
	}
	// The answer goes first: it could not be sent after the session's end.
	h.Link.Send(&protocol.Done{RequestID: m.RequestID})
	h.OwnTerminal.Stop()
	if m.Signal == "KILL" {
		h.Program.Kill()
	}
}

// ignorableRefusal returns which refusals do not count for an input. In an unattended terminal an
// agent may cancel a prompt for a secret: that neither reveals nor answers anything.
func (d *deliveries) ignorableRefusal(m *protocol.Input, epoch uint64) func(error) bool {
	other := func(p protocol.InputPart) bool {
		return p.InputKind != protocol.InputKeys || !onlyInterrupts(p.Data)
	}
	if d.OwnTerminal == nil || slices.ContainsFunc(m.All(), other) {
		return nil
	}
	return func(err error) bool {
		return errors.Is(err, control.ErrSecret) && isUnattended(d.OwnTerminal) &&
			epoch == d.Control.State(time.Now()).Epoch
	}
}

// onlyInterrupts reports whether the named keys are only Ctrl+C and Ctrl+D, the interrupt and the
// end of file (termios(3)).
func onlyInterrupts(names string) bool {
	list := strings.Fields(names)
	for _, name := range list {
		press, err := keys.Parse(name)
		if err != nil {
			return false
		}
		if b, err := press.Encode(keys.Modes{}); err != nil ||
			string(b) != "\x03" && string(b) != "\x04" {
			return false
		}
	}
	return len(list) > 0
}

// unansweredSecretMessage tells an agent that the program asks for a secret and no person is there.
func unansweredSecretMessage(sessionID string) string {
	return "password: no person is at this terminal; the user runs gateway attach " + sessionID +
		", or send ctrl-c"
}
