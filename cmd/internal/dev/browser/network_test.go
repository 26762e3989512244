package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A server that stalls ends no connection. The page sees it all the same, long before TCP does:
// connection.test.js has the times.
func TestAStalledServerIsVisible_Client(t *testing.T) {
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
func TestThePageLooksAtItsConnection_Client(t *testing.T) {
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
func TestAUsedLinkOpensWhereItWasUsed_Client(t *testing.T) {
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
func TestAReloadedRecordingIsShown_Client(t *testing.T) {
	t.Parallel()
	g := serveOn(t, nil, auth.RoleOwner, "", withRecords(shop()), vim())
	b := openPage(g)
	b.RunSteps(chromedp.Navigate(g.url+"/#r=r-1"), chromedp.Reload())
	b.WaitFor(browser.Text(".replay .clock") + ` === '0:00 / 0:41'`)
}

// No two rows of the list look alike: not those of one program in one directory that started in the
// same minute, or even at once, and not those in directories that are too long for a row.
func TestSessionsDoNotLookAlike_Client(t *testing.T) {
	t.Parallel()
	named := session("bash-3", "/home/ada", "bash")
	named.Name = "deploy"
	long := strings.Repeat("/part-of-a-long-path", 20)
	all := []*protocol.SessionInfo{
		named, session("bash-1", "/home/ada", "bash"), session("bash-2", "/home/ada", "bash"),
		session("bash-4", "/home/ada", "bash"), session("bash-5", "/home/ada", "bash"),
		session("make-1", "/srv"+long+"/api", "make"), session("make-2", "/srv"+long+"/web", "make"),
		session("make-3", "/srv/of"+long+"/web", "make"),
	}
	for i, s := range all[3:] {
		s.StartedAt += int64(i+1) * 1000 // later in the same minute
	}
	all[4].StartedAt += 24 * 3600_000
	for name, view := range map[string]chromedp.Action[chromedp.Void]{
		"desktop": chromedp.EmulateViewport(1280, 800),
		"phone":   chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openPage(serve(t, auth.RoleViewer, "", all...), view)
			b.WaitFor(rows + " === 8")
			seen := browser.JS[[]string](b, `[...document.querySelectorAll('.sessions a')].map((a) => a.innerText.replace(/\s+/g, ' '))`)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(seen))), 8, "%q", seen)
			list := strings.Join(seen, "\n")
			require.Contains(t, list, "deploy: bash ~ quiet")
			require.Regexp(t, `bash ~ · since 1 Jan \d\d:\d\d:00 · bash-1 quiet`, list)
			require.Regexp(t, `bash ~ · since 1 Jan \d\d:\d\d:01 quiet`, list)
			require.Regexp(t, `bash ~ · since 2 Jan \d\d:\d\d quiet`, list)
			require.Regexp(t, `make /srv/part-o.*….*-path/web`, list)
			require.Empty(t, browser.JS[[]string](b, `[...document.querySelectorAll('.sessions .where')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)`), "nothing is cut off")
		})
	}
}
