package chat_test

import (
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// One conversation moves from Claude Code's own interface to gateway chat and back. It stays one
// file that holds everything said, and only one of our commands writes it at a time.
func TestHandOverOfClaude_Client(t *testing.T) {
	world.Clients(t)
	w := world.New(t)
	c := w.NewChat(world.ChatAgents[0])
	const id = "6f1f3c3e-5a5b-4c5d-8e9f-0123456789ab"
	runInterface(c, "--session-id "+id, "the first words", "THE FIRST ANSWER")

	start(c, "--resume "+id)
	c.S.Wait("→ You:")
	second := w.Gateway("chat", "--resume", id, "me too")
	require.Equal(t, 1, second.Status)
	require.Regexp(t, `the conversation `+id+` is open in gateway chat \(process \d+ on /dev/pts/\d+, since \d\d:\d\d\)\nhint: go on there, or end it there first`, second.Err)
	c.Say("the second words")
	require.Contains(t, c.Next().Text, "the first words")
	c.Reply(fakemodel.Turn{Say: "THE SECOND ANSWER"})
	c.S.Wait("THE SECOND ANSWER")
	c.S.Press("C-d")
	require.Zero(t, c.S.Status())

	r := runInterface(c, "--resume "+id, "the third words", "THE THIRD ANSWER")
	require.Contains(t, r.Text, "the first words")
	require.Contains(t, r.Text, "the second words")
	files, err := filepath.Glob(w.Path("claude/projects/*/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, id+".jsonl", filepath.Base(files[0]))
}

// runInterface runs Claude Code's own interface for one prompt, and returns the question that the
// model received.
func runInterface(c *world.Chatting, args, prompt, answer string) fakemodel.Request {
	c.W.T.Helper()
	c.S.RunAnew(c.Env + "claude " + args)
	c.S.Wait("❯")
	c.S.Typed(prompt)
	c.S.Wait(prompt)
	c.S.Press("Enter")
	r := c.Next()
	require.Contains(c.W.T, r.Text, prompt)
	c.Reply(fakemodel.Turn{Say: answer})
	c.S.Wait(answer)
	c.S.Wait("❯")
	c.S.Typed("/exit")
	c.S.Wait("/exit")
	c.S.Press("Enter")
	c.S.Status()
	return r
}

// A conversation that began line by line continues in opencode's own interface, and returns.
func TestHandOverOfOpencode_Client(t *testing.T) {
	world.Clients(t)
	w := world.New(t)
	c := w.NewChat(world.ChatAgentNamed("opencode"))
	start(c, `"the first words"`)
	require.Contains(t, c.Next().Text, "the first words")
	c.Reply(fakemodel.Turn{Say: "THE FIRST ANSWER"})
	id := c.S.Match(`--resume (\S+)`)
	require.Zero(t, c.S.Status())

	c.S.RunAnew(c.Env + "opencode --session " + id)
	c.S.Wait("THE FIRST ANSWER")
	c.S.See("its prompt", func(string) bool { return strings.Contains(bottomRow(c.S), "ctrl+p commands") })
	c.S.Typed("the second words")
	c.S.Wait("the second words")
	c.S.Press("Enter")
	require.Contains(t, c.Next().Text, "the second words")
	c.Reply(fakemodel.Turn{Say: "THE SECOND ANSWER"})
	c.S.Wait("THE SECOND ANSWER")
	c.S.See("the end of the turn", func(screen string) bool { return !strings.Contains(screen, "esc interrupt") })
	c.S.Press("C-c")
	c.S.Status()

	start(c, "--resume "+id+` "the third words"`)
	r := c.Next()
	require.Contains(t, r.Text, "the first words")
	require.Contains(t, r.Text, "the second words")
	c.Reply(fakemodel.Turn{Say: "THE THIRD ANSWER"})
	require.Zero(t, c.S.Status())
}
