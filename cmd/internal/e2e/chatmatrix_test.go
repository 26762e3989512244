package e2e_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chatCells are what TestChatMatrix tries of each agent, and why it does not; "" where it works.
var chatCells = []struct {
	name  string
	lacks func(c chatAgent) string
}{
	{"prompt, follow-up", works},
	{"approval: allowed, refused", works},
	{"question", func(c chatAgent) string {
		if c.asks == "" {
			return "asks in its text"
		}
		return c.asksIf
	}},
	{"interrupt", works},
	{"resume", func(c chatAgent) string {
		if c.forgets {
			return "not always, and says so"
		}
		return ""
	}},
	{"agent killed, `gateway chat` killed", works},
}

func works(chatAgent) string { return "" }

// TestTheGuideHasTheMatrix: what people read of the agents is what is tried.
func TestTheGuideHasTheMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| agent |")
	for _, cell := range chatCells {
		b.WriteString(" " + cell.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(chatCells)) + "\n")
	for _, c := range chatAgents {
		b.WriteString("| `--with " + c.name + "` |")
		for _, cell := range chatCells {
			b.WriteString(" " + cmp.Or(cell.lacks(c), "✓") + " |")
		}
		b.WriteString("\n")
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "coding-agents.md"))
	require.NoError(t, err)
	require.Contains(t, string(guide), "\n\n"+b.String()+"\n", "the guide's table is another one")
}
