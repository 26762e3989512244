package browser_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// beside opens an owner's page that shows the conversation.
func beside(g *gateway, steps ...chromedp.Action[chromedp.Void]) *browser.Tab {
	g.t.Helper()
	b := openPage(g, "s=claude-1", steps...)
	b.WaitFor(`document.querySelector('.drawer .talk')`)
	return b
}

// hide hides the page, or shows it again, as another tab does.
func hide(b *browser.Tab, hidden bool) {
	b.T.Helper()
	b.Eval(fmt.Sprintf(`Object.defineProperty(document, 'hidden', {value: %v, configurable: true}),
		document.dispatchEvent(new Event('visibilitychange'))`, hidden))
}

// A viewer reads what was said, with folded tools, and what the agent asks. Nothing is there that
// a viewer may not use.
func TestAViewerReadsAConversation_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "claude-1", claude())
	aConversation(g)
	g.addRecords("claude-1", approval("t3", "ls"), questions("t4"), state(protocol.ChatApproval))
	b := openPage(g, "")
	b.WaitPart(".said", "trying again")
	require.Contains(t, browser.JS[string](b, browser.Text(".said-user")), "ada")
	require.Equal(t, `list := []string{"bread", "apples"}`,
		browser.JS[string](b, `document.querySelector('.said-text pre.code').textContent`))
	require.Contains(t, browser.JS[string](b, browser.Text(".said")), "Bash failed main.go:8:2")
	require.False(t, b.Is(`document.querySelector('.call').open`))
	b.Eval(`document.querySelector('.call summary').click()`)
	b.WaitPart(".call[open]", `new_string "bread", "apples"`)
	b.WaitFor(`document.querySelectorAll('.drawer .card').length === 2`)
	b.WaitPart(".card", "A person who may decide must answer this.")
	require.Empty(t, browser.JS[[]string](b, `[...document.querySelectorAll('.card button, .prompt, '+
		'.card input:not(:disabled), .drawer .interrupt')].filter((e) => e.checkVisibility())
		.map((e) => e.outerHTML)`))
}

// A person writes lines, sees an answer while it is written, and interrupts. What could not be sent
// stays. The page has one line to write into: that of the conversation, while it is shown.
func TestAPersonTalksToAnAgent_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	const line = `document.querySelector('.prompt textarea')`
	b.WaitFor(line + `?.disabled === false`)
	require.True(t, b.Is(`document.querySelector('.interrupt').hidden`), "no turn runs")
	b.Eval(line + `.focus()`)
	b.RunSteps(browser.Keys("two ä"), browser.Keys("\r", chromedp.ModifierShift), browser.Keys("lines\r"))
	m := next[*protocol.ChatSend](g)
	require.Equal(t, "two ä\nlines", m.Text)
	require.True(t, ed25519.Verify(g.key, m.Signed(claude().StartedAt), m.SignatureB64))
	b.WaitFor(line + `.value === ''`)
	b.RunSteps(browser.Keys("again\r"))
	require.Greater(t, next[*protocol.ChatSend](g).KeyNo, m.KeyNo)
	b.WaitFor(line + `.value === ''`)

	g.refuseChat(&protocol.Error{Code: protocol.CodeUnavailable, Message: "the agent has gone"})
	b.RunSteps(browser.Keys("lost\r"))
	b.WaitText(".drawer .hint.bad", "Not sent: the agent has gone")
	require.Equal(t, "lost", browser.JS[string](b, line+`.value`))
	next[*protocol.ChatSend](g)
	g.refuseChat(nil)
	send := func(text string) {
		b.Eval(line + `.value = ` + text)
		b.WaitFor(`((b) => !b.disabled && (b.click(), true))(document.querySelector('.prompt .go'))`)
	}
	send(`'ä'.repeat(25 << 10)`)
	b.WaitPart(".drawer .hint.bad", "the most is 49,152")
	send(`'\u4e16'.repeat(16 << 10)`)
	require.Len(t, next[*protocol.ChatSend](g).Text, 48<<10, "and not the one before")

	piece := func(text string) protocol.ChatRecord {
		return protocol.ChatRecord{Piece: &protocol.ChatPiece{ID: "m1", Text: text}}
	}
	g.addRecords("claude-1", state(protocol.ChatWorking), piece("I look"))
	b.WaitText(".said-text.writing", "I look")
	g.addRecords("claude-1", piece(" at it:\n```\nco"), piece("de"))
	b.WaitText(".writing .words-of > div", "I look at it:")
	b.WaitText(".writing pre", "code")
	whole := said(protocol.ChatText, "Claude Code", "I looked.")
	whole.Item.ID = "m1"
	g.addRecords("claude-1", whole)
	b.WaitText(".said-text:not(.writing)", "I looked.")
	b.WaitFor(`document.querySelectorAll('.said li').length === 1`)
	b.Press("Interrupt")
	require.Equal(t, "claude-1", next[*protocol.ChatInterrupt](g).SessionID)
	g.addRecords("claude-1", protocol.ChatRecord{Turn: &protocol.ChatTurn{Outcome: "interrupted"}},
		state(protocol.ChatAtPrompt))
	b.WaitPart(".said", "The turn was interrupted.")
	b.WaitFor(`document.querySelector('.interrupt').hidden`)
	b.WaitFor(`document.querySelector('#said').textContent === 'I looked.'`)

	lines := `[...document.querySelectorAll('form')].filter((f) => f.checkVisibility()).length`
	require.Equal(t, 1, browser.JS[int](b, lines))
	b.Press("Chat")
	b.WaitFor(`!document.querySelector('.drawer')`)
	require.Equal(t, 1, browser.JS[int](b, lines))
	require.True(t, b.Is(`document.querySelector('.session > form').checkVisibility()`))
	next[*protocol.ChatUnsubscribe](g)
	b.Press("Chat")
	g.addRecords("claude-1",
		protocol.ChatRecord{Turn: &protocol.ChatTurn{Outcome: "failed", Why: "no credit"}},
		protocol.ChatRecord{State: protocol.ChatEnded, Why: "it was killed"})
	b.WaitPart(".said", "The turn failed: no credit The agent has ended: it was killed")
	b.WaitText(".drawer header", "Claude Code ended: it was killed")
	b.WaitFor(line + `.disabled`)
}

