package browser_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

func TestThePageShowsAConversation_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", claude(), vim())
	aConversation(g)
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=claude-1', true`)
	b.WaitFor(browser.Text(".said") + ".includes('trying again')")
	require.Equal(t, "Claude Code working", browser.JS[string](b, browser.Text(".drawer header .name")))
	require.Contains(t, browser.JS[string](b, browser.Text(".said-user")), "ada")
	require.Equal(t, `list := []string{"bread", "apples"}`, browser.JS[string](b, `document.querySelector('.said-text pre.code').textContent`))
	require.Contains(t, browser.JS[string](b, browser.Text(".said")), "Bash failed main.go:8:2")
	require.False(t, browser.JS[bool](b, `document.querySelector('.call').open`), "tools are folded")
	browser.JS[bool](b, `document.querySelector('.call summary').click(), true`)
	b.WaitFor(browser.Text(".call[open]") + `.includes('new_string "bread", "apples"')`)
	require.Equal(t, 0.0, browser.JS[float64](b, `document.querySelectorAll('.drawer form, .drawer .interrupt:not([hidden])').length`), "a viewer sees nothing that it may not use")
}

// quote returns a JavaScript string.
func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// A text is visible while it is written, and the whole text replaces it.
func TestTextStreams_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	piece := func(text string) protocol.ChatRecord {
		return protocol.ChatRecord{Piece: &protocol.ChatPiece{ID: "m1", Text: text}}
	}
	g.addRecords("claude-1", state(protocol.ChatWorking), piece("I look"))
	b.WaitFor(browser.Text(".said-text.writing") + ` === 'I look'`)
	g.addRecords("claude-1", piece(" at it:\n```\nco"), piece("de"))
	b.WaitFor(browser.Text(".writing .words-of > div") + ` === 'I look at it:' && ` + browser.Text(".writing pre") + ` === 'code'`)
	whole := said(protocol.ChatText, "Claude Code", "I looked.")
	whole.Item.ID = "m1"
	g.addRecords("claude-1", whole, state(protocol.ChatAtPrompt))
	b.WaitFor(browser.Text(".said-text:not(.writing)") + ` === 'I looked.' && document.querySelectorAll('.said li').length === 1`)
	b.WaitFor(`document.querySelector('#said').textContent === 'I looked.'`)
	g.addRecords("claude-1", protocol.ChatRecord{Turn: &protocol.ChatTurn{Outcome: "failed", Why: "no credit"}},
		protocol.ChatRecord{State: protocol.ChatEnded, Why: "it was killed"})
	b.WaitFor(browser.Text(".said") + `.includes('The turn failed: no credit The agent has ended: it was killed')`)
	b.WaitFor(browser.Text(".drawer header") + ` === 'Claude Code ended: it was killed' && document.querySelector('.prompt textarea').disabled`)
}

func TestThePageWritesToTheAgent_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	b.WaitFor(`document.querySelector('.prompt textarea')?.disabled === false`)
	browser.JS[bool](b, `document.querySelector('.prompt textarea').focus(), true`)
	b.RunSteps(browser.Keys("two ä"), browser.Keys("\r", chromedp.ModifierShift), browser.Keys("lines\r"))
	m := wait(g, anything[*protocol.ChatSend])
	require.Equal(t, "two ä\nlines", m.Text)
	require.True(t, ed25519.Verify(g.key, m.Signed(claude().StartedAt), m.SignatureB64), "signed by the page's key")
	b.WaitFor(`document.querySelector('.prompt textarea').value === ''`)

	b.RunSteps(browser.Keys("again\r"))
	next := wait(g, anything[*protocol.ChatSend])
	require.Greater(t, next.KeyNo, m.KeyNo)
	b.WaitFor(`document.querySelector('.prompt textarea').value === ''`)

	g.refuseChat(&protocol.Error{Code: protocol.CodeUnavailable, Message: "the agent has gone"})
	b.RunSteps(browser.Keys("lost\r"))
	b.WaitFor(browser.Text(".drawer .hint.bad") + ` === 'Not sent: the agent has gone'`)
	require.Equal(t, "lost", browser.JS[string](b, `document.querySelector('.prompt textarea').value`), "what was written stays")

	wait(g, anything[*protocol.ChatSend])
	browser.JS[bool](b, `document.querySelector('.prompt textarea').value = 'ä'.repeat(25 << 10), true`)
	b.WaitFor(`document.querySelector('.prompt .go').disabled === false`)
	browser.JS[bool](b, `document.querySelector('.prompt .go').click(), true`)
	b.WaitFor(browser.Text(".drawer .hint.bad") + `.includes('the most is 49,152')`)
	require.Zero(t, count[*protocol.ChatSend](g))
	browser.JS[bool](b, `document.querySelector('.prompt textarea').value = '\u4e16'.repeat(16 << 10), true`)
	g.refuseChat(nil)
	browser.JS[bool](b, `document.querySelector('.prompt .go').click(), true`)
	require.Len(t, wait(g, anything[*protocol.ChatSend]).Text, 48<<10, "a long prompt passes")
}

