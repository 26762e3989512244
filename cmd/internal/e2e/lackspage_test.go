package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"terminalproxy/cmd/internal/browser"
)

// The page's gateway is one of several, and their NATS server is gone.
func TestAPageSaysThatItsListIsIncomplete(t *testing.T) {
	b := browser.Chromium(t)
	w := newWorld(t)
	for _, role := range []string{"proxy", "viewer"} {
		w.write(role+".token", w.mustGateway("token", "create", role, "--role", role))
	}
	server := w.start("gateway", "serve", "--page", "--listen", "127.0.0.1:0", "--cluster", "nats://127.0.0.1:1")
	t.Cleanup(func() {
		_ = server.cmd.Process.Signal(syscall.SIGTERM)
		server.wait()
	})
	w.until(func() bool { return strings.Contains(server.out.String(), "web pages: on") }, func() string { return server.err.String() })
	_, rest, _ := strings.Cut(server.out.String(), "listening on ")
	at, _, _ := strings.Cut(rest, "\n")
	s, o := w.terminal(100, 24), w.terminal(100, 30)
	s.runListener("--gateway " + at + " --token-file " + w.path("proxy.token") + " --agent")
	_, link := o.openPage("--gateway " + at + " --token-file " + w.path("viewer.token"))
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 1`)
	b.WaitFor(browser.Text(".side nav .missing") + ".startsWith('Incomplete: since ')")
	b.WaitFor(browser.Text(".side nav .missing") + ".includes('no NATS server answers')")
}
