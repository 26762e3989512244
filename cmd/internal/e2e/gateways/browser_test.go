package gateways_test

import (
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A person opens the link in a browser, grants an agent the keyboard there, watches it type, and
// takes the keyboard back.
func TestABrowserGivesAndTakesBack_Client(t *testing.T) {
	b := browser.Chromium(t)
	w := world.New(t, "vim")
	w.Write("notes.txt", "to do\n")
	s, o := w.Terminal(100, 24), w.Terminal(100, 30)
	s.Run("proxy --agent vim -u NONE notes.txt")
	s.Wait("to do")
	id := w.Session()
	_, link := o.OpenPage("--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.Wait(browser.JS[string](b, browser.Text(".words")))
	o.Typed("y\n")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('to do')")

	asking := w.Start("gateway", "request", id, "--reason", "add the milk", "--as", "codex")
	b.WaitFor(browser.Text(".question") + ".includes('codex asks to drive vim -u NONE notes.txt')")
	b.Press("Let it drive 10 min")
	require.Zero(t, asking.Wait().Status)
	s.Wait("lets codex drive")
	b.WaitFor(browser.Text(".stage .tag") + ".startsWith('codex drives')")
	w.MustGateway("send", id, "--as", "codex", "o", "m", "i", "l", "k", "esc")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	b.WaitFor(browser.Text(".just") + ` === 'codex typed "omilk"<Esc>'`)
	b.Press("Take back")
	b.WaitFor(browser.Text(".log") + ".includes('Taken back')")
	w.WaitKeyboard(id, "user")
	s.Wait("a page")

	b.Press("Hide")
	b.WaitFor("!" + browser.Text(".session .sheet") + ".includes('milk')")
	b.Press("Show") // the page signs the grant
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")

	o.Press("C-c")
	require.Zero(t, o.Status())
	b.WaitFor(browser.Text(".trip") + ".startsWith('closed: the page was closed')")
}

// A person mutes and unmutes an agent in a browser. The browser shows what was answered at the
// terminal.
func TestABrowserMutes_Client(t *testing.T) {
	b := browser.Chromium(t)
	w := world.New(t)
	s, o := w.Terminal(120, 24), w.Terminal(100, 30)
	s.RunListener("--agent")
	id := w.Session()
	_, link := o.OpenPage("--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.Typed("y\n")
	b.WaitFor(`document.querySelector('.session .sheet')`)

	asking := w.Start("gateway", "request", id, "--reason", "look", "--as", "codex")
	b.Press("Mute")
	require.Equal(t, 1, asking.Wait().Status)
	s.WaitShown("a page muted codex")
	b.WaitFor(browser.Text(".session .muted") + ".includes('codex is muted')")
	require.Contains(t, w.Gateway("request", id, "--reason", "again", "--as", "codex").Err, "the user muted you")
	b.Press("Unmute codex") // the page signs this too
	s.WaitShown(" unmuted codex")
	b.WaitFor(`document.querySelector('.session .muted').hidden`)

	s.OpenMenu() // otherwise the next request would have to wait
	s.Press("Escape")
	s.WaitGone("Ctrl+G lets")
	asking = w.Start("gateway", "request", id, "--reason", "look", "--as", "codex")
	b.WaitFor(browser.Text(".question .where") + ".includes('asked ')")
	s.WaitQuestion()
	s.Answer(`C-\`)
	require.Equal(t, 1, asking.Wait().Status)
	b.WaitFor(browser.Text(".log") + ".includes('codex was refused at the terminal')") // the question said so too, for a moment
}
