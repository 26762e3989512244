package browser_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A page whose connection is lost says since when its screen is old, connects again, and shows the
// screen of now. A server that stalls ends no connection: the page sees it long before TCP does
// (connection.test.js has the times). A network or a person that comes back has the connection
// looked at at once. A hidden page gets no rows.
func TestThePageComesBackToTheSameScreen_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	g.print("vim-1", "one")
	b := openPage(g, "s=vim-1")
	const row = ".session .row"
	b.WaitText(row, "one")
	g.endLinks(true)
	b.WaitText(".trip", "lost, trying again")
	b.WaitFor(browser.Text(".session footer") + `.match(/as of \d\d:\d\d:\d\d/)`)
	require.True(t, b.Is(`document.querySelector('.frame').classList.contains('stale')`))
	g.print("vim-1", " two")
	g.endLinks(false)
	b.WaitText(row, "one two")
	const good = `document.querySelector('.trip.connected') && !document.querySelector('.stale')`
	b.WaitFor(good)
	require.Regexp(t, `^connected, \d+ ms$`, browser.JS[string](b, browser.Text(".trip")))

	b.Eval(`window.states = [], new MutationObserver(() => {
		const stale = document.querySelector('.frame').classList.contains('stale');
		states.push(document.querySelector('.trip').className + ' ' + stale);
	}).observe(document.querySelector('.trip'), {attributes: true})`)
	g.freezeLinks()
	b.Eval(`dispatchEvent(new Event('online'))`)
	b.WaitFor(`states.includes('trip stalled true')`)
	g.print("vim-1", " three")
	b.WaitText(row, "one two three")
	b.WaitFor(good)

	looks := func(m *protocol.SessionsList) bool { return m.After != "" }
	for count[*protocol.SessionsList](g) > 0 {
		next[*protocol.SessionsList](g)
	}
	b.Eval(`dispatchEvent(new Event('online'))`)
	require.True(t, wait(g, looks).Paged)
	for count[*protocol.View](g) > 0 {
		next[*protocol.View](g)
	}
	hide(b, true)
	next[*protocol.Unview](g)
	g.print("vim-1", " four")
	hide(b, false)
	next[*protocol.View](g)
	require.True(t, wait(g, looks).Paged)
	b.WaitText(row, "one two three four")
}

// Every kind of fault is shown: without the line, the page would look alive and do nothing.
func TestAFaultOfThePageIsShown_Client(t *testing.T) {
	t.Parallel()
	b := openPage(serve(t, auth.RoleOwner, "vim-1", vim()), "")
	b.WaitFor(`document.querySelector('.session .row')`)
	for provoke, want := range map[string]string{
		`setTimeout(() => { throw new Error('no\u202e such\ncell') })`: "Uncaught Error: no such cell",
		`Promise.reject('a string')`:                                   "a string",
		`document.querySelector('script[src$="app.js"]').dispatchEvent(new Event('error'))`: "a script" +
			" did not load",
	} {
		b.Eval("window.old = true, " + provoke)
		b.WaitText(".fault", "This page has a fault: "+want+"; reload")
		require.True(t, b.Is(`((fault, r) => fault.scrollWidth <= fault.clientWidth + 1 &&
			fault.contains(document.elementFromPoint(r.left + 5, r.top + 5)))(
			document.querySelector('.fault'), document.querySelector('.fault').getBoundingClientRect())`),
			"it is covered, or cut off")
		b.Eval(`setTimeout(() => { throw new Error('another one') })`)
		b.WaitFor(`faults.some((f) => f.includes('another one'))`)
		require.Equal(t, 1, browser.JS[int](b, `document.querySelectorAll('.fault').length`))
		b.Eval(`setTimeout(() => document.querySelector('.fault button').click())`)
		require.Eventually(t, func() bool { // the old page may end while it is asked
			loaded := chromedp.Evaluate[bool](`!window.old && !!` + connected)
			again, err := chromedp.Run(b.Ctx, loaded)
			return err == nil && again
		}, browser.Patience, 50*time.Millisecond)
		require.False(t, b.Is(`document.querySelector('.fault')`))
	}
}
