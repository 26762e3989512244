package requests

import (
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

// startsFor is how long after its start a program is expected to enable bracketed paste.
const startsFor = 2 * time.Second

// isStarting reports whether the next step comes too early for a program that has just started. Keys
// that come before its first screen are lost or do harm, unless it reads its terminal. A paste
// also waits while the program may still enable bracketed paste: without brackets an editor would
// take the text for commands.
func (l *Line) isStarting(next step, began, now time.Time) bool {
	blank := l.Observer.IsBlank(now)
	lines := next.InputKind == protocol.InputLines && strings.ContainsAny(next.Data, "\r\n")
	pastes := (next.InputKind == protocol.InputPaste || lines) &&
		!l.usesBracketedPaste(l.Observer.Model().Modes())
	if !blank && !pastes || now.Sub(began) >= startsFor {
		return false
	}
	a, known := l.Program.BlockedOn()
	if !known || a.Leads <= 0 || a.Leads >= startsFor {
		return false
	}
	// Its output from before the read may be on its way.
	return pastes && !l.Observer.HasCaughtUp() || !a.Reads && (!a.Polls || blank)
}

// usesBracketedPaste reports whether a paste goes in brackets. While the kernel collects lines,
// brackets would reach the program as text.
func (l *Line) usesBracketedPaste(m screen.Modes) bool {
	return m.BracketedPaste && !l.isCooked()
}
