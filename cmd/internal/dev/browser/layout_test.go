package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// place of the screen's letters: their size, and where the first row stands.
const letters = `(() => { const s = document.querySelector('.session .sheet').getBoundingClientRect();
	return [getComputedStyle(document.querySelector('.session .screen')).fontSize, s.left, s.top, s.width, s.height].join(' '); })()`

// A question, its answer, an agent that drives, and what the log says leave the screen where it is.
func TestNothingMovesTheScreen_Client(t *testing.T) {
	t.Parallel()
	for name, view := range map[string][]chromedp.Action[chromedp.Void]{
		"desktop": nil,
		"upright": {chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)},
		"on side": {chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile, chromedp.EmulateTouch)},
	} {
		t.Run(name, func(t *testing.T) {
			s := session("sh-1", "/home/ada", "sh")
			s.Cols = 44 // fits the width of a phone
			g := serve(t, auth.RoleOwner, "", s)
			g.print("sh-1", "$ make")
			b := openPage(g, view...)
			browser.JS[bool](b, `location.hash = 's=sh-1', true`)
			shows(b, "$ make")
			before := browser.JS[string](b, letters)
			g.change("sh-1", func(s *protocol.SessionInfo) {
				s.Keyboard.Asking, s.Keyboard.AskingLevel, s.Keyboard.AskingReason = "codex", protocol.LevelDrive, "to test"
			})
			b.WaitFor(browser.Button("Refuse") + "?.disabled === false")
			require.Equal(t, before, browser.JS[string](b, letters), "while an agent asks")
			b.Press("Later")
			b.WaitFor(browser.Button("Answer") + "?.disabled === false")
			require.Equal(t, before, browser.JS[string](b, letters), "while the question is put off")
			g.change("sh-1", func(s *protocol.SessionInfo) {
				never(s)
				drive(s)
				s.Decided = &protocol.Decision{AgentName: "codex", Granted: true, By: "ada", At: 2}
			})
			b.WaitFor(browser.Text(".log") + ".includes('codex got the keyboard, given by ada') && !document.querySelector('.question')")
			require.Equal(t, before, browser.JS[string](b, letters), "while an agent drives")
		})
	}
}

// newestIsSeen is a script that reports whether all of the log's last line is in view, and its end.
const newestIsSeen = `(() => {
	const line = document.querySelector('.log li:last-child'), box = document.querySelector('.messages > :last-child');
	const [l, b, text] = [line, box, line.lastElementChild].map((e) => e.getBoundingClientRect());
	return b.height > 0 && l.top >= b.top - 1 && l.bottom <= b.bottom + 1 && text.right <= b.right + 1;
})()`

// The log shows its newest line after the window is resized, and after a look at another session.
func TestTheLogShowsItsNewestLine_Client(t *testing.T) {
	t.Parallel()
	for name, only := range map[string]string{"in a list": "", "alone": "vim-1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := serve(t, auth.RoleOwner, only, vim(), session("bash-1", "/home/ada", "bash"))
			b := openPage(g)
			browser.JS[bool](b, `location.hash = 's=vim-1', true`)
			b.WaitFor(browser.Text(".session h2") + " === 'vim main.go'")
			for i := range 12 {
				agent := fmt.Sprintf("an-agent-with-a-long-name-%d", i)
				g.change("vim-1", func(s *protocol.SessionInfo) {
					s.Decided = &protocol.Decision{AgentName: agent, Granted: true, By: "ada", At: int64(i + 1)}
				})
				b.WaitFor(browser.Text(".log li:last-child") + ".includes('" + agent + " got')")
			}
			b.WaitFor(newestIsSeen)
			for _, size := range [][2]int64{{1280, 500}, {390, 844}, {360, 640}, {1280, 800}, {800, 600}} {
				b.RunSteps(chromedp.EmulateViewport(size[0], size[1]))
				b.WaitFor("innerWidth === " + fmt.Sprint(size[0]) + " && " + newestIsSeen)
			}
			if only != "" {
				return
			}
			browser.JS[bool](b, `location.hash = 's=bash-1', true`)
			b.WaitFor(browser.Text(".session h2") + " === 'bash'")
			browser.JS[bool](b, `location.hash = 's=vim-1', true`)
			b.WaitFor(browser.Text(".session h2") + " === 'vim main.go' && " + newestIsSeen)
		})
	}
}

// An 80x24 program has most of a desk's window.
func TestLettersGrow_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	g.print("vim-1", "one")
	b := openPage(g)
	shows(b, "one")
	require.Greater(t, browser.JS[float64](b, `document.querySelector('.session .sheet').offsetWidth / document.querySelector('.session').clientWidth`), 0.9)
	b.RunSteps(chromedp.EmulateViewport(2400, 1400))
	b.WaitFor(`getComputedStyle(document.querySelector('.session .screen')).fontSize === '20px'`)
}

