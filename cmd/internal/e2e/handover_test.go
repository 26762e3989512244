package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// One conversation moves from Claude Code's own interface to gateway chat and back. It stays one
// file that holds everything said, and only one of our commands writes it at a time.
func TestHandOverOfClaude(t *testing.T) {
	clients(t)
	w := newWorld(t)
	c := w.newChat(chatAgents[0])
	const id = "6f1f3c3e-5a5b-4c5d-8e9f-0123456789ab"
	c.runInterface("--session-id "+id, "the first words", "THE FIRST ANSWER")

	c.start("--resume " + id)
	c.s.wait("→ You:")
	second := w.gateway("chat", "--resume", id, "me too")
	require.Equal(t, 1, second.status)
	require.Regexp(t, `the conversation `+id+` is open in gateway chat \(process \d+ on /dev/pts/\d+, since \d\d:\d\d\)\nhint: go on there, or end it there first`, second.err)
	c.say("the second words")
	require.Contains(t, c.next().Text, "the first words")
	c.reply(fakemodel.Turn{Say: "THE SECOND ANSWER"})
	c.s.wait("THE SECOND ANSWER")
	c.s.press("C-d")
	require.Zero(t, c.s.status())

	r := c.runInterface("--resume "+id, "the third words", "THE THIRD ANSWER")
	require.Contains(t, r.Text, "the first words")
	require.Contains(t, r.Text, "the second words")
	files, err := filepath.Glob(w.path("claude/projects/*/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, id+".jsonl", filepath.Base(files[0]))
}

// runInterface runs Claude Code's own interface for one prompt, and returns the question that the
// model received.
func (c *chatting) runInterface(args, prompt, answer string) fakemodel.Request {
	c.w.t.Helper()
	c.s.runAnew(c.env + "claude " + args)
	c.s.wait("❯")
	c.s.typed(prompt)
	c.s.wait(prompt)
	c.s.press("Enter")
	r := c.next()
	require.Contains(c.w.t, r.Text, prompt)
	c.reply(fakemodel.Turn{Say: answer})
	c.s.wait(answer)
	c.s.wait("❯")
	c.s.typed("/exit")
	c.s.wait("/exit")
	c.s.press("Enter")
	c.s.status()
	return r
}

// A conversation that began line by line continues in opencode's own interface, and returns.
func TestHandOverOfOpencode(t *testing.T) {
	clients(t)
	w := newWorld(t)
	c := w.newChat(chatAgentNamed("opencode"))
	c.start(`"the first words"`)
	require.Contains(t, c.next().Text, "the first words")
	c.reply(fakemodel.Turn{Say: "THE FIRST ANSWER"})
	id := c.s.match(`--resume (\S+)`)
	require.Zero(t, c.s.status())

	c.s.runAnew(c.env + "opencode --session " + id)
	c.s.wait("THE FIRST ANSWER")
	c.s.see("its prompt", func(string) bool { return strings.Contains(c.s.bottomRow(), "ctrl+p commands") })
	c.s.typed("the second words")
	c.s.wait("the second words")
	c.s.press("Enter")
	require.Contains(t, c.next().Text, "the second words")
	c.reply(fakemodel.Turn{Say: "THE SECOND ANSWER"})
	c.s.wait("THE SECOND ANSWER")
	c.s.see("the end of the turn", func(screen string) bool { return !strings.Contains(screen, "esc interrupt") })
	c.s.press("C-c")
	c.s.status()

	c.start("--resume " + id + ` "the third words"`)
	r := c.next()
	require.Contains(t, r.Text, "the first words")
	require.Contains(t, r.Text, "the second words")
	c.reply(fakemodel.Turn{Say: "THE THIRD ANSWER"})
	require.Zero(t, c.s.status())
}
