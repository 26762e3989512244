package browser_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// pressable is a script that tests whether a card's buttons take a click.
const pressable = `[...document.querySelectorAll('.card:not(.answered) .buttons button')].some((b) => !b.disabled)`

// answerOf returns the answer that a page gave, and checks the page's signature.
func answerOf(g *gateway) *protocol.ChatAnswer {
	g.t.Helper()
	m := wait(g, anything[*protocol.ChatAnswer])
	require.True(g.t, ed25519.Verify(g.key, m.Signed(claude().StartedAt), m.SignatureB64), "signed by the page's key")
	require.InDelta(g.t, time.Now().UnixMilli(), m.At, 600_000)
	return m
}

// beside opens an owner's page that shows the conversation.
func beside(g *gateway, steps ...chromedp.Action[chromedp.Void]) *browser.Tab {
	g.t.Helper()
	b := openPage(g, steps...)
	browser.JS[bool](b, `location.hash = 's=claude-1', true`)
	b.WaitFor(`document.querySelector('.drawer .talk')`)
	return b
}

func TestAnApprovalIsAnswered_Client(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		press func(b *browser.Tab)
		want  protocol.ChatReply
		says  string
	}{
		"once":    {func(b *browser.Tab) { b.Press("Allow once") }, protocol.ChatReply{Verdict: protocol.ChatOnce}, "you allowed it once"},
		"session": {func(b *browser.Tab) { b.Press("For this session") }, protocol.ChatReply{Verdict: protocol.ChatForSession}, "you allowed it for this session"},
		"refused": {func(b *browser.Tab) {
			b.Press("Refuse…")
			b.WaitFor(`document.activeElement.closest('.refusal')`)
			b.WaitFor(browser.Button("Refuse") + ".disabled === false")
			b.RunSteps(browser.Keys("run ä first\r"))
		}, protocol.ChatReply{Words: "run ä first"}, "you refused"},
		"refused without words": {func(b *browser.Tab) {
			b.Press("Refuse…")
			b.WaitFor(`[...document.querySelectorAll('.refusal button')].some((b) => !b.disabled && b.checkVisibility() && (b.click(), true))`)
		}, protocol.ChatReply{}, "you refused"},
	} {
		t.Run(name, func(t *testing.T) {
			g := serve(t, auth.RoleOwner, "", claude())
			g.addRecords("claude-1", approval("toolu_1", "go test ./..."), state(protocol.ChatApproval))
			b := beside(g)
			b.WaitFor(browser.Text(".drawer .card") + `.includes('Claude Code wants to use Bash') && ` + pressable)
			require.Contains(t, browser.JS[string](b, browser.Text(".card")), "For this session: Bash(go test:*)")
			c.press(b)
			m := answerOf(g)
			require.Equal(t, "toolu_1", m.Request)
			require.Equal(t, c.want, m.Answer)
			g.addRecords("claude-1", closed("toolu_1", "page-k3f9", c.want), state(protocol.ChatWorking))
			b.WaitFor(browser.AnsweredScript(c.says))
			b.WaitFor(`!document.querySelector('.card')`)
			b.WaitFor(browser.Text(".said-closed") + `.includes('by page-k3f9')`)
			require.Zero(t, count[*protocol.ChatAnswer](g), "one answer")
		})
	}
}

func TestACardIsAnsweredInAnotherPlace_Client(t *testing.T) {
	t.Parallel()
	g, no := serve(t, auth.RoleOwner, "", claude()), 0
	b := beside(g)
	for says, c := range map[string]*protocol.ChatClosed{
		"allowed once at the terminal":           {By: protocol.ByTerminal, Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}},
		"allowed for this session by ada":        {By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatForSession}},
		"refused by ada: “not now”":              {By: "ada", Answer: protocol.ChatReply{Words: "not now"}},
		"closed: the turn was interrupted":       {Why: "the turn was interrupted"},
		"refused by ada (the turn was stopped)":  {By: "ada", Why: "the turn was stopped"},
		`refused by <b>x</b>: “\u{202e}lin reb”`: {By: "<b>x</b>", Answer: protocol.ChatReply{Words: "\u202elin reb"}},
	} {
		no++
		c.ID = fmt.Sprintf("toolu_%d", no)
		g.addRecords("claude-1", approval(c.ID, "ls"), state(protocol.ChatApproval))
		b.WaitFor(pressable)
		browser.JS[bool](b, "window.old = "+browser.Button("Allow once")+", true")
		g.addRecords("claude-1", protocol.ChatRecord{Closed: c}, state(protocol.ChatWorking))
		b.WaitFor(browser.AnsweredScript(says))
		browser.JS[bool](b, "old.disabled = false, old.click(), true")
		b.WaitFor(`!document.querySelector('.card')`)
		require.Zero(t, count[*protocol.ChatAnswer](g), "its button does nothing any more")
	}
}

