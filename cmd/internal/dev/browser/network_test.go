package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A server that stalls ends no connection. The page sees it all the same, long before TCP does:
// connection.test.js has the times.
func TestAStalledServerIsVisible(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	b := openPage(g)
	probe := func(m *protocol.SessionsList) bool { return m.After != "" }
	for _, event := range []string{"dispatchEvent(new Event('online'))", "document.dispatchEvent(new Event('visibilitychange'))"} {
		browser.JS[bool](b, event+", true")
		require.True(t, wait(g, probe).Paged)
	}
}

// A link opens once. The browser that used it is known by its key, and another one is not.
func TestAUsedLinkOpensWhereItWasUsed(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	code := g.opening.Code()
	b := openAt(g, code)
	b.RunSteps(chromedp.Navigate("about:blank"), chromedp.Navigate(g.url+"/#c="+code))
	b.WaitFor(`document.querySelector('.trip.connected')`)
	other := browser.OpenTab(t)
	other.RunSteps(chromedp.Navigate(g.url + "/#c=" + code))
	other.WaitFor(browser.Text(".door") + ".includes('link')")
}

// A list of recordings that was asked for already is waited for.
func TestAReloadedRecordingIsShown(t *testing.T) {
	t.Parallel()
	g := serveOn(t, nil, auth.RoleOwner, "", withRecords(shop()), vim())
	b := openPage(g)
	b.RunSteps(chromedp.Navigate(g.url+"/#r=r-1"), chromedp.Reload())
	b.WaitFor(browser.Text(".replay .clock") + ` === '0:00 / 0:41'`)
}

// Two sessions of one program in one directory do not look alike: by the name that a person gave,
// or the time of their start.
func TestSessionsDoNotLookAlike(t *testing.T) {
	t.Parallel()
	named := session("bash-3", "/home/ada", "bash")
	named.Name = "deploy"
	g := serve(t, auth.RoleViewer, "", session("bash-1", "/home/ada", "bash"), session("bash-2", "/home/ada", "bash"), named)
	b := openPage(g)
	b.WaitFor(browser.Text(".sessions") + `.includes('deploy: bash ~')`)
	require.Regexp(t, `bash ~ · since \d\d:\d\d quiet`, browser.JS[string](b, browser.Text(".sessions")))
	require.Equal(t, 2, browser.JS[int](b, browser.Text(".sessions")+`.split('since').length - 1`))
}
