package world

import (
	"strings"
)

// WaitForOpencode waits for opencode's prompt.
func (c *Chatting) WaitForOpencode() {
	c.W.T.Helper()
	c.S.See("opencode's prompt", func(screen string) bool { return strings.Contains(screen, "ctrl+p commands") })
}

// WaitForLog waits until words stand in the conversation of a session.
func (w *World) WaitForLog(id, words string) string {
	w.T.Helper()
	var got Result
	w.Until(func() bool {
		got = w.Gateway("chat", "log", id)
		return strings.Contains(got.Out, words)
	}, func() string { return words + " in: " + got.Out + got.Err })
	return got.Out
}
