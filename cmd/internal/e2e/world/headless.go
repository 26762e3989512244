package world

import (
	"regexp"
)

// RunProgram starts a program in the agent's own terminal, and returns the session's id and the
// tool's text.
func (a *Agent) RunProgram(with Args, wanted ...string) (id, text string) {
	a.W.T.Helper()
	text = a.MustCall("terminal_run", with, wanted...)
	return regexp.MustCompile(`(?m)^(\S+) rev `).FindStringSubmatch(text)[1], text
}

// Deaf ignores the signals of a closing terminal, and so do its children, one of them in the
// background.
const Deaf = `trap "" HUP TERM INT; sleep 1000 & echo "ready pid=$$"; sleep 1000; sleep 1000`
