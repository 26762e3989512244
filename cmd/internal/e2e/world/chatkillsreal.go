package world

import (
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/fakemodel"
)

// Hosted returns the conversation in the form that the table of kills needs.
func (c *Chatting) Hosted() *Hosted {
	return &Hosted{W: c.W, S: c.S, Env: c.Env}
}

// Prompt lets the user send a prompt and the model read it.
func (b *BesideClaude) Prompt() {
	b.W.T.Helper()
	b.S.Typed("make a file")
	b.S.Wait("make a file")
	b.S.Press("Enter")
	require.Contains(b.W.T, b.Next().Text, "make a file")
}

var colour = fakemodel.Turn{Tool: "AskUserQuestion", Args: Args{"questions": []Args{{
	"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []Args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
}}}}

func (w *World) RealClaude() *Hosted {
	b := BesideClaudeIn(w)
	h := b.Hosted()
	h.Start = func() { b.Start(" --permission-mode default") }
	h.Brief = b.Prompt
	h.Leave = func() { b.Prompt(); b.AskForFile("made-never") }
	h.Ask = func() {
		b.Prompt()
		b.Reply(colour)
		b.S.Wait("Enter to select")
		b.WaitForLog("Which colour?")
	}
	return h
}

func (w *World) RealHeadless() *Hosted {
	b := &BesideClaude{Chatting: w.NewChat(ChatAgents[0])}
	h := b.Hosted()
	h.Start = func() {
		h.S.RunAnew(h.Env + "gateway run --chat -- claude --permission-mode default")
		b.ID = w.Session()
		b.WaitForLog(`"state":"at prompt"`)
	}
	h.Brief = func() {
		w.MustGateway("chat", "send", b.ID, "make a file")
		require.Contains(w.T, b.Next().Text, "make a file")
	}
	h.Leave = func() { h.Brief(); b.CallShell("touch made-never"); b.WaitForLog(`"command":"touch made-never"`) }
	h.Ask = func() { h.Brief(); b.Reply(colour); b.WaitForLog("Which colour?") }
	return h
}