func TestThePageInterrupts_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	require.True(t, browser.JS[bool](b, `document.querySelector('.interrupt').hidden`), "no turn runs")
	g.addRecords("claude-1", state(protocol.ChatWorking))
	b.Press("Interrupt")
	require.Equal(t, "claude-1", wait(g, anything[*protocol.ChatInterrupt]).SessionID)
	g.addRecords("claude-1", protocol.ChatRecord{Turn: &protocol.ChatTurn{Outcome: "interrupted"}}, state(protocol.ChatAtPrompt))
	b.WaitFor(`document.querySelector('.interrupt').hidden && ` + browser.Text(".said") + `.includes('The turn was interrupted.')`)
}

// The conversation continues where it was when a connection was lost, and says what is no longer
// kept.
func TestTheConversationGoesOn_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	aConversation(g)
	b := beside(g)
	b.WaitFor(browser.Text(".said") + ".includes('trying again')")
	require.Zero(t, wait(g, anything[*protocol.ChatSubscribe]).After)
	g.endLinks(true)
	b.WaitFor(`document.querySelector('.stale')`)
	for i := range 5 {
		g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", fmt.Sprintf("line %d", i)))
	}
	g.dropRecords("claude-1", 12)
	g.endLinks(false)
	require.Equal(t, uint64(10), wait(g, anything[*protocol.ChatSubscribe]).After)
	b.WaitFor(browser.Text(".said") + ".includes('trying again in 2 s 2 entries are no longer kept. line 2 line 3 line 4')")
	require.Equal(t, 1.0, browser.JS[float64](b, `document.querySelectorAll('.said-user').length`), "nothing came twice")

	browser.JS[bool](b, `Object.defineProperty(document, 'hidden', {value: true, configurable: true}), document.dispatchEvent(new Event('visibilitychange')), true`)
	wait(g, anything[*protocol.ChatUnsubscribe])
	g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", "while hidden"))
	browser.JS[bool](b, `Object.defineProperty(document, 'hidden', {value: false, configurable: true}), document.dispatchEvent(new Event('visibilitychange')), true`)
	require.Equal(t, uint64(15), wait(g, anything[*protocol.ChatSubscribe]).After)
	b.WaitFor(browser.Text(".said") + ".endsWith('line 4 while hidden')")
}

// A long conversation stays a window in the document. A reader who scrolls up gets to its
// beginning, and new items move nothing.
func TestALongConversation_Client(t *testing.T) {
	t.Parallel()
	const all = 9999
	g := serve(t, auth.RoleOwner, "", claude())
	for part := range slices.Chunk(slices.Collect(func(yield func(int) bool) {
		for i := range all {
			if !yield(i) {
				return
			}
		}
	}), 500) {
		var records []protocol.ChatRecord
		for _, i := range part {
			records = append(records, said(protocol.ChatText, "Claude Code", fmt.Sprintf("entry %d", i)))
		}
		g.addRecords("claude-1", records...)
	}
	b := beside(g)
	b.WaitFor(browser.Text(".said li:last-child") + ` === 'entry 9998'`)
	bounded := func() {
		require.LessOrEqual(t, browser.JS[float64](b, `document.querySelectorAll('.said li').length`), 240.0)
	}
	bounded()
	b.WaitFor(`document.querySelector('.talk').scrollTop > 0`)
	browser.JS[bool](b, `document.querySelector('.talk').scrollTop = 0, true`)
	b.WaitFor(browser.Text(".said li") + ` === 'entry 9679'`)
	require.Greater(t, browser.JS[float64](b, `document.querySelector('.talk').scrollTop`), 0.0, "what stood in view stays there")
	browser.JS[bool](b, `document.querySelector('.talk').focus(), true`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(browser.Text(".said li") + ` === 'entry 0'`)
	bounded()
	b.WaitFor(browser.Button("Back to now") + `?.textContent === 'Back to now: 9,759 more'`)
	browser.JS[bool](b, `document.querySelector('.talk').scrollTop = 100, true`)
	top := browser.JS[float64](b, `document.querySelector('.said li:nth-child(9)').getBoundingClientRect().top`)
	g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", "the newest"))
	b.WaitFor(browser.Button("Back to now") + `?.textContent === 'Back to now: 9,760 more'`)
	require.InDelta(t, top, browser.JS[float64](b, `document.querySelector('.said li:nth-child(9)').getBoundingClientRect().top`), 1)
	b.Press("Back to now")
	b.WaitFor(browser.Text(".said li:last-child") + ` === 'the newest'`)
	b.WaitFor(`(() => { const e = document.querySelector('.talk'); return e.scrollHeight - e.clientHeight - e.scrollTop < 2; })()`)
	bounded()
	g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", "one more"), said(protocol.ChatText, "Claude Code", "and one"))
	b.WaitFor(browser.Text(".said li:last-child") + ` === 'and one'`)
	browser.JS[bool](b, `document.querySelector('.talk').scrollTop = 0, true`)
	b.WaitFor(browser.Button("Back to now"))
}

// Hostile words are text, turn nothing around them, and take only their own room.
func TestHostileWordsInAConversation_Client(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror="faults.push(1)"><script>faults.push(2)</script>`
	g := serve(t, auth.RoleOwner, "", claude())
	g.change("claude-1", func(s *protocol.SessionInfo) {
		s.Chat = &protocol.ChatState{Agent: evil + "\u202e", State: "<b>new</b>", Why: evil}
	})
	long := "begin " + strings.Repeat("y", 1<<18) + " end"
	g.addRecords("claude-1",
		said(protocol.ChatUser, evil+"\u202e", evil+"\n```\n"+evil),
		said(protocol.ChatText, "x", "\u202eright\u2066 to left\u200b \U0001F469\u200d\U0001F4BB\ufe0f "+evil),
		call(g, "t1", evil, map[string]string{evil: evil}),
		result("t1", evil, true),
		protocol.ChatRecord{Item: &protocol.ChatItem{Kind: "<b>kind</b>", Author: "x", Text: evil, Cut: 12}},
		protocol.ChatRecord{Item: &protocol.ChatItem{Kind: "constructor", Author: "x", Text: "proto"}},
		said(protocol.ChatText, "x", long))
	b := beside(g)
	b.WaitFor(browser.Button("Show all 262,154 characters"))
	browser.JS[bool](b, `document.querySelectorAll('.said details').forEach((d) => d.open = true), true`)
	text := browser.JS[string](b, `document.querySelector('.said').textContent`)
	for _, want := range []string{evil, `\u{202e}right\u{2066} to left\u{200b} `, "\U0001F469\u200d\U0001F4BB\ufe0f ", "something of the kind <b>kind</b>", "proto"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 0.0, browser.JS[float64](b, `document.querySelectorAll('.drawer img, .drawer script, .drawer b').length`))
	b.Press("Show all 262,154")
	b.WaitFor(`document.querySelector('.said li:last-child').textContent.includes(' end')`)
	require.True(t, browser.JS[bool](b, `document.querySelector('.talk').scrollWidth <= document.querySelector('.talk').clientWidth`))
}

