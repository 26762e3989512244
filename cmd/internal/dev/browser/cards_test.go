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

const (
	// openCard is the selector of an open card.
	openCard = ".card:not(.answered)"
	// pressable is a script that reports whether a card's buttons take a click.
	pressable = `[...document.querySelectorAll('` + openCard + ` .buttons button')].some((b) => !b.disabled)`
	// refuseNow is a script that presses the button for a refusal without words.
	refuseNow = `[...document.querySelectorAll('.refusal button')]` +
		`.some((b) => !b.disabled && b.checkVisibility() && (b.click(), true))`
	// rendered is a script that ends once the browser has drawn the page, and said what is in view.
	rendered = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`
)

// answerOf returns the answer that a page gave, and checks the page's signature.
func answerOf(g *gateway) *protocol.ChatAnswer {
	g.t.Helper()
	m := next[*protocol.ChatAnswer](g)
	require.True(g.t, ed25519.Verify(g.key, m.Signed(claude().StartedAt), m.SignatureB64))
	require.InDelta(g.t, time.Now().UnixMilli(), m.At, 600_000)
	return m
}

// addApproval opens a request to run a command.
func (g *gateway) addApproval(id, command string) {
	g.addRecords("claude-1", approval(id, command), state(protocol.ChatApproval))
}

// close ends a request.
func (g *gateway) close(c protocol.ChatClosed) {
	g.addRecords("claude-1", protocol.ChatRecord{Closed: &c}, state(protocol.ChatWorking))
}

// A person allows once or for the session, and refuses with or without words.
func TestAnApprovalIsAnswered_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	for i, c := range []struct {
		press func()
		want  protocol.ChatReply
		says  string
	}{
		{
			func() { b.Press("Allow once") },
			protocol.ChatReply{Verdict: protocol.ChatOnce},
			"you allowed it once",
		},
		{
			func() { b.Press("For this session") },
			protocol.ChatReply{Verdict: protocol.ChatForSession},
			"you allowed it for this session",
		},
		{
			func() {
				b.Press("Refuse…")
				b.WaitFor(`document.activeElement.closest('.refusal')`)
				b.WaitFor(pressable)
				b.RunSteps(browser.Keys("run ä first\r"))
			},
			protocol.ChatReply{Words: "run ä first"},
			"you refused",
		},
		{
			func() { b.Press("Refuse…"); b.WaitFor(refuseNow) },
			protocol.ChatReply{},
			"you refused",
		},
	} {
		id := fmt.Sprint("toolu_", i)
		g.addApproval(id, "go test ./...")
		b.WaitPart(openCard, "Claude Code wants to use Bash")
		b.WaitPart(openCard, "For this session: Bash(go test:*)")
		b.WaitFor(pressable)
		c.press()
		m := answerOf(g)
		require.Equal(t, id, m.Request)
		require.Equal(t, c.want, m.Answer)
		g.close(protocol.ChatClosed{ID: id, By: "page-k3f9", Answer: c.want})
		b.WaitFor(fmt.Sprintf(`answers.size === %d && [...answers.values()].at(-1) === '%s'`, i+1, c.says))
		b.WaitFor(fmt.Sprintf(`document.querySelectorAll('.said-closed').length === %d`, i+1))
		b.WaitPart(".said-closed", "by page-k3f9")
		require.Zero(t, count[*protocol.ChatAnswer](g), "one answer")
	}
	b.WaitFor(`!document.querySelector('.card')`)
}

// A card that is answered in another place says by whom, and its button does nothing any more. The
// page that answers second says who was first, and one whose answer was not sent can repeat it.
func TestAnApprovalIsAnsweredInAnotherPlace_Client(t *testing.T) {
	t.Parallel()
	g, no := serve(t, auth.RoleOwner, "", claude()), 0
	b := beside(g)
	ask := func() string {
		no++
		id := fmt.Sprint("toolu_", no)
		g.addApproval(id, "ls "+id)
		b.WaitPart(openCard, "ls "+id)
		b.WaitFor(pressable)
		return id
	}
	for says, c := range map[string]protocol.ChatClosed{
		"allowed once at the terminal": {
			By: protocol.ByTerminal, Answer: protocol.ChatReply{Verdict: protocol.ChatOnce},
		},
		"allowed for this session by ada": {
			By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatForSession},
		},
		"closed: the turn was interrupted":      {Why: "the turn was interrupted"},
		"refused by ada (the turn was stopped)": {By: "ada", Why: "the turn was stopped"},
		`refused by <b>x</b>: “\u{202e}lin reb”`: {
			By: "<b>x</b>", Answer: protocol.ChatReply{Words: "\u202elin reb"},
		},
	} {
		c.ID = ask()
		b.Eval("window.old = " + browser.Button("Allow once"))
		g.close(c)
		b.WaitAnswered(says)
		b.Eval("old.disabled = false, old.click()")
		require.Zero(t, count[*protocol.ChatAnswer](g))
	}

	id := ask()
	g.refuseChat(&protocol.Error{Code: protocol.CodeAnswered, Message: "already answered by ada"})
	b.Press("Allow once")
	b.WaitAnswered("already answered by ada")
	g.close(protocol.ChatClosed{ID: id, By: "ada"})
	id = ask()
	g.refuseChat(&protocol.Error{Code: protocol.CodeUnavailable, Message: "the proxy is away"})
	b.Press("Allow once")
	b.WaitText(openCard+" .result", "the proxy is away")
	g.refuseChat(nil)
	b.WaitFor(pressable)
	b.Press("Allow once")
	b.WaitText(openCard+" .result", "you allowed it once")
	g.close(protocol.ChatClosed{ID: id, By: "page-k3f9", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})

	// The record of the answer is no longer kept, but the list says that nothing waits.
	id = ask()
	g.endLinks(true)
	b.WaitFor(`document.querySelector('.stale')`)
	g.close(protocol.ChatClosed{ID: id, By: "ada"})
	g.addRecords("claude-1", said(protocol.ChatText, "Claude Code", "next"))
	g.dropRecords("claude-1", len(g.talks["claude-1"].records)-1)
	g.endLinks(false)
	b.WaitPart(".said", "no longer kept")
	g.change("claude-1", func(s *protocol.SessionInfo) { s.Title = "the list changes" })
	b.WaitAnswered("answered elsewhere")
	b.WaitFor(`!document.querySelector('.card')`)
}

func TestAFormIsAnswered_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	g.addRecords("claude-1", questions("toolu_2"), state(protocol.ChatAsks))
	b := beside(g)
	b.WaitPart(".card", "Claude Code asks 3 questions")
	b.WaitFor(pressable)
	label := func(says string) string {
		return `document.activeElement.closest('.card label')?.textContent.startsWith('` + says + `')`
	}
	words := func(question string) string {
		return `document.activeElement.ariaLabel === 'answer in your own words: ` + question + `'`
	}
	b.TabTo(label("all of them"))
	b.RunSteps(chromedp.KeyEvent(kb.ArrowDown)) // radio buttons are one stop
	require.True(t, b.Is(label("only ./cart")))
	b.Press("Answer")
	b.WaitText(".card .result", "Not answered yet: With what?")
	require.True(t, b.Is(label("-race")), "the focus is where the answer lacks")
	b.RunSteps(browser.Keys(" "))
	b.TabTo(words("With what?"))
	b.RunSteps(browser.Keys("-v"))
	b.TabTo(words("Under which name?"))
	b.WaitFor(pressable)
	b.RunSteps(browser.Keys("ä b\r"))
	m := answerOf(g)
	require.Equal(t, map[string][]string{"q1": {"only ./cart"}, "q2": {"-race", "-v"}, "q3": {"ä b"}},
		m.Answer.Replies)
	g.close(protocol.ChatClosed{ID: "toolu_2", By: "page-k3f9", Answer: m.Answer})
	b.WaitAnswered("you answered")
	b.WaitFor(`document.querySelector('.said-closed summary')`)
	b.Eval(`document.querySelector('.said-closed summary').click()`)
	b.WaitPart(".said-closed", "With what? -race, -v")
}

// Cards come before everything else, with the session at the top of the list, whichever session is
// shown. In the conversation's view they are part of it. A button that moved is dead for a moment.
func TestCardsComeFirst_Client(t *testing.T) {
	t.Parallel()
	late := session("bash-1", "/home/ada", "bash")
	late.StartedAt++
	g := serve(t, auth.RoleOwner, "", late, claude())
	b := openPage(g, "s=bash-1")
	b.WaitPart(".sessions li", "bash")
	g.addApproval("toolu_1", "ls")
	b.WaitPart(".stage > .questions .card .where", "claude · ~/src/shop · asked ")
	b.WaitPart(".sessions li", "Claude Code wants approval")
	b.WaitFor(`document.title === '(1) Claude Code wants approval · bash'`)
	require.Equal(t, "alertdialog false", browser.JS[string](b, `document.querySelector('.card')`+
		`.getAttribute('role') + ' ' + !!document.activeElement.closest('.card')`), "the focus stays")
	b.WaitFor(pressable)
	b.Eval(`window.moved = [], new MutationObserver(() => {
		if (document.querySelector('.drawer .card') && moved.length === 0) moved.push(` + pressable + `);
	}).observe(document.body, {childList: true, subtree: true})`)
	visit(b, "s=claude-1")
	b.WaitFor("moved.length > 0")
	require.Equal(t, []bool{false}, browser.JS[[]bool](b, "moved"), "pressable as the card moves")
	b.WaitFor(pressable)
	b.Press("Chat")
	b.WaitFor(`document.querySelector('.stage > .questions .card') && !document.querySelector('.drawer')`)
	b.WaitFor(`document.querySelector('.talker.amber')`)
	g.close(protocol.ChatClosed{ID: "toolu_1", By: "ada"})
	b.WaitFor(`document.title === 'claude'`)
}

// readAll scrolls to every end of the first card's texts, as a reader does.
const readAll = `(async () => {
	for (const end of [...document.querySelector('` + openCard + `').querySelectorAll('.end')]) {
		end.scrollIntoView({block: 'center'});
		await ` + rendered + `;
	}
	return true;
})()`

// Nothing is cut, and invisible characters are written out. A command after forty lines, or a long
// one, is allowed only once its end was visible, on a phone, too. It can be refused at any time.
func TestAllowingWaitsForTheEndOfTheText_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	allow := browser.Button("Allow once")
	hit := strings.Repeat("# a comment\n", 40) + "touch HIT"
	for i, command := range []string{hit, strings.Repeat("x", 100<<10) + ";touch HIT"} {
		for _, width := range []int64{1280, 420} {
			resize(b, width, 800)
			visit(b, map[int64]string{1280: "s=claude-1"}[width])
			id := fmt.Sprint("toolu_", i, width)
			g.addApproval(id, command)
			b.WaitPart(openCard+" .unread", "scroll to its end")
			b.WaitFor(browser.Button("Refuse…") + ".disabled === false")
			b.Eval(allow + ".click()")
			b.Eval(`((e) => e.scrollTo(0, e.scrollHeight / 2))(document.querySelector('` +
				openCard + ` pre.exact'))`)
			require.True(t, browser.JS[bool](b, rendered+`.then(() => `+allow+`.disabled)`))
			require.Zero(t, count[*protocol.ChatAnswer](g))
			browser.JS[bool](b, readAll)
			b.WaitFor(`!document.querySelector('` + openCard + ` .unread')`)
			b.Press("Allow once")
			m := answerOf(g)
			require.Equal(t, []any{id, protocol.ChatOnce}, []any{m.Request, m.Answer.Verdict})
			g.close(protocol.ChatClosed{ID: id, By: "page-k3f9", Answer: m.Answer})
			b.WaitFor(`!document.querySelector('` + openCard + `')`)
		}
	}
	g.addApproval("unread", hit)
	b.Press("Refuse…")
	b.WaitFor(refuseNow)
	require.Equal(t, protocol.ChatReply{}, answerOf(g).Answer)
	g.close(protocol.ChatClosed{ID: "unread", By: "page-k3f9"})
	b.WaitFor(`!document.querySelector('` + openCard + `')`)
	g.addApproval("blanks", strings.Repeat(" ", 100<<10)+"touch HIT")
	b.WaitFor(allow + "?.disabled === false")
	require.True(t, b.Is(`((box) => box.scrollHeight <= box.clientHeight + 1)(document.querySelector('`+
		openCard+` pre.exact'))`), "blanks push nothing out of sight")
}

