package gateways_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// faults notes what a page's policy blocked, and the errors of its scripts.
const faults = `window.faults = [];
	addEventListener('securitypolicyviolation', (e) => faults.push(e.violatedDirective + ' ' + e.blockedURI));
	addEventListener('error', (e) => faults.push(String(e.message)));
	addEventListener('unhandledrejection', (e) => faults.push(String(e.reason)));`

// Two people look at a session, each in a browser. When the serving process is killed, both return
// to the same screen and see its changes.
func TestTwoBrowsersOutliveTheGateway_Client(t *testing.T) {
	browsers := []*browser.Tab{browser.Chromium(t), browser.Chromium(t)}
	w := world.New(t, "vim")
	w.Write("notes.txt", "to do\n")
	first, s, o := w.Terminal(100, 24), w.Terminal(100, 24), w.Terminal(100, 40)
	proxy := first.RunListener("--agent")
	w.Session()
	s.Run("proxy --agent vim -u NONE notes.txt")
	s.Wait("to do")
	w.IDs(2)
	_, link := o.OpenPage("")
	for i, b := range browsers {
		if i > 0 {
			o.Typed("\n")
			o.See("another link", func(screen string) bool { return strings.Count(screen, "/#c=") == 2 })
			link = strings.Fields(o.Screen()[strings.LastIndex(o.Screen(), "http://"):])[0]
		}
		b.RunBeforeScripts(faults)
		b.RunSteps(chromedp.Navigate(link))
		b.WaitFor(`document.querySelectorAll('.sessions li').length === 2`)
		browser.JS[bool](b, `[...document.querySelectorAll('.sessions a')].find((a) => a.textContent.startsWith('vim')).click(), true`)
		b.WaitFor(browser.Text(".session .sheet") + ".includes('to do')")
	}
	s.Typed("omilk")
	for _, b := range browsers {
		b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	}
	w.Kill(proxy, syscall.SIGKILL)
	s.Typed(" and eggs")
	for _, b := range browsers {
		b.WaitFor(browser.Text(".session .sheet") + ".includes('milk and eggs') && document.querySelector('.trip.connected') && !document.querySelector('.stale')")
		require.Equal(t, "to do milk and eggs", strings.TrimSpace(browser.JS[string](b, `[...document.querySelectorAll('.session .row')].slice(0, 2).map((r) => r.textContent.trim()).join(' ')`)))
		require.Empty(t, browser.JS[[]string](b, "faults"))
	}
	o.Press("C-c")
	require.Zero(t, o.Status())
	s.Press("Escape")
	s.QuitProgram(":q!\n")
}