// The start page shows the session whose agent waits, or else the newest, and stays with it.
func TestTheStartPageShowsASession_Client(t *testing.T) {
	t.Parallel()
	newest, other := session("bash-1", "/home/ada", "bash"), vim()
	newest.StartedAt++
	g := serve(t, auth.RoleOwner, "", other, newest, asking("codex", "", protocol.LevelDrive))
	b := openPage(g)
	b.WaitFor(browser.Text(".session h2") + ` === 'psql orders'`)
	require.Equal(t, "BODY", browser.JS[string](b, `document.activeElement.tagName`), "it takes the focus from nobody")
	require.Empty(t, browser.JS[string](b, `location.hash`))
	g.change("psql-1", never)
	b.WaitFor(`!document.querySelector('.question')`)
	require.Equal(t, "psql orders", browser.JS[string](b, browser.Text(".session h2")))
	browser.JS[bool](b, `document.querySelector('a[href="#s=psql-1"]').click(), true`)
	b.WaitFor(`document.activeElement.tagName === 'H2'`)
	b.RunSteps(chromedp.Navigate(g.url + "/"))
	b.WaitFor(browser.Text(".session h2") + ` === 'bash'`)
	browser.JS[bool](b, `location.hash = 's=of-another-machine', true`)
	b.WaitFor(browser.Text(".start") + `.startsWith('This session is not here') && !document.querySelector('.session')`)
}

// A look at another session loses neither the line that a person began nor how the screen fits.
func TestADraftStays_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Cols = 120
	g := serve(t, auth.RoleOwner, "", s, claude())
	b := openPage(g, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	visit := func(id, title string) {
		browser.JS[bool](b, `location.hash = 's=`+id+`', true`)
		b.WaitFor(browser.Text(".session h2") + ` === '` + title + `'`)
	}
	visit("vim-1", "vim main.go")
	browser.JS[bool](b, `document.querySelector('.session > form input').value = 'run the', true`)
	b.Press("Fit to width")
	visit("claude-1", "claude")
	b.Press("Chat")
	browser.JS[bool](b, `document.querySelector('.prompt textarea').value = 'and then', true`)
	visit("vim-1", "vim main.go")
	require.Equal(t, "run the", browser.JS[string](b, `document.querySelector('.session > form input').value`))
	b.WaitFor(browser.Button("Larger, follow the cursor"))
	visit("claude-1", "claude")
	b.WaitFor(`document.querySelector('.prompt textarea')?.value === 'and then'`)
}

// A page has one line to write into. The conversation's takes the place of the other.
func TestOneLineToWriteInto_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	lines := `[...document.querySelectorAll('form')].filter((f) => f.checkVisibility()).length`
	require.Equal(t, 1.0, browser.JS[float64](b, lines))
	b.Press("Chat")
	b.WaitFor(`!document.querySelector('.drawer')`)
	require.Equal(t, 1.0, browser.JS[float64](b, lines))
	require.True(t, browser.JS[bool](b, `document.querySelector('.session > form').checkVisibility()`))
}

// The buttons of a card are in view, however long what it asks is.
func TestTheButtonsOfACardStayInView_Client(t *testing.T) {
	t.Parallel()
	for name, view := range map[string][]chromedp.Action[chromedp.Void]{
		"desktop": nil,
		"upright": {chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)},
		"on side": {chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile, chromedp.EmulateTouch)},
	} {
		t.Run(name, func(t *testing.T) {
			g := serve(t, auth.RoleOwner, "", claude())
			g.addRecords("claude-1", questions("toolu_1"), state(protocol.ChatAsks))
			b := openPage(g, view...)
			browser.JS[bool](b, `location.hash = 's=claude-1', true`)
			b.WaitFor(`document.querySelector('.card')`)
			if name != "desktop" {
				b.Press("Chat")
			}
			b.WaitFor(`document.querySelector('.drawer .card') && ` + pressable)
			b.WaitFor(`[...document.querySelectorAll('.card .buttons button')].every((e) => {
				const r = e.getBoundingClientRect();
				return document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) === e;
			})`)
		})
	}
}

// Of a session that is hidden the page keeps nothing, neither rows nor what a screen reader was told.
func TestAHiddenSessionLeavesNothing_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	b := openPage(g)
	g.print("vim-1", "one")
	shows(b, "one")
	g.print("vim-1", "\r\nthe word is swordfish")
	b.WaitFor(`document.querySelector('.session [role=log]').textContent.includes('swordfish')`)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser} })
	g.print("vim-1", "!")
	b.WaitFor(`!document.documentElement.outerHTML.includes('swordfish')`)
}

