package world

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Hosted is a coding agent that one of our commands hosts. Each function waits until the agent has
// got there.
type Hosted struct {
	W     *World
	S     *Terminal
	Env   string // set before the command
	Start func() // starts the agent and waits for its prompt
	Brief func() // gives it a prompt to work on
	Leave func() // makes it ask for permission to create the file made-never; nil if its prompt does that
	Ask   func() // makes it ask a question; nil if its model asks in its text
}

// NewActed prepares a terminal for an agent that [actor] plays.
func (w *World) NewActed() *Hosted {
	w.T.Helper()
	dir := w.Path("agents")
	require.NoError(w.T, os.Mkdir(dir, 0o700))
	for program, part := range map[string]string{"claude": "claude", "codex-acp": "adapter", "gemini": "gemini", "copilot": "copilot"} {
		w.WriteScript(filepath.Join("agents", program), "#!/bin/sh\nexec actor "+part+" \"$@\"\n")
	}
	h := &Hosted{W: w, S: w.Terminal(100, 30), Env: "PATH=" + dir + ":$PATH "}
	h.Brief = func() { h.Enter("work") }
	return h
}

// Enter types a line.
func (h *Hosted) Enter(line string) {
	h.W.T.Helper()
	h.S.Typed(line)
	h.S.Press("Enter")
}

// ActedHeadless prepares an agent without a visible interface.
func (w *World) ActedHeadless() *Hosted {
	h := w.NewActed()
	comes := func(word, state string) func() {
		return func() {
			if word != "" {
				w.MustGateway("chat", "send", w.Session(), word)
			}
			w.WaitForChat(w.Session(), state)
		}
	}
	prompt := comes("", protocol.ChatAtPrompt)
	h.Start = func() { h.S.RunAnew(h.Env + "gateway run --chat -- claude"); prompt() }
	h.Brief, h.Leave, h.Ask = comes("work", protocol.ChatWorking), comes("leave", protocol.ChatApproval), comes("ask", protocol.ChatAsks)
	return h
}