// All of an approval is text, and is shown whole. What is not shown in full is not offered.
func TestAnApprovalShowsAll_Client(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror="faults.push(1)"> rm` + "\u202e\u200b\t\x1b[2K\n" +
		strings.Repeat("x", 700<<10) + "END"
	g := serve(t, auth.RoleOwner, "", claude())
	r := approval("toolu_1", "")
	r.Request.Input = call(g, "", "", map[string]any{
		"command": evil, "deep": map[string]any{"a\u202eb": []int{1, 2}},
	}).Item.Input
	r.Request.Why, r.Request.Tool = "</p><script>faults.push(2)</script>\u2067", "Bash\u202e"
	r.Request.Allows[1].Covers = "all\u200b"
	form := questions("toolu_2")
	form.Request.Form[0].Text, form.Request.Form[0].Options[0].Label = "<b>which</b>\u202e", "<i>all</i>\u202e"
	masked := approval("toolu_3", "PASSWORD=•••••••• make")
	masked.Request.Allows, masked.Request.AtTerminal = nil, "a part of it is masked as a secret"
	g.addRecords("claude-1", r, form, masked, state(protocol.ChatApproval))
	b := beside(g)
	b.WaitFor(`document.querySelector('.card pre.exact')`)
	spelled := strings.NewReplacer("\u202e", `\u{202e}`, "\u200b", `\u{200b}`, "\x1b", `\u{1b}`).Replace(evil)
	require.Equal(t, spelled, browser.JS[string](b, `document.querySelector('.card pre.exact').textContent`))
	text := browser.JS[string](b, `document.querySelector('.drawer .questions').textContent`)
	for _, want := range []string{
		`Bash\u{202e}`, `<script>faults.push(2)</script>\u{2067}`, `For this session: all\u{200b}`,
		`a\u{202e}b`, `<b>which</b>\u{202e}`, `<i>all</i>\u{202e}`,
		`Not shown in full: a part of it is masked as a secret`,
	} {
		require.Contains(t, text, want)
	}
	require.True(t, b.Is(`document.querySelector('.card').getBoundingClientRect().right <= innerWidth &&
		document.querySelector('.card pre').clientHeight < 400`))
	require.Equal(t, 1, browser.JS[int](b, `[...document.querySelectorAll('.card button')]`+
		`.filter((b) => b.textContent.startsWith('Allow once')).length`))
	b.WaitFor(pressable)
	browser.JS[bool](b, readAll)
	b.Press("Allow once")
	require.Equal(t, "toolu_1", answerOf(g).Request)
}

// Nothing of a conversation is wider than a phone, and the buttons of a card are in view, however
// long what it asks is.
func TestCardsFitThePhone_Client(t *testing.T) {
	t.Parallel()
	for _, view := range []chromedp.Action[chromedp.Void]{phone, sidePhone} {
		g := serve(t, auth.RoleOwner, "", claude())
		aConversation(g)
		g.addRecords("claude-1", questions("toolu_1"), state(protocol.ChatAsks))
		b := openPage(g, "s=claude-1", view)
		b.WaitFor(`document.querySelector('.card')`)
		b.Press("Chat")
		b.WaitPart(".said", "trying again")
		require.False(t, b.Is(`document.querySelector('.session').checkVisibility()`))
		b.WaitFor(`document.querySelector('.drawer .card') && ` + pressable)
		b.WaitFor(`[...document.querySelectorAll('.card .buttons button')].every((e) => {
			const r = e.getBoundingClientRect();
			return document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) === e;
		})`)
		require.Empty(t, browser.JS[[]string](b, `['.prompt', '.drawer header'].filter((what) => {
			const r = document.querySelector(what).getBoundingClientRect();
			return r.top < 0 || r.bottom > innerHeight || r.left < 0 || r.right > innerWidth;
		})`), "out of sight")
		require.True(t, b.Is(`document.documentElement.scrollWidth <= innerWidth`))
		b.Press("‹ Terminal")
		b.WaitFor(`document.querySelector('.session').checkVisibility() &&
			!document.querySelector('.drawer') && document.querySelector('.stage > .questions .card')`)
	}
}
