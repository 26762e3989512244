package browser_test

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// signedDecision waits for a decision that the page's key has signed for a session.
func signedDecision(g *gateway, s *protocol.SessionInfo) *protocol.ControlDecide {
	g.t.Helper()
	m := next[*protocol.ControlDecide](g)
	require.InDelta(g.t, time.Now().UnixMilli(), m.At, 600_000)
	require.True(g.t, ed25519.Verify(g.key, m.Signed(s.StartedAt), m.SignatureB64))
	return m
}

// The start page shows the session whose agent has waited longest, with its question. The question
// says who asks, where, since when and why, takes the focus from nobody, and shows the rows around
// the cursor; its buttons refuse, give and mute.
func TestAPersonAnswersAQuestion_Client(t *testing.T) {
	t.Parallel()
	newest := session("bash-1", "/home/ada", "bash")
	newest.StartedAt++
	s := asking("codex", "look up the failed order", protocol.LevelDrive)
	s.Keyboard.AskingSince = time.Now().Add(-10 * time.Minute).UnixMilli()
	g := serve(t, auth.RoleOwner, "", vim(), newest, s)
	g.print("psql-1", "\x1b[?1049h\x1b[Hone\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight"+
		"\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\x1b[5;1H")
	b := openPage(g, "")
	b.WaitText(".session h2", "psql orders")
	for range 2 {
		b.WaitPart(".question", "codex asks to drive psql orders")
		b.WaitPart(".question", "“look up the failed order”")
		b.WaitFor(browser.Text(".question .where") + `.match(/~.src.shop · asked 1\d min ago/)`)
		b.RunSteps(reload) // what was decided before is no news
	}
	b.WaitFor(`document.title.startsWith('(1) codex asks')`)
	require.Equal(t, "alertdialog BODY", browser.JS[string](b, `document.querySelector('.question')`+
		`.getAttribute('role') + ' ' + document.activeElement.tagName`))
	require.Empty(t, browser.JS[string](b, `location.hash`))
	visit(b, "s=vim-1")
	b.WaitFor(browser.Text(".question .sheet") + `.trim() === 'two three four five six seven'`)
	g.print("psql-1", "\x1b[H")
	b.WaitFor(browser.Text(".question .sheet") + `.trim() === 'one two three four five six'`)
	b.RunSteps(chromedp.KeyEvent("\x1b"))

	b.Press("Refuse")
	m := next[*protocol.ControlDecide](g)
	require.Equal(t, []any{false, true, "codex"}, []any{m.Grant, m.Refuse, m.AgentName},
		"it takes the keyboard from nobody")
	require.Zero(t, count[*protocol.ControlDecide](g), "Esc refuses nothing")
	g.change("psql-1", never)
	b.WaitAnswered("you refused")
	for _, c := range []struct {
		press      string
		asks, want protocol.Level
		epoch      uint64
		seconds    int64 // that it asks for
		gives      string
	}{
		{"Let it drive 10 min", protocol.LevelDrive, protocol.LevelDrive, 3, 0, "10 min"},
		{"Text only", protocol.LevelDrive, protocol.LevelType, 4, 0, "10 min"},
		{"Let it write 5 min", protocol.LevelType, protocol.LevelType, 4, 300, "5 min"},
	} {
		agent := "ä b " + c.press
		g.change("psql-1", func(s *protocol.SessionInfo) { s.Keyboard.AskingSeconds = c.seconds })
		g.ask("psql-1", agent, "milk", c.asks)
		b.WaitPart(".question:not(.answered)", agent)
		b.Press(c.press)
		m := signedDecision(g, s)
		require.Equal(t, []any{true, c.want, cmp.Or(c.seconds, 600), agent, c.epoch},
			[]any{m.Grant, m.Level, m.Seconds, m.AgentName, m.Epoch})
		g.decided("psql-1", protocol.Decision{AgentName: agent, Granted: true})
		b.WaitAnswered("you gave " + agent + " " + c.gives)
	}

	g.ask("psql-1", "codex", "", protocol.LevelDrive)
	b.WaitPart(".question:not(.answered)", "codex asks")
	b.Press("Mute")
	m = next[*protocol.ControlDecide](g)
	require.Equal(t, []any{false, protocol.MuteOn, "codex"}, []any{m.Grant, m.Mute, m.AgentName})
	g.change("psql-1", func(s *protocol.SessionInfo) {
		never(s)
		s.Muted, s.Keyboard.Epoch = []string{"codex"}, 5
	})
	b.WaitAnswered("you muted codex")
	visit(b, "s=psql-1")
	b.WaitPart(".session .muted", "codex is muted")
	b.Press("Unmute codex")
	m = signedDecision(g, s)
	require.Equal(t, []any{false, protocol.MuteOff, "codex", uint64(5)},
		[]any{m.Grant, m.Mute, m.AgentName, m.Epoch})
	g.change("psql-1", func(s *protocol.SessionInfo) { s.Muted = nil })
	b.WaitFor(`document.querySelector('.session .muted').hidden`)
	b.WaitPart(".log", "codex may ask again")

	// Without a question the page stays with its session; a new one begins with the newest.
	b.RunSteps(chromedp.Navigate(g.url + "/"))
	b.WaitText(".session h2", "bash")
	visit(b, "s=of-another-machine")
	b.WaitFor(browser.Text(".start") +
		`.startsWith('This session is not here') && !document.querySelector('.session')`)
}