// The page that answers second says who was first.
func TestTheFirstAnswerWins_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	g.addRecords("claude-1", approval("toolu_1", "ls"), state(protocol.ChatApproval))
	b := beside(g)
	b.WaitFor(pressable)
	g.refuseChat(&protocol.Error{Code: protocol.CodeAnswered, Message: "already answered by ada"})
	b.Press("Allow once")
	b.WaitFor(browser.AnsweredScript("already answered by ada"))

	g.refuseChat(&protocol.Error{Code: protocol.CodeUnavailable, Message: "the proxy is away"})
	g.addRecords("claude-1", approval("toolu_2", "ls -l"))
	b.WaitFor(pressable)
	b.Press("Allow once")
	b.WaitFor(browser.Text(".card:not(.answered) .result") + ` === 'the proxy is away' && ` + pressable)
	g.refuseChat(nil)
	b.Press("Allow once")
	b.WaitFor(browser.Text(".card:not(.answered) .result") + ` === 'you allowed it once'`)
}

func TestAFormIsAnswered_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	g.addRecords("claude-1", questions("toolu_2"), state(protocol.ChatAsks))
	b := beside(g)
	b.WaitFor(browser.Text(".card") + `.includes('Claude Code asks 3 questions') && ` + pressable)
	tabTo := func(what string) {
		for range 60 {
			if browser.JS[bool](b, what) {
				return
			}
			b.RunSteps(browser.Keys("\t"))
		}
		require.Fail(t, "Tab does not come to "+what)
	}
	label := func(says string) string {
		return `document.activeElement.closest('.card label')?.textContent.startsWith('` + says + `') ?? false`
	}
	tabTo(label("all of them"))
	b.RunSteps(chromedp.KeyEvent(kb.ArrowDown)) // radio buttons are one stop
	require.True(t, browser.JS[bool](b, label("only ./cart")))
	b.Press("Answer")
	b.WaitFor(browser.Text(".card .result") + ` === 'Not answered yet: With what?'`)
	require.True(t, browser.JS[bool](b, label("-race")), "the focus is where the answer lacks")
	b.RunSteps(browser.Keys(" "))
	tabTo(`document.activeElement.getAttribute('aria-label') === 'answer in your own words: With what?'`)
	b.RunSteps(browser.Keys("-v"))
	tabTo(`document.activeElement.getAttribute('aria-label') === 'answer in your own words: Under which name?'`)
	b.WaitFor(pressable)
	b.RunSteps(browser.Keys("ä b\r"))
	m := answerOf(g)
	require.Equal(t, protocol.ChatReply{Replies: map[string][]string{"q1": {"only ./cart"}, "q2": {"-race", "-v"}, "q3": {"ä b"}}}, m.Answer)
	g.addRecords("claude-1", closed("toolu_2", "page-k3f9", m.Answer), state(protocol.ChatWorking))
	b.WaitFor(browser.AnsweredScript("you answered"))
	b.WaitFor(`document.querySelector('.said-closed summary')`)
	browser.JS[bool](b, `document.querySelector('.said-closed summary').click(), true`)
	b.WaitFor(browser.Text(".said-closed") + `.includes('With what? -race, -v')`)
}

