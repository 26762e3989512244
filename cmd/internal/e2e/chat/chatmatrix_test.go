package chat_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// chatCells lists what TestChatMatrix_Client tries with each agent. A text says why a cell does not work;
// "" means that it works.
var chatCells = []struct {
	name  string
	lacks func(c world.ChatAgent) string
}{
	{"prompt, follow-up", works},
	{"approval: allowed, refused", works},
	{"question", func(c world.ChatAgent) string {
		if c.Asks == "" {
			return "asks in its text"
		}
		return c.AsksIf
	}},
	{"interrupt", works},
	{"resume", func(c world.ChatAgent) string {
		if c.Forgets {
			return "not always, and says so"
		}
		return ""
	}},
	{"agent killed, `gateway chat` killed", works},
}

func works(world.ChatAgent) string { return "" }

// The guide's table for people shows exactly what the tests try.
func TestTheGuideHasTheMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| agent |")
	for _, cell := range chatCells {
		b.WriteString(" " + cell.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(chatCells)) + "\n")
	for _, c := range world.ChatAgents {
		b.WriteString("| `--with " + c.Name + "` |")
		for _, cell := range chatCells {
			b.WriteString(" " + cmp.Or(cell.lacks(c), "✓") + " |")
		}
		b.WriteString("\n")
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "coding-agents.md"))
	require.NoError(t, err)
	require.Contains(t, string(guide), "\n\n"+b.String()+"\n", "the guide's table is another one")
}

// besideCells are tried with an agent in its own interface. The comments below name the tests of
// each agent.
var besideCells = []string{"prompt from elsewhere", "approval: allowed, refused, answered at the terminal", "question", "interrupt from elsewhere", "resume", "killed"}

// besideAgents lists the agents, and the cells that differ from plain success.
var besideAgents = []struct {
	command string
	lacks   map[string]string
}{
	// TestClaudeBesideItsInterface_Client, TestClaudeIsResumedBesideItsInterface_Client
	{"proxy --chat claude", map[string]string{"killed": "its hook, and one that hangs: ✓"}},
}

func TestTheGuideHasTheMatrixBeside(t *testing.T) {
	var b strings.Builder
	b.WriteString("| its own interface | " + strings.Join(besideCells, " | ") + " |\n|---|" + strings.Repeat(":-:|", len(besideCells)) + "\n")
	for _, agent := range besideAgents {
		b.WriteString("| `" + agent.command + "` |")
		for _, cell := range besideCells {
			b.WriteString(" " + cmp.Or(agent.lacks[cell], "✓") + " |")
		}
		b.WriteString("\n")
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "coding-agents.md"))
	require.NoError(t, err)
	require.Contains(t, string(guide), "\n\n"+b.String()+"\n", "the guide's table is another one")
	w := world.New(t)
	for _, without := range []string{"codex", "gemini", "opencode", "copilot"} {
		w.Gateway("run", "--chat", "--", without).MustFail(t, 2, "--chat: "+without+" is not a known coding agent: it works with claude")
	}
}
