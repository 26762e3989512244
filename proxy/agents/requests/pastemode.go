package requests

import (
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

// startsFor is how long after its start a program is expected to enable bracketed paste.
const startsFor = 2 * time.Second

// mayStillEnablePaste reports whether the next step is a paste for a program that has just started,
// does not wait for input yet, and may still enable bracketed paste. Without brackets an editor
// would take the text for commands.
func (l *Line) mayStillEnablePaste(next step, began, now time.Time) bool {
	lines := next.InputKind == protocol.InputLines && strings.ContainsAny(next.Data, "\r\n")
	if next.InputKind != protocol.InputPaste && !lines ||
		l.usesBracketedPaste(l.Observer.Model().Modes()) || now.Sub(began) >= startsFor {
		return false
	}
	a, known := l.Program.BlockedOn()
	if !known || a.Leads <= 0 || a.Leads >= startsFor {
		return false
	}
	// Its output from before the read may be on its way.
	return !l.Observer.HasCaughtUp() || !a.Reads && (!a.Polls || l.Observer.IsBlank(now))
}

// usesBracketedPaste reports whether a paste goes in brackets. While the kernel collects lines,
// brackets would reach the program as text.
func (l *Line) usesBracketedPaste(m screen.Modes) bool {
	return m.BracketedPaste && !l.isCooked()
}