// Cards come before everything else, with the session at the top of the list, whichever session is
// shown. In the conversation's view they are part of it. A button that moved is dead for a moment.
func TestCardsComeFirst_Client(t *testing.T) {
	t.Parallel()
	late := session("bash-1", "/home/ada", "bash")
	late.StartedAt++
	g := serve(t, auth.RoleOwner, "", late, claude())
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=bash-1', true`)
	b.WaitFor(browser.Text(".sessions li") + ".includes('bash')")
	g.addRecords("claude-1", approval("toolu_1", "ls"), state(protocol.ChatApproval))
	b.WaitFor(browser.Text(".stage > .questions .card .where") + ".startsWith('claude · ~/src/shop · asked ')")
	b.WaitFor(browser.Text(".sessions li") + ".includes('Claude Code wants approval')")
	b.WaitFor(`document.title === '(1) Claude Code wants approval · bash'`)
	require.Equal(t, "alertdialog false", browser.JS[string](b, `document.querySelector('.card').getAttribute('role') + ' ' + !!document.activeElement.closest('.card')`), "it takes the focus from nobody")
	b.WaitFor(pressable)
	browser.JS[bool](b, `window.moved = [], new MutationObserver(() => {
		if (document.querySelector('.drawer .card') && moved.length === 0) moved.push(`+pressable+`);
	}).observe(document.body, {childList: true, subtree: true}), location.hash = 's=claude-1', true`)
	b.WaitFor("moved.length > 0")
	require.Equal(t, []bool{false}, browser.JS[[]bool](b, "moved"), "the buttons are dead when the card has moved")
	b.WaitFor(pressable)
	b.Press("Chat")
	b.WaitFor(`document.querySelector('.stage > .questions .card') && !document.querySelector('.drawer')`)
	b.WaitFor(`document.querySelector('.talker.amber')`)
	g.addRecords("claude-1", closed("toolu_1", "ada", protocol.ChatReply{}), state(protocol.ChatWorking))
	b.WaitFor(`!document.querySelector('.card') && document.title === 'claude'`)
	wait(g, anything[*protocol.ChatUnsubscribe])
}

func TestAViewerSeesCardsAndCannotAnswer_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "claude-1", claude())
	g.addRecords("claude-1", approval("toolu_1", "ls"), questions("toolu_2"), state(protocol.ChatApproval))
	b := openPage(g)
	b.WaitFor(`document.querySelectorAll('.drawer .card').length === 2`)
	require.Equal(t, 0.0, browser.JS[float64](b, `[...document.querySelectorAll('.card button, .card input:not(:disabled)')].filter((e) => e.checkVisibility()).length`))
	require.Contains(t, browser.JS[string](b, browser.Text(".card")), "A person who may decide must answer this.")
}

// readAll scrolls to every end of the first card's texts, as a reader does.
const readAll = `(async () => {
	for (const end of [...document.querySelector('.card').querySelectorAll('.end')]) {
		end.scrollIntoView({block: 'center'});
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
	}
	return true;
})()`

