package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/browser"
)

// A person opens the link in a browser, grants an agent the keyboard there, watches it type, and
// takes the keyboard back.
func TestABrowserGivesAndTakesBack(t *testing.T) {
	b := browser.Chromium(t)
	w := newWorld(t, "vim")
	w.write("notes.txt", "to do\n")
	s, o := w.terminal(100, 24), w.terminal(100, 30)
	s.run("proxy --agent vim -u NONE notes.txt")
	s.wait("to do")
	id := w.session()
	_, link := o.openPage("--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.wait(browser.JS[string](b, browser.Text(".words")))
	o.typed("y\n")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('to do')")

	asking := w.start("gateway", "request", id, "--reason", "add the milk", "--as", "codex")
	b.WaitFor(browser.Text(".question") + ".includes('codex asks to type in vim -u NONE notes.txt')")
	b.Press("Give 10 min")
	require.Zero(t, asking.wait().status)
	s.wait("lets codex drive")
	b.WaitFor(browser.Text(".frame.driven .tag") + ".startsWith('codex drives')")
	w.mustGateway("send", id, "--as", "codex", "o", "m", "i", "l", "k", "esc")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	b.WaitFor(browser.Text(".just") + ` === 'codex typed "omilk"<Esc>'`)
	b.Press("Take back")
	b.WaitFor(browser.Text(".log") + ".includes('Taken back')")
	w.waitKeyboard(id, "user")
	s.wait("a page")

	b.Press("Hide")
	b.WaitFor("!" + browser.Text(".session .sheet") + ".includes('milk')")
	b.Press("Show") // the page signs the grant
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")

	o.press("C-c")
	require.Zero(t, o.status())
	b.WaitFor(browser.Text(".trip") + ".startsWith('closed: the page was closed')")
}

// A person mutes and unmutes an agent in a browser. The browser shows what was answered at the
// terminal.
func TestABrowserMutes(t *testing.T) {
	b := browser.Chromium(t)
	w := newWorld(t)
	s, o := w.terminal(120, 24), w.terminal(100, 30)
	s.runListener("--agent")
	id := w.session()
	_, link := o.openPage("--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.typed("y\n")
	b.WaitFor(`document.querySelector('.session .sheet')`)

	asking := w.start("gateway", "request", id, "--reason", "look", "--as", "codex")
	b.Press("Mute")
	require.Equal(t, 1, asking.wait().status)
	s.waitShown("a page muted codex")
	b.WaitFor(browser.Text(".session .muted") + ".includes('codex is muted')")
	require.Contains(t, w.gateway("request", id, "--reason", "again", "--as", "codex").err, "the user muted you")
	b.Press("Unmute codex") // the page signs this too
	s.waitShown(" unmuted codex")
	b.WaitFor(`document.querySelector('.session .muted').hidden`)

	s.openMenu() // otherwise the next request would have to wait
	s.press("Escape")
	s.waitGone("Ctrl+G lets")
	asking = w.start("gateway", "request", id, "--reason", "look", "--as", "codex")
	b.WaitFor(browser.Text(".question .where") + ".includes('asked ')")
	s.waitQuestion()
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status)
	b.WaitFor(browser.Text(".log") + ".includes('codex was refused at the terminal')") // the question said so too, for a moment
}
