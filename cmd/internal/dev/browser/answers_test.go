package browser_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A muted agent is shown as muted; unmuting it takes a signature.
func TestThePageMutes_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", asking("codex", "", protocol.LevelDrive))
	b := openPage(g)
	b.Press("Mute")
	m := wait(g, anything[*protocol.ControlDecide])
	require.Equal(t, []any{false, protocol.MuteOn, "codex"}, []any{m.Grant, m.Mute, m.AgentName})
	g.change("psql-1", func(s *protocol.SessionInfo) {
		never(s)
		s.Muted, s.Keyboard.Epoch = []string{"codex"}, 5
	})
	b.WaitFor(browser.AnsweredScript("you muted codex"))
	b.WaitFor(browser.Text(".sessions") + ".includes('~/src/shop · codex muted')")
	browser.JS[bool](b, `location.hash = 's=psql-1', true`)
	b.WaitFor(browser.Text(".session .muted") + ".includes('codex is muted')")
	b.Press("Unmute codex")
	m = wait(g, anything[*protocol.ControlDecide])
	require.Equal(t, []any{false, protocol.MuteOff, "codex", uint64(5)}, []any{m.Grant, m.Mute, m.AgentName, m.Epoch})
	require.True(t, ed25519.Verify(g.key, m.Signed(g.sessions[0].StartedAt), m.SignatureB64), "signed by the page's key")
	g.change("psql-1", func(s *protocol.SessionInfo) { s.Muted = nil })
	b.WaitFor(`document.querySelector('.session .muted').hidden`)
	b.WaitFor(browser.Text(".log") + ".includes('codex may ask again')")
}

// The viewer has no button.
func TestAViewerSeesMutedAgents_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Muted = []string{"codex"}
	g := serve(t, auth.RoleViewer, "vim-1", s)
	b := openPage(g)
	b.WaitFor(browser.Text(".session .muted") + ".includes('codex is muted')")
	require.Equal(t, "undefined", browser.JS[string](b, "typeof "+browser.Button("Unmute")))
}

// An answer given elsewhere names its author, below the question and in the session.
func TestAnAnswerNamesItsAuthor_Client(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decided protocol.Decision
		change  func(s *protocol.SessionInfo)
		says    string
		log     string
	}{
		"an owner gives": {
			protocol.Decision{Granted: true, By: "ada"},
			drive,
			"answered by ada: claude may type", "claude got the keyboard, given by ada",
		},
		"the desk gives": {
			protocol.Decision{Granted: true, By: protocol.ByTerminal},
			drive,
			"answered at the terminal: claude may type", "claude got the keyboard, given at the terminal",
		},
		"the desk refuses": {
			protocol.Decision{Reason: protocol.ReasonRefused, By: protocol.ByTerminal},
			func(*protocol.SessionInfo) {},
			"refused at the terminal", "claude was refused at the terminal",
		},
		"an owner mutes": {
			protocol.Decision{Reason: protocol.ReasonRefused, By: "ada"},
			func(s *protocol.SessionInfo) { s.Muted = []string{"claude"} },
			"refused by ada, and muted", "claude was refused by ada",
		},
		"it asks no more": {
			protocol.Decision{Reason: protocol.ReasonReleased},
			func(*protocol.SessionInfo) {},
			"claude stopped asking", "claude gave the keyboard back",
		},
		"nobody answers": {
			protocol.Decision{Reason: protocol.ReasonExpired},
			func(*protocol.SessionInfo) {},
			"no answer came in time", "claude: time over",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := asking("claude", "", protocol.LevelDrive)
			s.Decided = &protocol.Decision{AgentName: "claude", Reason: protocol.ReasonExpired, At: 1} // of an earlier question
			g := serve(t, auth.RoleOwner, "", s)
			b := openPage(g)
			browser.JS[bool](b, `location.hash = 's=psql-1', true`)
			b.WaitFor(`document.querySelector('.question') && document.querySelector('.log')`)
			require.Empty(t, browser.JS[string](b, browser.Text(".log")), "what was decided before is no news")
			c.decided.AgentName, c.decided.At = "claude", time.Now().UnixMilli()
			g.change("psql-1", func(s *protocol.SessionInfo) {
				never(s)
				c.change(s)
				s.Decided = &c.decided
			})
			b.WaitFor(browser.AnsweredScript(c.says))
			b.WaitFor(browser.Text(".log") + ".includes('" + c.log + "')")
		})
	}
}

// The time is right, also on a page that was reloaded.
func TestSinceWhenAnAgentAsks_Client(t *testing.T) {
	t.Parallel()
	s := asking("codex", "", protocol.LevelDrive)
	s.Keyboard.AskingSince = time.Now().Add(-10 * time.Minute).UnixMilli()
	g := serve(t, auth.RoleOwner, "", s)
	b := openPage(g)
	b.WaitFor(browser.Text(".question .where") + ".match(/~.src.shop · asked 1\\d min ago/)")
	b.RunSteps(chromedp.Reload())
	b.WaitFor(`document.querySelector('.question .where') && ` + browser.Text(".question .where") + ".match(/asked 1\\d min ago/)")
}

// The line is text, and turns nothing around it.
func TestTheListShowsTheLastLine_Client(t *testing.T) {
	t.Parallel()
	s := session("make-1", "/home/ada", "make")
	s.LastLine = "<b>ok</b>  shop/orders\u202e 0.3s"
	driven := vim()
	drive(driven)
	driven.IdleMs = 12 * 60_000
	g := serve(t, auth.RoleViewer, "", s, driven)
	b := openPage(g)
	b.WaitFor(`[...document.querySelectorAll('.sessions code')].some((e) => e.textContent === '<b>ok</b>  shop/orders\ufffd 0.3s')`)
	require.Regexp(t, `~/src/shop · quiet 1\d min claude drives \d+ min left`, browser.JS[string](b, browser.Text(".sessions")))
	g.change("make-1", func(s *protocol.SessionInfo) { s.LastLine = "FAIL" })
	b.WaitFor(`[...document.querySelectorAll('.sessions code')].some((e) => e.textContent === 'FAIL')`)
}
