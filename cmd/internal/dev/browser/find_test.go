package browser_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// many returns n sessions of several users, the oldest first. An agent drives the second and asks
// for the third.
func many(n int) []*protocol.SessionInfo {
	all := make([]*protocol.SessionInfo, n)
	for i := range all {
		s := session(fmt.Sprintf("make-%d", i), fmt.Sprintf("/home/%s/src/shop-%d", []string{"ada", "bob", "eve"}[i%3], i), "make", "test")
		s.StartedAt += int64(i)
		all[i] = s
	}
	drive(all[1])
	all[2].Keyboard.Asking, all[2].Keyboard.AskingReason = "claude", "to look"
	return all
}

const (
	rows  = `document.querySelectorAll('.sessions li').length`
	field = `document.querySelector('nav input')`
)

// The page draws some rows, beginning with those in which an agent waits, and finds the others.
func TestFindInALongList_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", many(10_000)...)
	b := openPage(g)
	b.WaitFor(rows + " === 200 && " + field)
	top := browser.JS[string](b, `[...document.querySelectorAll('.sessions a')].slice(0, 3).map((a) => a.hash).join(' ')`)
	require.Equal(t, "#s=make-2 #s=make-1 #s=make-9999", top)
	status := func(words string) string {
		return browser.Text("nav [role=status]:not(.missing)") + " === '" + words + "'"
	}
	b.WaitFor(status("The first 200 of 10,000 sessions. Find searches all of them."))
	b.Press("Show 200 more")
	b.WaitFor(rows + " === 400")
	require.Equal(t, "#s=make-9801", browser.JS[string](b, "document.activeElement.hash"), "the first of the new rows")

	b.RunSteps(browser.Keys("/"))
	b.WaitFor(field + " === document.activeElement")
	b.RunSteps(browser.Keys("BOB shop-7"))
	b.WaitFor(status("The first 200 of 373 matches in 10,000 sessions."))
	b.RunSteps(browser.Keys("75"))
	b.WaitFor(status("5 of 10,000 sessions match."))
	require.Equal(t, 5.0, browser.JS[float64](b, rows), "shop-775, 7750, 7753, 7756 and 7759")
	g.change("make-5", func(s *protocol.SessionInfo) { s.LastLine = "not looked for" })
	g.change("make-7759", func(s *protocol.SessionInfo) { s.LastLine = "looked for" })
	b.WaitFor(`[...document.querySelectorAll('.sessions code')].some((e) => e.textContent === 'looked for')`)
	require.Equal(t, 5.0, browser.JS[float64](b, rows))

	b.RunSteps(browser.Keys("-nobody"))
	b.WaitFor(status("None of the 10,000 sessions matches."))
	b.RunSteps(browser.Keys("\x1b"))
	b.WaitFor(rows + " === 200 && " + field + ".value === ''")
	b.RunSteps(browser.Keys("make-1717"))
	b.WaitFor(status("1 of 10,000 sessions matches."))
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor("location.hash === '#s=make-1717'")
}

func TestAShortListHasNothingToFind_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", many(4)...)
	b := openPage(g)
	b.WaitFor(rows + " === 4")
	b.RunSteps(browser.Keys("/"))
	require.True(t, browser.JS[bool](b, field+" === null"))
}
