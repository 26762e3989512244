package requests

import (
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/screen"
)

// startsFor bounds the time from a program's start until it enables bracketed paste.
const startsFor = 2 * time.Second

// mayStillEnablePaste reports whether the next step is a paste for a program that has just started,
// does not wait for input yet, and may still enable bracketed paste. Without brackets an editor
// would take the text for commands.
func (h *Handler) mayStillEnablePaste(in *delivery, left []pump.Piece, began, now time.Time) bool {
	k := 0
	if left != nil {
		k = left[0].Step - 1
	}
	s := in.steps[k]
	lines := s.InputKind == protocol.InputLines && strings.ContainsAny(s.Data, "\r\n")
	if s.InputKind != protocol.InputPaste && !lines ||
		h.line.usesBracketedPaste(h.Observer.Model().Modes()) || now.Sub(began) >= startsFor {
		return false
	}
	a, known := h.Program.BlockedOn()
	if !known || a.Leads <= 0 || a.Leads >= startsFor {
		return false
	}
	// Its output from before the read may be on its way.
	return !h.Observer.HasCaughtUp() || !a.Reads && (!a.Polls || h.Observer.IsBlank(now))
}

// usesBracketedPaste reports whether a paste goes in brackets. While the kernel collects lines,
// brackets would reach the program as text.
func (l *Line) usesBracketedPaste(m screen.Modes) bool {
	return m.BracketedPaste && !l.isCooked()
}
