package browser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// tree lists the roles and names of the nodes that a screen reader knows of, and whether a node
// speaks for itself.
func tree(b *browser.Tab) (all []string) {
	b.T.Helper()
	got, err := chromedp.Call(b.Ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	require.NoError(b.T, err)
	for _, n := range got.Nodes {
		if n.Ignored {
			continue
		}
		values := []*accessibility.Value{n.Role, n.Name}
		for _, p := range n.Properties {
			if p.Name == "live" {
				values = append(values, p.Value)
			}
		}
		var words []string
		for _, v := range values {
			var word string
			if v != nil && json.Unmarshal(v.Value, &word) == nil && word != "" {
				words = append(words, word)
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// requireTree requires nodes, and that every node that a person acts on has a name.
func requireTree(b *browser.Tab, nodes ...string) {
	b.T.Helper()
	got := tree(b)
	require.Subset(b.T, got, nodes, "%s", strings.Join(got, "\n"))
	for _, role := range strings.Fields("button link textbox alertdialog group radio checkbox region") {
		require.NotContains(b.T, got, role, "one without a name")
	}
}

// Everything visible has its role and its name, and what happens is said.
func TestAScreenReaderHearsThePage_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), claude(), asking("codex", "count", protocol.LevelDrive))
	g.print("vim-1", "package main")
	aConversation(g)
	b := openPage(g, "s=vim-1")
	b.WaitFor(browser.Button("Let it") + "?.disabled === false")
	b.WaitText(".session .row", "package main")
	said := func(words string) { b.WaitText("#said", words) }
	said("codex asks to drive psql orders")
	g.decided("vim-1", protocol.Decision{AgentName: "claude", Granted: true, By: "ada", At: 2})
	said("claude got the keyboard, given by ada")
	b.WaitPart(".log", "claude got the keyboard")
	g.setTyped(&protocol.AgentTyped{AgentName: "claude", Text: `"make"`, Count: 1})
	g.print("vim-1", ".")
	b.WaitFor(`[...document.querySelectorAll('[role=status]')]
		.some((e) => e.checkVisibility() && e.textContent === 'claude typed "make"')`)
	requireTree(b,
		"alertdialog codex asks to drive psql orders", "button Let it drive 10 min", "button Text only",
		"button Refuse", "button Mute", "group the last rows of its screen", "navigation sessions", "main",
		"heading vim main.go", "button Take back", "button Hide", "group screen of vim main.go",
		"log new lines polite", "group messages", "textbox message to the agent", "button Send",
	)

	g.addRecords("claude-1", approval("t3", "go test"), questions("t4"), state(protocol.ChatApproval))
	visit(b, "s=claude-1")
	b.WaitPart(".said", "trying again")
	b.WaitFor(`document.querySelector('.drawer .card') && ` + pressable)
	requireTree(b,
		"complementary conversation with Claude Code", "region what Claude Code and people said",
		"button Interrupt", "button Chat", "button Send", "alertdialog Claude Code wants to use Bash",
		"alertdialog Claude Code asks 3 questions", "button Allow once", "button For this session",
		"button Refuse…", "radio all of them takes 4 min", "radio something else", "checkbox -race",
		"group Tests Which tests? one answer", "textbox answer in your own words: Under which name?",
		"button Answer", "textbox message to Claude Code; Shift Enter begins a line",
	)
}
