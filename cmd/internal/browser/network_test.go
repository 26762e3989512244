package browser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/browser"
	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
)

// A server that stalls ends no connection. The page sees it all the same, long before TCP does:
// connection.test.js has the times.
func TestAStalledServerIsVisible(t *testing.T) {
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "one")
	b := openPage(g)
	b.WaitFor(browser.Text(".session .row") + " === 'one'")
	b.WaitFor(browser.Text(".trip") + ".startsWith('connected, ')")
	browser.JS[bool](b, `window.states = [], new MutationObserver(() => {
		states.push([document.querySelector('.trip').className, document.querySelector('.frame').classList.contains('stale')].join(' '));
	}).observe(document.querySelector('.trip'), {attributes: true}), true`)
	g.freezeLinks()
	b.WaitFor(`states.includes('trip stalled true')`)
	g.print("vim-1", " two")
	b.WaitFor(browser.Text(".session .row") + " === 'one two' && document.querySelector('.trip.connected') && !document.querySelector('.frame.stale')")
}

// A network that comes back, and a person who does, have the connection looked at at once.
func TestThePageLooksAtItsConnection(t *testing.T) {
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	b := openPage(g)
	probe := func(m *protocol.SessionsList) bool { return m.After != "" }
	for _, event := range []string{"dispatchEvent(new Event('online'))", "document.dispatchEvent(new Event('visibilitychange'))"} {
		browser.JS[bool](b, event+", true")
		require.True(t, wait(g, probe).Paged)
	}
}
