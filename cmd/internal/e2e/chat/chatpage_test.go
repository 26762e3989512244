package chat_test

import (
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A person talks to Claude Code from a browser and approves there what it wants to run, while
// Claude Code's own interface stands in the terminal.
func TestABrowserTalksToACodingAgent_Client(t *testing.T) {
	b := browser.Chromium(t)
	w := world.New(t)
	c := w.NewChat(world.ChatAgents[0])
	o := w.Terminal(100, 30)
	c.S.Run(c.Env + "proxy --chat claude --permission-mode default")
	c.S.Wait("❯")
	id := w.Session()
	_, link := o.OpenPage("--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.Typed("y\n")
	b.WaitFor(browser.Text(".drawer header .where") + ` === 'waits for you to write, mode default'`)
	browser.JS[bool](b, `document.querySelector('.prompt textarea').value = 'write it down', document.querySelector('.prompt .go').click(), true`)
	c.Next()
	c.CallShell("echo done > out.txt")
	b.WaitFor(browser.Text(".card pre") + ` === 'echo done > out.txt'`)
	b.Press("Allow once")
	c.Next()
	require.Equal(t, "done\n", w.Content("out.txt"))
	c.Reply(fakemodel.Turn{Say: "It is written."})
	b.WaitFor(browser.Text(".said") + `.includes('It is written.')`)
	c.S.Wait("It is written.")
	b.WaitFor(browser.Text(".drawer header .where") + ` === 'waits for you to write, mode default'`)
}