// The conversation continues where it was when a connection was lost, and says what is no longer
// kept.
func TestTheConversationGoesOn_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	aConversation(g)
	b := beside(g)
	b.WaitPart(".said", "trying again")
	require.Zero(t, next[*protocol.ChatSubscribe](g).After)
	g.endLinks(true)
	b.WaitFor(`document.querySelector('.stale')`)
	for i := range 5 {
		g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", fmt.Sprintf("line %d", i)))
	}
	g.dropRecords("claude-1", 12)
	g.endLinks(false)
	require.Equal(t, uint64(10), next[*protocol.ChatSubscribe](g).After)
	b.WaitPart(".said", "trying again in 2 s 2 entries are no longer kept. line 2 line 3 line 4")
	require.Equal(t, 1, browser.JS[int](b, `document.querySelectorAll('.said-user').length`))

	hide(b, true)
	next[*protocol.ChatUnsubscribe](g)
	g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", "while hidden"))
	hide(b, false)
	require.Equal(t, uint64(15), next[*protocol.ChatSubscribe](g).After)
	b.WaitFor(browser.Text(".said") + ".endsWith('line 4 while hidden')")
}

// A long conversation stays a window in the document. A reader who scrolls up gets to its
// beginning, and new items move nothing.
func TestALongConversation_Client(t *testing.T) {
	t.Parallel()
	const all = 9999
	g := serve(t, auth.RoleOwner, "", claude())
	records := make([]protocol.ChatRecord, all)
	for i := range records {
		records[i] = said(protocol.ChatText, "Claude Code", fmt.Sprintf("entry %d", i))
	}
	g.addRecords("claude-1", records...)
	b := beside(g)
	const last = ".said li:last-child"
	b.WaitText(last, "entry 9998")
	bounded := func() {
		require.LessOrEqual(t, browser.JS[int](b, `document.querySelectorAll('.said li').length`), 240)
	}
	bounded()
	b.WaitFor(`document.querySelector('.talk').scrollTop > 0`)
	b.Eval(`document.querySelector('.talk').scrollTop = 0`)
	b.WaitText(".said li", "entry 9679")
	require.True(t, b.Is(`document.querySelector('.talk').scrollTop > 0`), "what was in view stays there")
	b.Eval(`document.querySelector('.talk').focus()`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitText(".said li", "entry 0")
	bounded()
	more := func(n string) {
		b.WaitFor(browser.Button("Back to now") + `?.textContent === 'Back to now: ` + n + ` more'`)
	}
	more("9,759")
	b.Eval(`document.querySelector('.talk').scrollTop = 100`)
	const ninth = `document.querySelector('.said li:nth-child(9)').getBoundingClientRect().top`
	top := browser.JS[float64](b, ninth)
	g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", "the newest"))
	more("9,760")
	require.InDelta(t, top, browser.JS[float64](b, ninth), 1)
	b.Press("Back to now")
	b.WaitText(last, "the newest")
	b.WaitFor(`((e) => e.scrollHeight - e.clientHeight - e.scrollTop < 2)(document.querySelector('.talk'))`)
	bounded()
}

// Hostile words are text, turn nothing around them, and take only their own room.
func TestHostileWordsInAConversation_Client(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror="faults.push(1)"><script>faults.push(2)</script>`
	g := serve(t, auth.RoleOwner, "", claude())
	g.change("claude-1", func(s *protocol.SessionInfo) {
		s.Chat = &protocol.ChatState{Agent: evil + "\u202e", State: "<b>new</b>", Why: evil}
	})
	g.addRecords("claude-1",
		said(protocol.ChatUser, evil+"\u202e", evil+"\n```\n"+evil),
		said(protocol.ChatText, "x", "\u202eright\u2066 to left\u200b \U0001F469\u200d\U0001F4BB\ufe0f "+evil),
		call(g, "t1", evil, map[string]string{evil: evil}), result("t1", evil, true),
		protocol.ChatRecord{Item: &protocol.ChatItem{Kind: "<b>kind</b>", Author: "x", Text: evil, Cut: 12}},
		protocol.ChatRecord{Item: &protocol.ChatItem{Kind: "constructor", Author: "x", Text: "proto"}},
		said(protocol.ChatText, "x", "begin "+strings.Repeat("y", 1<<18)+" end"))
	b := beside(g)
	b.WaitFor(browser.Button("Show all 262,154 characters"))
	b.Eval(`document.querySelectorAll('.said details').forEach((d) => d.open = true)`)
	text := browser.JS[string](b, `document.querySelector('.said').textContent`)
	for _, want := range []string{
		evil, `\u{202e}right\u{2066} to left\u{200b} `, "\U0001F469\u200d\U0001F4BB\ufe0f ",
		"something of the kind <b>kind</b>", "proto",
	} {
		require.Contains(t, text, want)
	}
	require.False(t, b.Is(`document.querySelector('.drawer img, .drawer script, .drawer b')`))
	b.Press("Show all 262,154")
	b.WaitFor(`document.querySelector('.said li:last-child').textContent.includes(' end')`)
	require.True(t, b.Is(`((e) => e.scrollWidth <= e.clientWidth)(document.querySelector('.talk'))`))
}
