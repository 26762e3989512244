package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

const (
	rows  = `document.querySelectorAll('.sessions li').length`
	field = `document.querySelector('nav input')`
)

// lastLine is a script that reports whether a row of the list shows a last line.
func lastLine(text string) string {
	return `[...document.querySelectorAll('.sessions code')]` +
		`.some((e) => e.textContent === ` + browser.Quote(text) + `)`
}

// many returns n sessions of several users, the oldest first. An agent drives the second and asks
// for the third.
func many(n int) []*protocol.SessionInfo {
	all := make([]*protocol.SessionInfo, n)
	for i := range all {
		cwd := fmt.Sprintf("/home/%s/src/shop-%d", []string{"ada", "bob", "eve"}[i%3], i)
		all[i] = session(fmt.Sprintf("make-%d", i), cwd, "make", "test")
		all[i].StartedAt += int64(i)
	}
	drive(all[1])
	all[2].Keyboard.Asking, all[2].Keyboard.AskingReason = "claude", "to look"
	return all
}

// A viewer sees each session's state and last line, and live what a session prints. Nothing is
// there that a viewer may not press. Ended sessions stay put away.
func TestAViewerLooksAtSessions_Client(t *testing.T) {
	t.Parallel()
	bash := session("bash-1", "/home/ada", "bash")
	bash.IdleMs, bash.LastLine = 12*60_000, "<b>ok</b>  shop/orders\u202e 0.3s"
	dark := session("ssh-1", "/home/ada", "ssh", "bastion")
	dark.Blackout = &protocol.Hidden{Why: protocol.BlackoutPassword, Secret: "hard"}
	ended := session("npm-1", "/home/ada/src/web", "npm", "run", "build")
	ended.State, ended.ExitCode = protocol.StateExited, 2
	driven := vim()
	drive(driven)
	driven.Muted = []string{"codex"}
	g := serve(t, auth.RoleViewer, "", driven, bash, dark, ended)
	g.print("vim-1", "\x1b[31mpackage\x1b[m main\r\n")
	b := openPage(g, "")
	b.WaitFor(rows + ` === 4`)
	b.WaitFor(lastLine("<b>ok</b>  shop/orders\ufffd 0.3s"))
	for _, want := range []string{
		`vim main.go ~/src/shop · quiet 1 min · codex muted claude drives \d+ min left`, `bash ~ quiet 1\d min`,
		"ssh bastion ~ password asked", "npm run build ~/src/web exited 2",
	} {
		require.Regexp(t, want, browser.JS[string](b, browser.Text(".sessions")))
	}
	b.RunSteps(browser.Keys("/"))
	require.True(t, b.Is(field+" === null"), "a short list has nothing to find")
	g.change("bash-1", func(s *protocol.SessionInfo) { s.LastLine = "FAIL" })
	b.WaitFor(lastLine("FAIL"))

	b.Eval(`document.querySelector('a[href="#s=vim-1"]').click()`)
	b.WaitText(".session .row", "package main")
	b.WaitPart(".session .muted", "codex is muted")
	require.Regexp(t, `^claude drives \d+ min left$`, browser.JS[string](b, browser.Text(".stage .tag")))
	g.print("vim-1", "\r\nfunc main() {}")
	b.WaitFor(`document.querySelectorAll('.session .row')[2].textContent === 'func main() {}'`)
	b.WaitFor(`document.querySelector('.session [aria-live]').textContent.includes('func main() {}')`)
	g.setTyped(&protocol.AgentTyped{AgentName: "claude", Text: `"<b>make</b>"<Enter>`, Count: 1})
	g.print("vim-1", "\r\nnext")
	wait(g, func(m *protocol.Ack) bool { return m.Seq == 3 })
	b.WaitText(".just", `claude typed "<b>make</b>"<Enter>`)
	g.setTyped(nil) // a password is asked
	g.print("vim-1", ".")
	b.WaitFor(`document.querySelector('.just').hidden`)
	require.Zero(t, browser.JS[int](b, `[...document.querySelectorAll('button')]`+
		`.filter((b) => b.checkVisibility() && !b.matches('.plain')).length`))
	require.False(t, b.Is(`document.querySelector('.records').checkVisibility()`),
		"recordings hold what a program printed at any time")
	require.Zero(t, count[*protocol.RecordsList](g))

	b.Press("Put away 1 ended")
	b.WaitFor(rows + ` === 3`)
	visit(b, "")
	b.RunSteps(reload)
	b.WaitFor(rows + ` === 3`)
	g.change("ssh-1", func(s *protocol.SessionInfo) { s.State = protocol.StateExited })
	b.WaitFor(browser.Button("Put away 1 ended") + ` && ` + rows + ` === 3`)
}