// An answer given elsewhere names its author, below the question and in the session. wording.test.js
// has more of the words.
func TestAnAnswerNamesItsAuthor_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", asking("claude", "", protocol.LevelDrive))
	b := openPage(g, "s=psql-1")
	b.WaitFor(`document.querySelector('.question') && document.querySelector('.log')`)
	for i, c := range []struct {
		decided   protocol.Decision
		says, log string
		muted     []string
	}{
		{
			protocol.Decision{Granted: true, By: protocol.ByTerminal},
			"answered at the terminal: claude may type", "claude got the keyboard, given at the terminal",
			nil,
		},
		{
			protocol.Decision{Granted: true, By: ownName(b)},
			"answered by you: claude may type", "claude got the keyboard, given by you",
			nil,
		},
		{
			protocol.Decision{Reason: protocol.ReasonRefused, By: "ada"},
			"refused by ada, and muted", "claude was refused by ada",
			[]string{"claude"},
		},
		{
			protocol.Decision{Reason: protocol.ReasonReleased},
			"claude stopped asking", "claude gave the keyboard back",
			nil,
		},
		{
			protocol.Decision{Reason: protocol.ReasonExpired},
			"no answer came in time", "claude: time over",
			nil,
		},
	} {
		g.ask("psql-1", "claude", fmt.Sprint(i), protocol.LevelDrive)
		b.WaitPart(".question:not(.answered)", fmt.Sprintf("“%d”", i))
		c.decided.AgentName, c.decided.At = "claude", int64(i+1)
		g.mu.Lock()
		g.sessions[0].Muted = c.muted
		g.mu.Unlock()
		g.decided("psql-1", c.decided)
		b.WaitAnswered(c.says)
		b.WaitPart(".log", c.log)
	}
	g.ask("psql-1", "claude", "untold", protocol.LevelDrive)
	b.WaitPart(".question:not(.answered)", "untold")
	g.change("psql-1", func(s *protocol.SessionInfo) { never(s); drive(s) })
	b.WaitAnswered("answered elsewhere: claude may type")

	g.print("psql-1", "orders=#")
	g.ask("psql-1", "codex", "", protocol.LevelDrive)
	b.WaitPart(".question:not(.answered)", "codex asks")
	g.change("psql-1", func(s *protocol.SessionInfo) { s.State, s.ExitCode = protocol.StateExited, 1 })
	b.WaitAnswered("the program has ended")
	b.WaitText(".note", "The program has ended with status 1. This is its last screen.")
	shows(b, "orders=#")
	b.WaitFor(`!document.querySelector('.question')`)
}