// Contrast, roles and names.
func TestTheConversationCanBeReadAndHeard_Client(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dark", "light"} {
		g := serve(t, auth.RoleOwner, "", claude())
		aConversation(g)
		g.addRecords("claude-1", approval("t3", "go test"), questions("t4"), state(protocol.ChatApproval))
		b := beside(g, scheme(name))
		b.WaitFor(pressable + ` && ` + browser.Text(".said") + ".includes('trying again')")
		require.Empty(t, browser.JS[[]string](b, faint), name)
		got := tree(b)
		for _, want := range []string{
			"complementary conversation with Claude Code", "region what Claude Code and people said", "button Interrupt", "button Chat", "button Send",
			"alertdialog Claude Code wants to use Bash", "alertdialog Claude Code asks 3 questions", "button Allow once", "button For this session", "button Refuse…",
			"radio all of them takes 4 min", "radio something else", "checkbox -race", "group Tests Which tests? one answer",
			"textbox answer in your own words: Under which name?", "button Answer", "textbox message to Claude Code; Shift Enter begins a line",
		} {
			require.Contains(t, got, want, "%s", strings.Join(got, "\n"))
		}
		for _, n := range got {
			require.NotContains(t, []string{"button", "link", "textbox", "alertdialog", "group", "radio", "checkbox", "region"}, n, "one without a name")
		}
	}
}

// The conversation takes the screen's place, and nothing is wider than the phone.
func TestAPhoneShowsTheConversation_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	aConversation(g)
	b := openPage(g, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	browser.JS[bool](b, `location.hash = 's=claude-1', true`)
	b.Press("Chat")
	b.WaitFor(browser.Text(".said") + ".includes('trying again')")
	require.False(t, browser.JS[bool](b, `document.querySelector('.session').checkVisibility()`))
	g.addRecords("claude-1", approval("t3", "go test"), state(protocol.ChatApproval))
	b.WaitFor(pressable)
	for _, what := range []string{".drawer .card .buttons", ".prompt", ".drawer header"} {
		require.True(t, browser.JS[bool](b, `(() => { const r = document.querySelector('`+what+`').getBoundingClientRect();
			return r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth; })()`), what)
	}
	require.True(t, browser.JS[bool](b, `document.documentElement.scrollWidth <= innerWidth`))
	b.Press("‹ Terminal")
	b.WaitFor(`document.querySelector('.session').checkVisibility() && !document.querySelector('.drawer') && document.querySelector('.stage > .questions .card')`)
}
