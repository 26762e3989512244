package browser_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
)

// TestAFaultOfThePageIsShown_Client provokes every kind of fault: without the line, the page would look
// alive and do nothing.
func TestAFaultOfThePageIsShown_Client(t *testing.T) {
	t.Parallel()
	b := openPage(serve(t, auth.RoleOwner, "vim-1", vim()))
	b.WaitFor(`document.querySelector('.session .row')`)
	for provoke, want := range map[string]string{
		`setTimeout(() => { throw new Error('no\u202e such\ncell') })`:                      "Uncaught Error: no such cell",
		`Promise.reject(new Error('no answer'))`:                                            "no answer",
		`Promise.reject('a string')`:                                                        "a string",
		`document.querySelector('script[src$="app.js"]').dispatchEvent(new Event('error'))`: "a script did not load",
	} {
		browser.JS[bool](b, "window.old = true, "+provoke+", true")
		b.WaitFor(`document.querySelector('.fault')`)
		require.Equal(t, "This page has a fault: "+want+"; reload", browser.JS[string](b, browser.Text(".fault")))
		require.True(t, browser.JS[bool](b, `(() => {
			const line = document.querySelector('.fault').getBoundingClientRect();
			return document.querySelector('.fault').contains(document.elementFromPoint(line.left + 5, line.top + 5));
		})()`), "nothing covers it")
		browser.JS[bool](b, `setTimeout(() => { throw new Error('another one') }), true`)
		b.WaitFor(`faults.some((f) => f.includes('another one'))`)
		require.Equal(t, 1, browser.JS[int](b, `document.querySelectorAll('.fault').length`), "the first one stays")
		require.Empty(t, browser.JS[[]string](b, `[document.querySelector('.fault')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)`))
		browser.JS[bool](b, `setTimeout(() => document.querySelector('.fault button').click()), true`)
		require.Eventually(t, func() bool { // the old page may end while it is asked
			reloaded, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool](`!window.old && !!document.querySelector('.trip.connected')`))
			return err == nil && reloaded
		}, browser.Patience, 50*time.Millisecond)
		require.False(t, browser.JS[bool](b, `!!document.querySelector('.fault')`))
	}
	require.Empty(t, browser.JS[[]string](b, "faults"))
}