// A button that a person is about to press does not change its meaning: a question that changes is
// a new one, and its buttons are dead for a moment, as they are when a question appears.
func TestAButtonKeepsItsMeaning_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", asking("codex", "count the orders", protocol.LevelType))
	b := openPage(g, "")
	b.WaitFor(browser.Button("Let it") + "?.disabled === false")
	// From now on the moment lasts until the test ends it.
	b.Eval(`window.old = ` + browser.Button("Let it") + `, window.arm = [], window.later = setTimeout,
		window.setTimeout = (act, ms) => ms === 300 ? arm.push(act) : later(act, ms)`)
	g.change("psql-1", func(s *protocol.SessionInfo) {
		s.Keyboard.AskingReason, s.Keyboard.Epoch = "drop the orders", 5
		s.Keyboard.AskingLevel = protocol.LevelDrive
	})
	b.WaitAnswered("asked anew")
	b.WaitPart(".question:not(.answered)", "drop the orders")
	b.Eval("old.click()")
	const dead = `[...document.querySelectorAll('.question:not(.answered) button')].every((b) => b.disabled)`
	require.True(t, b.Is(dead))
	b.Eval(`arm.forEach((act) => act()), window.setTimeout = later`)
	require.False(t, b.Is(dead))
	b.Press("Text only")
	m := next[*protocol.ControlDecide](g)
	require.Equal(t, []any{uint64(5), protocol.LevelType}, []any{m.Epoch, m.Level})
	require.Zero(t, count[*protocol.ControlDecide](g), "the old button does nothing")
}

// A person takes the keyboard back, also by a second connection if what is sent on the first one is
// lost. A page may hear that the screen is hidden before it hears of the epoch that this made.
func TestAPersonTakesBackAndShows_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	b := openPage(g, "")
	hidden := func(s *protocol.SessionInfo) { s.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser} }
	g.print("vim-1", "one")
	shows(b, "one")
	g.print("vim-1", "\r\nthe word is swordfish")
	b.WaitPart(".session [role=log]", "swordfish")
	g.change("vim-1", hidden)
	g.print("vim-1", "!")
	b.WaitFor(`!document.documentElement.outerHTML.includes('swordfish')`)
	g.setEpoch(4)
	b.Press("Show")
	require.Equal(t, uint64(3), next[*protocol.ControlDecide](g).Epoch)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Keyboard.Epoch = 4 })
	m := signedDecision(g, vim())
	require.Equal(t, []any{uint64(4), protocol.HideOff}, []any{m.Epoch, m.Hide})
	g.setEpoch(6)
	b.Press("Show")
	next[*protocol.ControlDecide](g)
	g.change("vim-1", func(s *protocol.SessionInfo) { drive(s); s.Keyboard.Epoch = 6 })
	b.WaitPart(".log", "Not shown: look again")
	require.Zero(t, count[*protocol.ControlDecide](g), "an agent has the keyboard now")

	b.WaitFor(`document.querySelector('.take.green')`)
	b.Press("Take back")
	m = next[*protocol.ControlDecide](g)
	require.Equal(t, []any{false, "vim-1"}, []any{m.Grant, m.SessionID})
	b.WaitPart(".log", "Taken back")
	g.freezeLinks()
	b.Press("Take back")
	require.False(t, next[*protocol.ControlDecide](g).Grant)
}

// From the list to the answer, the keyboard and a message, without a mouse.
func TestThePageByKeyboardAlone_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "count", protocol.LevelDrive))
	b := openPage(g, "")
	b.WaitFor(browser.Button("Let it") + "?.disabled === false")
	press := func(key string) { b.RunSteps(chromedp.KeyEvent(key)) }
	tabTo := func(says string) {
		t.Helper()
		b.TabTo(`document.activeElement.textContent.startsWith('` + says + `')`)
	}
	tabTo("Let it drive 10 min")
	require.Equal(t, "solid", browser.JS[string](b, `getComputedStyle(document.activeElement).outlineStyle`))
	press("\r")
	require.True(t, next[*protocol.ControlDecide](g).Grant)
	g.decided("psql-1", protocol.Decision{Granted: true})
	b.WaitFor(`!document.querySelector('.question')`)
	tabTo("vim main.go")
	press("\r")
	b.WaitFor(`document.activeElement.tagName === 'H2'`)
	tabTo("Take back")
	press("\r")
	require.False(t, next[*protocol.ControlDecide](g).Grant)
	tabTo("Hide")
	press("\r")
	require.Equal(t, protocol.HideOn, next[*protocol.ControlDecide](g).Hide)
	b.TabTo(`document.activeElement.matches('.session > form input')`)
	b.RunSteps(browser.Keys("run the tests\r"))
	require.Equal(t, "run the tests", next[*protocol.Note](g).Text)
	b.WaitPart(".log", "you run the tests")
}