// Nothing is cut, and invisible characters are written out.
func TestAnApprovalShowsAll_Client(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror="faults.push(1)"> rm` + "\u202e\u200b\t\x1b[2K\n" + strings.Repeat("x", 700<<10) + "END"
	g := serve(t, auth.RoleOwner, "", claude())
	r := approval("toolu_1", "")
	r.Request.Input = call(g, "", "", map[string]any{"command": evil, "deep": map[string]any{"a\u202eb": []int{1, 2}}}).Item.Input
	r.Request.Why, r.Request.Tool = "</p><script>faults.push(2)</script>\u2067", "Bash\u202e"
	r.Request.Allows[1].Covers = "all\u200b"
	form := questions("toolu_2")
	form.Request.Form[0].Text, form.Request.Form[0].Options[0].Label = "<b>which</b>\u202e", "<i>all</i>\u202e"
	g.addRecords("claude-1", r, form, state(protocol.ChatApproval))
	b := beside(g)
	b.WaitFor(`document.querySelector('.card pre.exact')`)
	require.Equal(t, strings.NewReplacer("\u202e", `\u{202e}`, "\u200b", `\u{200b}`, "\x1b", `\u{1b}`).Replace(evil), browser.JS[string](b, `document.querySelector('.card pre.exact').textContent`))
	text := browser.JS[string](b, `document.querySelector('.drawer .questions').textContent`)
	for _, want := range []string{`Bash\u{202e}`, `<script>faults.push(2)</script>\u{2067}`, `For this session: all\u{200b}`, `a\u{202e}b`, `<b>which</b>\u{202e}`, `<i>all</i>\u{202e}`} {
		require.Contains(t, text, want)
	}
	require.True(t, browser.JS[bool](b, `document.querySelector('.card').getBoundingClientRect().right <= innerWidth && document.querySelector('.card pre').clientHeight < 400`))
	browser.JS[bool](b, `[...document.querySelectorAll('.card label input')][0].click(), true`)
	b.WaitFor(pressable)
	browser.JS[bool](b, readAll)
	b.Press("Allow once")
	require.Equal(t, "toolu_1", answerOf(g).Request)
}

// A command after forty lines, or a long one, is allowed only once its end was visible. It can be
// refused at any time.
func TestAllowingWaitsForTheEndOfTheText_Client(t *testing.T) {
	t.Parallel()
	allow := browser.Button("Allow once")
	for name, command := range map[string]string{
		"lines": strings.Repeat("# a comment\n", 40) + "touch HIT", "a long line": strings.Repeat("x", 100<<10) + ";touch HIT",
	} {
		for size, view := range map[string][]chromedp.Action[chromedp.Void]{"phone": {chromedp.EmulateViewport(420, 800, chromedp.EmulateMobile)}, "desktop": nil} {
			t.Run(name+", "+size, func(t *testing.T) {
				g := serve(t, auth.RoleOwner, "", claude())
				g.addRecords("claude-1", approval("toolu_1", command), state(protocol.ChatApproval))
				b := openPage(g, view...)
				b.WaitFor(browser.Text(".card .unread") + `.includes('scroll to its end')`)
				b.WaitFor(browser.Button("Refuse…") + ".disabled === false")
				require.True(t, browser.JS[bool](b, allow+".disabled"))
				browser.JS[bool](b, allow+".click(), true")
				browser.JS[bool](b, `document.querySelector('.card pre.exact').scrollTo(0, document.querySelector('.card pre.exact').scrollHeight / 2), true`)
				require.True(t, browser.JS[bool](b, `new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(`+allow+`.disabled), 50)))`))
				require.Zero(t, count[*protocol.ChatAnswer](g))
				browser.JS[bool](b, readAll)
				b.WaitFor(`!document.querySelector('.card .unread')`)
				b.Press("Allow once")
				require.Equal(t, protocol.ChatReply{Verdict: protocol.ChatOnce}, answerOf(g).Answer)
			})
		}
	}
	t.Run("blanks do not push it out of sight", func(t *testing.T) {
		g := serve(t, auth.RoleOwner, "", claude())
		g.addRecords("claude-1", approval("toolu_1", strings.Repeat(" ", 100<<10)+"touch HIT"), state(protocol.ChatApproval))
		b := openPage(g)
		b.WaitFor(allow + "?.disabled === false")
		require.True(t, browser.JS[bool](b, `(() => { const box = document.querySelector('.card pre.exact'); return box.scrollHeight <= box.clientHeight + 1; })()`))
	})
	t.Run("refused unread", func(t *testing.T) {
		g := serve(t, auth.RoleOwner, "", claude())
		g.addRecords("claude-1", approval("toolu_1", strings.Repeat("# a comment\n", 40)+"touch HIT"), state(protocol.ChatApproval))
		b := openPage(g)
		b.Press("Refuse…")
		b.WaitFor(`[...document.querySelectorAll('.refusal button')].some((b) => !b.disabled && b.checkVisibility() && (b.click(), true))`)
		require.Equal(t, protocol.ChatReply{}, answerOf(g).Answer)
	})
}

// The card offers nothing that allows it.
func TestTheCardSaysThatTextIsNotShown_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	r := approval("toolu_1", "PASSWORD=•••••••• make")
	r.Request.Allows, r.Request.AtTerminal = nil, "a part of it is masked as a secret"
	g.addRecords("claude-1", r, state(protocol.ChatApproval))
	b := openPage(g)
	b.WaitFor(browser.Text(".card") + `.includes('Not shown in full: a part of it is masked as a secret')`)
	b.WaitFor(browser.Button("Refuse…") + ".disabled === false")
	require.False(t, browser.JS[bool](b, "!!"+browser.Button("Allow once")))
}

// TestACardLeavesWhoseAnswerWasLost_Client: the record of the answer is no longer kept, but the list says that nothing waits.
func TestACardLeavesWhoseAnswerWasLost_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	g.addRecords("claude-1", approval("toolu_1", "go test ./..."), state(protocol.ChatApproval))
	b := beside(g)
	b.WaitFor(pressable)
	g.endLinks(true)
	b.WaitFor(`document.querySelector('.stale')`)
	g.addRecords("claude-1", closed("toolu_1", "ada", protocol.ChatReply{}), said(protocol.ChatText, "Claude Code", "next"), state(protocol.ChatWorking))
	g.dropRecords("claude-1", 3)
	g.endLinks(false)
	b.WaitFor(browser.Text(".said") + ".includes('no longer kept')")
	g.change("claude-1", func(s *protocol.SessionInfo) { s.Title = "the list changes" })
	b.WaitFor(browser.AnsweredScript("answered elsewhere"))
	b.WaitFor(`!document.querySelector('.card')`)
}
