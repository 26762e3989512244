package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/browser"
	"terminalproxy/cmd/internal/fakemodel"
)

// A person talks to Claude Code from a browser and approves there what it wants to run, while
// Claude Code's own interface stands in the terminal.
func TestABrowserTalksToACodingAgent(t *testing.T) {
	b := browser.Chromium(t)
	w := newWorld(t)
	c := w.newChat(chatAgents[0])
	o := w.terminal(100, 30)
	c.s.run(c.env + "proxy --chat claude --permission-mode default")
	c.s.wait("❯")
	id := w.session()
	_, link := o.openPage("--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.typed("y\n")
	b.WaitFor(browser.Text(".drawer header .where") + ` === 'waits for you to write, mode default'`)
	browser.JS[bool](b, `document.querySelector('.prompt textarea').value = 'write it down', document.querySelector('.prompt .go').click(), true`)
	c.next()
	c.callShell("echo done > out.txt")
	b.WaitFor(browser.Text(".card pre") + ` === 'echo done > out.txt'`)
	b.Press("Allow once")
	c.next()
	require.Equal(t, "done\n", w.content("out.txt"))
	c.reply(fakemodel.Turn{Say: "It is written."})
	b.WaitFor(browser.Text(".said") + `.includes('It is written.')`)
	c.s.wait("It is written.")
	b.WaitFor(browser.Text(".drawer header .where") + ` === 'waits for you to write, mode default'`)
}