// The page draws some rows, beginning with those in which an agent waits, and finds the others.
func TestAPersonFindsASession_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", many(10_000)...)
	b := openPage(g, "")
	b.WaitFor(rows + " === 200 && " + field)
	require.Equal(t, "#s=make-2 #s=make-1 #s=make-9999", browser.JS[string](b,
		`[...document.querySelectorAll('.sessions a')].slice(0, 3).map((a) => a.hash).join(' ')`))
	status := func(words string) { b.WaitText("nav [role=status]:not(.missing)", words) }
	status("The first 200 of 10,000 sessions. Find searches all of them.")
	b.Press("Show 200 more")
	b.WaitFor(rows + " === 400")
	require.Equal(t, "#s=make-9801", browser.JS[string](b, "document.activeElement.hash"))

	b.RunSteps(browser.Keys("/"))
	b.WaitFor(field + " === document.activeElement")
	b.RunSteps(browser.Keys("BOB shop-7"))
	status("The first 200 of 373 matches in 10,000 sessions.")
	b.RunSteps(browser.Keys("75"))
	status("5 of 10,000 sessions match.") // shop-775, 7750, 7753, 7756 and 7759
	g.change("make-5", func(s *protocol.SessionInfo) { s.LastLine = "not looked for" })
	g.change("make-7759", func(s *protocol.SessionInfo) { s.LastLine = "looked for" })
	b.WaitFor(lastLine("looked for"))
	require.Equal(t, 5, browser.JS[int](b, rows))

	b.RunSteps(browser.Keys("-nobody"))
	status("None of the 10,000 sessions matches.")
	b.RunSteps(browser.Keys("\x1b"))
	b.WaitFor(rows + " === 200 && " + field + ".value === ''")
	b.RunSteps(browser.Keys("make-1717"))
	status("1 of 10,000 sessions matches.")
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor("location.hash === '#s=make-1717'")
}

// No two rows look alike, on a desk and on a phone: not those of one program in one directory that
// started in the same minute, and not those in directories that are too long for a row.
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
	b := openPage(serve(t, auth.RoleViewer, "", all...), "")
	for _, width := range []int64{1280, 360} {
		resize(b, width, 640)
		b.WaitFor(rows + " === 8")
		seen := browser.JS[[]string](b,
			`[...document.querySelectorAll('.sessions a')].map((a) => a.innerText.replace(/\s+/g, ' '))`)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(seen))), 8, "%q", seen)
		list := strings.Join(seen, "\n")
		require.Regexp(t, `bash ~ · since 1 Jan \d\d:\d\d:00 · bash-1 quiet`, list)
		require.Regexp(t, `make /srv/part-o.*….*-path/web`, list)
		require.Empty(t, browser.JS[[]string](b, `[...document.querySelectorAll('.sessions .where')]`+
			`.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)`), "cut off")
	}
}

// A phone's list is where it was left, by either way back.
func TestAPhonesListKeepsItsPlace_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", many(100)...)
	g.change("make-2", never)
	b := openPage(g, "", smallPhone)
	b.WaitFor(rows + " === 100 && " + field)
	for _, back := range []string{`document.querySelector('.session .up').click()`, `history.back()`} {
		b.Eval(`document.querySelector('a[href="#s=make-30"]').scrollIntoView({block: 'center'}),
			window.leftAt = scrollY`)
		require.Greater(t, browser.JS[float64](b, "leftAt"), 1000.0)
		b.Eval(`document.querySelector('a[href="#s=make-30"]').click()`)
		b.WaitFor(`document.activeElement === document.querySelector('.session h2') && scrollY === 0`)
		b.Eval(back)
		b.WaitFor(`Math.abs(scrollY - leftAt) < 2 && document.activeElement.hash === '#s=make-30'`)
	}
}
