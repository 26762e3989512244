package requests

import (
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/screen"
)

// startsFor is how long a program may take from its start until it asks for the brackets of a paste.
const startsFor = 2 * time.Second

// early reports whether what is left of an input begins with a paste for a program that has just been started, does not wait for input
// yet, and may still ask for the brackets: without them an editor would take the text for commands.
func (h *Handler) early(in *typing, left []input.Piece, began, now time.Time) bool {
	k := 0
	if left != nil {
		k = left[0].Step - 1
	}
	s := in.steps[k]
	lines := s.InputKind == protocol.InputLines && strings.ContainsAny(s.Data, "\r\n")
	if s.InputKind != protocol.InputPaste && !lines || h.brackets(h.Observer.Model().Modes()) || now.Sub(began) >= startsFor {
		return false
	}
	a, known := h.Program.BlockedOn()
	if !known || a.Leads <= 0 || a.Leads >= startsFor {
		return false
	}
	// What it printed before it read may be on its way.
	return !h.Observer.CaughtUp() || !a.Reads && (!a.Polls || h.Observer.Blank(now))
}

// brackets reports whether a paste goes in brackets. What the kernel collects is not for who asked for them: there they would be text.
func (h *Handler) brackets(m screen.Modes) bool { return m.BracketedPaste && !h.line.cooked() }
