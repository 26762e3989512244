package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
)

// A link shows where it leads before it opens, on the screen and in the history, and in a program
// that hides its target.
func TestLinksShowWhereTheyLead_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	long := "https://example.org/" + strings.Repeat("a", 70) + "/end"
	g.print("vim-1", "%s", "see "+long+" now\r\n\x1b]8;;https://evil.example/\x1b\\世 https://good.example\x1b]8;;\x1b\\\r\n\x1b]8;;javascript:alert(1)\x1b\\run\x1b]8;;\x1b\\ plain")
	b := openPage(g)
	b.WaitFor(inView + `.some((r) => r.endsWith('plain'))`)
	browser.JS[bool](b, `window.opened = [], window.open = (...all) => opened.push(all.join(' ')), true`)
	click := func(row, col int) {
		for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			mouseEvent(b, kind, row, col, nil)
		}
	}
	for _, at := range [][2]int{{0, 10}, {1, 5}} { // it wraps
		click(at[0], at[1])
		b.WaitFor(browser.Text(".link-bar code") + ` === '` + long + `'`)
		require.Empty(t, browser.JS[[]string](b, "opened"))
		browser.JS[bool](b, browser.Button("×")+`, document.querySelector('.link-bar [aria-label=close]').click(), true`)
	}
	click(2, 6)
	b.WaitFor(browser.Text(".link-bar code") + ` === 'https://evil.example/'`)
	b.Press("Open")
	require.Equal(t, []string{"https://evil.example/ _blank noopener,noreferrer"}, browser.JS[[]string](b, "opened"))
	require.False(t, browser.JS[bool](b, `document.querySelector('.session').classList.contains('typed')`), "a click on a link begins no typing")
	click(3, 1)
	b.WaitFor(`document.querySelector('.session.typed') && document.querySelector('.link-bar').hidden`)
}
