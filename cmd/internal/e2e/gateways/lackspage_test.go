package gateways_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
)

// The page's gateway is one of several, and their NATS server is gone.
func TestAPageSaysThatItsListIsIncomplete_Client(t *testing.T) {
	b := browser.Chromium(t)
	w := world.New(t)
	for _, role := range []string{"proxy", "viewer"} {
		w.Write(role+".token", w.MustGateway("token", "create", role, "--role", role))
	}
	server := w.Start("gateway", "serve", "--page", "--listen", "127.0.0.1:0", "--cluster", "nats://127.0.0.1:1")
	t.Cleanup(func() {
		_ = server.Cmd.Process.Signal(syscall.SIGTERM)
		server.Wait()
	})
	w.Until(func() bool { return strings.Contains(server.Out.String(), "web pages: on") }, func() string { return server.Err.String() })
	_, rest, _ := strings.Cut(server.Out.String(), "listening on ")
	at, _, _ := strings.Cut(rest, "\n")
	s, o := w.Terminal(100, 24), w.Terminal(100, 30)
	s.RunListener("--gateway " + at + " --token-file " + w.Path("proxy.token") + " --agent")
	_, link := o.OpenPage("--gateway " + at + " --token-file " + w.Path("viewer.token"))
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 1`)
	b.WaitFor(browser.Text(".side nav .missing") + ".startsWith('Incomplete: since ')")
	b.WaitFor(browser.Text(".side nav .missing") + ".includes('no NATS server answers')")
}
