package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// Claude Code asks, even with a new configuration under which it would let a model decide. Its
// mode, and each change of the mode, shows in the conversation.
func TestClaudeAsksFirst(t *testing.T) {
	clients(t)
	w := newWorld(t)
	b := besideClaudeIn(w)
	b.start("")
	require.Equal(t, "default", w.sessions()[0].Chat.Mode)
	require.Contains(t, w.mustGateway("chat", "log", b.id), "the mode is default (asks)")
	b.prompt()
	b.askForFile("made-never")
	require.NoFileExists(t, w.path("made-never"))
	b.s.press("Escape")
	b.waitForLog(`"outcome":"interrupted"`)
	b.s.wait("❯")
	b.s.press("BTab")
	b.waitForLog("the mode is acceptEdits (changes files without asking) now")
	require.Equal(t, "acceptEdits", w.sessions()[0].Chat.Mode)
	require.NoFileExists(t, w.path("made-never"))
	b.exit()

	w.writeJSON("claude/settings.json", args{"permissions": args{"defaultMode": "plan"}})
	b.s.runAnew(b.env + "proxy --chat --name chosen claude")
	b.id = w.session()
	b.waitForLog("the mode is plan (changes nothing)")
	b.exit()
}

// Without our setting, opencode runs whatever its model wants.
func TestOpencodeAsksFirst(t *testing.T) {
	clients(t)
	w := newWorld(t)
	c := w.newChat(chatAgentNamed("opencode"))
	c.s.run(c.env + "proxy --chat opencode")
	id := w.session()
	c.waitForOpencode()
	c.say("make a file")
	c.next()
	c.callShell("touch made-never")
	c.s.wait("Permission required")
	w.answerChat(id, "refuse", "--words", "not in this place")
	require.Contains(t, c.next().Result, "not in this place")
	require.NoFileExists(t, w.path("made-never"))
	c.reply(fakemodel.Turn{Say: "DONE"})
	c.s.wait("DONE")
	c.s.press("C-c")
	c.s.status()
}

// With each agent, an unanswered tool call leaves no file. If the agent has modes, its mode is
// named.
func TestChatAsksFirst(t *testing.T) {
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.newChat(agent)
			c.start("")
			c.s.wait("→ You:")
			if agent.mode != "" {
				c.s.wait("the mode is " + agent.mode)
			}
			c.say("make a file")
			c.next()
			c.askToRun("touch made-never")
			c.s.close()
			w.until(func() bool { return w.signalLine(`gateway chat`, 0) == 0 }, c.s.screen)
			require.NoFileExists(t, w.path("made-never"))
		})
	}
}

func TestAModeThatDoesNotExist(t *testing.T) {
	for _, agent := range chatAgents {
		if agent.mode == "" {
			continue
		}
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.newChat(agent)
			c.start("--mode nonsense")
			require.Equal(t, 1, c.s.status())
			require.Contains(t, c.s.screen(), "nonsense")
			require.Contains(t, c.s.screen(), "did not start")
		})
	}
}
