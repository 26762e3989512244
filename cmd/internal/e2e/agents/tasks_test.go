package agents_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// claudeWithTasks runs Claude Code's own interface with our server, which writes what both say into
// a file.
func claudeWithTasks(t *testing.T) (c *world.Chatting, wire func() string) {
	t.Helper()
	w := world.New(t)
	c = w.NewChat(world.ChatAgentNamed("claude"))
	log := w.Write("wire", "")
	server := w.Write("serve", "#!/bin/sh\ntee -a "+log+" | gateway mcp | tee -a "+log+"\n")
	require.NoError(t, os.Chmod(server, 0o700))
	servers := w.WriteJSON("mcp.json", world.Args{"mcpServers": world.Args{"term": world.Args{"command": server}}})
	c.S.Run(c.Env + "claude --mcp-config " + servers + " --strict-mcp-config --setting-sources user " +
		"--permission-mode default --allowedTools mcp__term")
	wire = func() string {
		said, err := os.ReadFile(log)
		require.NoError(t, err)
		return string(said)
	}
	c.S.Match(`(?m)^❯`)
	w.Until(func() bool { return strings.Contains(wire(), `"tools":[`) }, wire)
	for {
		c.Say("look at my terminal")
		if hasTool(c.Next(), "terminal_wait") {
			return c, wire
		}
		c.Reply(fakemodel.Turn{Say: "NOT YET"}) // it takes a moment to offer the tools to its model
		c.S.Wait("NOT YET")
	}
}

// The agent's turn ends while it waits, and its model is asked again when the wait is over.
func TestClaudeCodeIsWokenByTasks_Client(t *testing.T) {
	c, wire := claudeWithTasks(t)
	w := c.W
	user := w.Terminal(100, 24)
	user.Run("proxy --agent bash -c 'read; echo BUILD ENDED; cat'")
	id := w.Session()
	began := func() (answer string) {
		t.Helper()
		answer = c.Next().Result
		require.Contains(t, answer, "keeps running on the server")
		c.Reply(fakemodel.Turn{Say: "I WAIT"})
		c.S.Wait("1 MCP task still running")
		return answer
	}

	c.StartCall("terminal_wait", world.Args{"for": "text", "value": "BUILD ENDED"})
	began()
	w.Until(func() bool { return strings.Count(wire(), `"method":"tasks/get"`) > 3 }, wire)
	user.Press("Enter")
	woken := c.Next().Text
	require.Contains(t, woken, "<status>completed</status>")
	require.Contains(t, woken, "matched")
	require.Contains(t, woken, id+" rev ")

	c.StartCall("terminal_request_control", world.Args{"reason": "to type"})
	stopped := regexp.MustCompile(`background as task (\w+)`).FindStringSubmatch(began())
	user.WaitQuestion()
	c.Say("never mind")
	c.Next()
	c.StartCall("TaskStop", world.Args{"task_id": stopped[1]})
	c.Next()
	user.See("no question", func(string) bool { return !user.HasQuestion() })
	require.Contains(t, wire(), `"method":"tasks/cancel"`)

	c.StartCall("terminal_request_control", world.Args{"reason": "to type"})
	began()
	user.Answer("C-g")
	require.Contains(t, c.Next().Text, "granted: you have the keyboard of "+id)

	// the user takes it back while the agent sleeps
	c.StartCall("terminal_wait", world.Args{"for": "text", "value": "NEVER"})
	began()
	user.Press(`C-\`)
	require.Contains(t, c.Next().Text, "no match: the user took the keyboard back")

	c.StartCall("terminal_wait", world.Args{"for": "text", "value": "NEVER"})
	began()
	user.Press("C-d")
	require.Contains(t, c.Next().Text, "no match: the program ended first")
	c.Reply(fakemodel.Turn{Say: "ALL DONE"})
	c.S.Wait("ALL DONE")
}

// hasTool reports whether the model is offered a tool, under any name of its server.
func hasTool(q fakemodel.Request, name string) bool {
	return slices.ContainsFunc(q.Tools, func(t fakemodel.Tool) bool {
		return strings.HasSuffix(t.Name, name)
	})
}
