package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
)

// An installed page has no address bar, and on iOS it shares no storage with the browser.
func TestALinkIsPasted_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url))
	b.WaitFor(browser.Button("Open"))
	fill := func(text string) {
		browser.Call[bool](b, `(text) => { document.querySelector('form input').value = text; return true; }`, text)
		b.Press("Open")
	}
	fill("https://example.com/")
	b.WaitFor(browser.Text(".door") + ".includes('That is no link of gateway open')")
	fill(g.url + "/#c=" + g.opening.Code() + " ")
	b.WaitFor(`document.querySelector('.trip.connected')`)
	require.Equal(t, g.url+"/", browser.JS[string](b, "location.href"))
}