// Ended sessions stay put away, also after the page is loaded again. Others come.
func TestEndedSessionsArePutAway_Client(t *testing.T) {
	t.Parallel()
	ended, later := session("npm-1", "/home/ada", "npm"), session("go-1", "/home/ada", "go")
	ended.State = protocol.StateExited
	g := serve(t, auth.RoleViewer, "", vim(), ended, later)
	b := openPage(g)
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 3`)
	b.Press("Put away 1 ended")
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 2`)
	b.RunSteps(chromedp.Reload())
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 2`)
	g.change("go-1", func(s *protocol.SessionInfo) { s.State = protocol.StateExited })
	b.WaitFor(browser.Button("Put away 1 ended") + ` && document.querySelectorAll('.sessions li').length === 2`)
}

// A recording that ended is listed so at once, and not only with the next look at the list.
func TestARecordingEndsInTheList_Client(t *testing.T) {
	t.Parallel()
	s := &shelf{running: true}
	g := serveOn(t, nil, auth.RoleOwner, "", withRecords(s), vim())
	b := openPage(g, command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{ const every = setInterval; window.setInterval = (act, ms) => ms < 15000 ? every(act, ms) : 0; }`,
	}))
	b.WaitFor(browser.Text(".records .tag") + ` === 'recording'`)
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
	g.change("vim-1", func(s *protocol.SessionInfo) { s.State = protocol.StateExited })
	b.WaitFor(browser.Text(".records .tag") + ` === '60 s'`)
}

// The page names its own decisions "you", and those of another page by its name.
func TestThePageCallsItselfYou_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	b := openPage(g)
	b.WaitFor(browser.Button("Take back"))
	id := browser.JS[string](b, `new Promise((done) => {
		const open = indexedDB.open('terminal-page', 1);
		open.onsuccess = () => {
			const all = open.result.transaction('pages').objectStore('pages').getAll();
			all.onsuccess = () => done(all.result[0].page);
		};
	})`)
	for i, c := range [][2]string{{"page-" + strings.TrimPrefix(id, "p-")[:4], "given by you"}, {"page-2222", "given by page-2222"}} {
		g.change("vim-1", func(s *protocol.SessionInfo) {
			s.Decided = &protocol.Decision{AgentName: "claude", Granted: true, By: c[0], At: int64(i + 1)}
		})
		b.WaitFor(browser.Text(".log") + ".includes('" + c[1] + "')")
	}
}

// A screen reader hears a question, who got the keyboard, and what the agent typed.
func TestAScreenReaderHearsWhoTypes_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	b := openPage(g)
	b.WaitFor(`document.querySelector('.session')`)
	g.change("vim-1", func(s *protocol.SessionInfo) {
		s.Keyboard.Asking, s.Keyboard.AskingLevel = "claude", protocol.LevelType
	})
	b.WaitFor(browser.Text("#said") + ` === 'claude asks to write a line in vim main.go'`)
	g.change("vim-1", func(s *protocol.SessionInfo) {
		never(s)
		drive(s)
		s.Decided = &protocol.Decision{AgentName: "claude", Granted: true, By: "ada", At: 2}
	})
	b.WaitFor(browser.Text("#said") + ` === 'claude got the keyboard, given by ada'`)
	g.mu.Lock()
	g.typing = &protocol.AgentTyped{AgentName: "claude", Text: `"make"`, Count: 1}
	g.mu.Unlock()
	g.print("vim-1", "make")
	b.WaitFor(`[...document.querySelectorAll('[role=status]')].some((e) => e.checkVisibility() && e.textContent === 'claude typed "make"')`)
}

// The question of a session that ends says so, and leaves.
func TestASessionEndsWhileAnAgentAsks_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", asking("codex", "", protocol.LevelDrive))
	g.print("psql-1", "orders=#")
	b := asked(place{t: t}, openPage(g))
	g.change("psql-1", func(s *protocol.SessionInfo) { s.State, s.ExitCode = protocol.StateExited, 1 })
	b.WaitFor(browser.AnsweredScript("the program has ended"))
	b.WaitFor(`!document.querySelector('.question')`)
	require.Equal(t, "The program has ended with status 1. This is its last screen.", browser.JS[string](b, browser.Text(".note")))
	shows(b, "orders=#")
}

// Blocks fill their cells to the edge, and no character is cut.
func TestBlocksAndWideCharacters_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	g.print("vim-1", "a\u2588\u2588\u2580\u2597b\r\n\ufb03|\u2a0c|\u2a75|\u2a76|\U0001d54e|\U0001f16f|\u2aa6|end")
	b := openPage(g)
	shows(b, "end")
	require.Equal(t, []string{"2 100%", "1 50%", "1 50%"}, browser.JS[[]string](b, `[...document.querySelectorAll('.session .sheet .row')[0].querySelectorAll('.run')].map((e) =>
		Math.round(e.offsetWidth / parseFloat(getComputedStyle(e).getPropertyValue('--cw'))) + ' ' + e.style.backgroundSize.split(' ').pop())`))
	require.Equal(t, "a██▀▗b", browser.JS[string](b, `document.querySelector('.session .sheet .row').textContent`), "they are copied as text")
	wide := browser.JS[[]float64](b, `[...document.querySelectorAll('.session .sheet .row')[1].querySelectorAll('.one')].map((e) => {
		const range = document.createRange();
		range.selectNodeContents(e);
		return range.getBoundingClientRect().width / e.getBoundingClientRect().width;
	})`)
	require.NotEmpty(t, wide)
	for _, share := range wide {
		require.LessOrEqual(t, share, 1.06)
	}
	t.Log(wide)
	require.NotZero(t, browser.JS[float64](b, `document.querySelectorAll('.session .sheet .one[style*="font-size"]').length`), "some are made smaller")
}
