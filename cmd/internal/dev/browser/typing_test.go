package browser_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// waitTyped waits until pages have typed want: names of keys in angle brackets, pastes in square
// ones, text as it is. Each message is signed, and each but the first names the one before.
func (g *gateway) waitTyped(before uint64, want string) (last uint64) {
	g.t.Helper()
	all := ""
	for all != want {
		m := wait(g, anything[*protocol.Keys])
		require.True(g.t, ed25519.Verify(g.key, m.Signed(vim().StartedAt), m.SignatureB64))
		require.Equal(g.t, before, m.After)
		require.Greater(g.t, m.KeyNo, before)
		before = m.KeyNo
		switch m.InputKind {
		case protocol.InputKeys:
			all += "<" + m.Data + ">"
		case protocol.InputPaste:
			all += "[" + m.Data + map[bool]string{true: "+]", false: "]"}[m.More]
		default:
			all += m.Data
		}
		require.True(g.t, strings.HasPrefix(want, all), "%q", all)
	}
	return before
}

// refuseKeys refuses keys from now on; nil accepts them again.
func (g *gateway) refuseKeys(no *protocol.Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.noKeys = no
}

// typingAt opens an owner's page that types into vim.
func typingAt(t *testing.T, steps ...chromedp.Action[chromedp.Void]) (*gateway, *browser.Tab) {
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	g.print("vim-1", "\x1b[3;5H")
	b := openPage(g, steps...)
	b.WaitFor(`document.querySelector('.cursor')`)
	b.Press("Type here")
	b.WaitFor(`document.activeElement.className === 'pad'`)
	return g, b
}

func TestThePageTypes_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	b.RunSteps(browser.Keys("ls é"), browser.Keys("\r"))
	at := g.waitTyped(0, "ls é<enter>")
	b.RunSteps(browser.Keys(kb.ArrowUp), browser.Keys("\t"), browser.Keys("\t", chromedp.ModifierShift), browser.Keys(kb.Escape), browser.Keys("\b"), browser.Keys(kb.F5), browser.Keys(kb.Home, chromedp.ModifierCtrl))
	at = g.waitTyped(at, "<up><tab><shift-tab><esc><backspace><f5><ctrl-home>")
	b.RunSteps(browser.Keys("c", chromedp.ModifierCtrl), browser.Keys(" ", chromedp.ModifierCtrl), browser.Keys("x", chromedp.ModifierAlt), browser.Keys("v", chromedp.ModifierCtrl))
	at = g.waitTyped(at, "<ctrl-c><ctrl-space><alt-x><ctrl-v>")

	b.RunSteps(browser.Keys("\\", chromedp.ModifierCtrl)) // takes the keyboard back, whatever is on its way
	require.False(t, wait(g, anything[*protocol.ControlDecide]).Grant)
	require.Zero(t, count[*protocol.Keys](g))

	paste := `(text) => {
		const clipboard = new DataTransfer();
		clipboard.setData('text/plain', text);
		document.querySelector('.pad').dispatchEvent(new ClipboardEvent('paste', {clipboardData: clipboard, bubbles: true, cancelable: true}));
	}`
	browser.Call[any](b, paste, "one\ntwo")
	at = g.waitTyped(at, "[one\ntwo]")
	browser.Call[any](b, paste, strings.Repeat("x", 499)+"😀"+strings.Repeat("y", 500))
	g.waitTyped(at, "["+strings.Repeat("x", 499)+"+][😀"+strings.Repeat("y", 498)+"+][yy]")
	require.Equal(t, " ", browser.JS[string](b, `document.querySelector('.pad').value`), "nothing stays in the field")
}

// Tab belongs to the program only while a person types there.
func TestAWayOut_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	b.RunSteps(browser.Keys("\r", chromedp.ModifierCtrl, chromedp.ModifierShift))
	b.WaitFor(`document.activeElement.textContent === 'Type here'`)
	b.RunSteps(browser.Keys("\t"))
	b.WaitFor(`document.activeElement.textContent === 'Hide'`)
	browser.JS[bool](b, `document.querySelector('.session .screen').focus(), true`)
	b.RunSteps(browser.Keys("x"), browser.Keys("\t"))
	require.Zero(t, count[*protocol.Keys](g))
	browser.JS[bool](b, `document.querySelector('.session .screen').focus(), true`)
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor(`document.activeElement.className === 'pad'`)
	b.RunSteps(browser.Keys("y"))
	at := g.waitTyped(0, "y")
	browser.JS[bool](b, `document.querySelector('.session .screen').focus(), true`) // as after selecting something
	b.RunSteps(browser.Keys("z"))
	g.waitTyped(at, "z")
}

// The page types only the final text of an input method, not its intermediate states.
func TestACompositionIsTypedOnce_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	compose := func(text string) chromedp.Action[chromedp.Void] {
		n := int64(len([]rune(text)))
		return command(input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: n, SelectionEnd: n})
	}
	b.RunSteps(compose("n"), compose("ni"), compose("你"), compose("你好"))
	b.WaitFor(`document.querySelector('.pad.composing').value.includes('你好')`)
	require.Zero(t, count[*protocol.Keys](g))
	b.RunSteps(command(input.InsertText, input.InsertTextParams{Text: "你好"}))
	at := g.waitTyped(0, "你好")
	b.RunSteps(compose("か"), compose("")) // given up
	b.WaitFor(`!document.querySelector('.pad.composing')`)
	b.RunSteps(browser.Keys("x"))
	at = g.waitTyped(at, "x")

	// A phone's keyboard names no keys: it changes the field.
	b.RunSteps(command(input.InsertText, input.InsertTextParams{Text: "word "}))
	at = g.waitTyped(at, "word ")
	for _, does := range []string{"deleteBackward", "deleteBackward", "insertNewline"} {
		b.RunSteps(command(input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Unidentified", WindowsVirtualKeyCode: 229, Commands: []string{does},
		}))
	}
	g.waitTyped(at, "<backspace><backspace><enter>")
}

func TestAPhoneTypes_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.WaitFor(`document.querySelectorAll('.keys button').length === 20`)
	off := browser.JS[[]string](b, `[...document.querySelectorAll('button, a, input')].filter((e) => e.checkVisibility()).filter((e) => {
		e.scrollIntoView({block: 'nearest', inline: 'nearest'}); // a row of keys swipes
		const r = e.getBoundingClientRect();
		return r.height < 44 || r.width < 44 || r.top < 0 || r.bottom > innerHeight || r.left < 0 || r.right > innerWidth ||
			!e.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2));
	}).map((e) => e.outerHTML)`)
	require.Empty(t, off, "targets for a finger, all within the window, none under another one")
	for _, key := range []string{"Esc", "Tab", "←", "↑", "⏎", "Ctrl+C", "Ctrl"} {
		browser.JS[bool](b, `(() => {
			const b = [...document.querySelectorAll('.keys button')].find((b) => b.textContent === '`+key+`');
			b.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, cancelable: true}));
			b.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));
			b.click();
			return true;
		})()`)
	}
	at := g.waitTyped(0, "<esc><tab><left><up><enter><ctrl-c>")
	require.Equal(t, "pad", browser.JS[string](b, `document.activeElement.className`), "the phone's keyboard stays open")
	b.WaitFor(`document.querySelector('.keys [aria-pressed=true]')`)
	b.RunSteps(command(input.InsertText, input.InsertTextParams{Text: "w"}))
	at = g.waitTyped(at, "<ctrl-w>")
	b.WaitFor(`document.querySelector('.keys [aria-pressed=false]')`)

	for _, key := range []string{"⇧Tab", "PgUp", "|", "Alt", "←", "Ctrl", "PgDn"} {
		browser.JS[bool](b, `[...document.querySelectorAll('.keys button')].find((b) => b.textContent === '`+key+`').click(), true`)
	}
	at = g.waitTyped(at, "<shift-tab><pageup>|<alt-left><ctrl-pagedown>")

	browser.JS[bool](b, `document.querySelector('.keybar input').focus(), true`)
	b.RunSteps(browser.Keys("make test"), browser.Keys("\r"))
	at = g.waitTyped(at, "make test<enter>")
	b.RunSteps(browser.Keys("\r"))
	g.waitTyped(at, "<enter>")
	b.Press("⌨")
	b.WaitFor(`document.activeElement.className === 'pad'`)
}

// A phone on its side is a phone: the rows have most of its height, also while its person types, and
// a question is one line then.
func TestAPhoneOnItsSide_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "", protocol.LevelDrive))
	b := openPage(g, chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile, chromedp.EmulateTouch))
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(`document.querySelector('.session .row')`)
	rows := `Math.floor(document.querySelector('.session .screen').clientHeight / document.querySelector('.session .sheet .row').offsetHeight)`
	require.False(t, browser.JS[bool](b, `document.querySelector('.sessions').checkVisibility()`), "a list beside it would leave no room")
	b.Press("Type here")
	b.WaitFor(browser.Text(".question") + ` === 'codex asks in psql orders Answer'`)
	require.GreaterOrEqual(t, browser.JS[int](b, rows), 12)
	b.Press("Answer")
	b.WaitFor(browser.Button("Refuse") + "?.disabled === false")
	g.change("psql-1", never)
	b.WaitFor(`!document.querySelector('.question')`)
	browser.JS[bool](b, `document.querySelector('.session .screen').scrollTop = 1e6, true`)
	b.Press("Stop typing")
	b.WaitFor(rows + ` >= 14`)
}

// The page says what was not typed, and drops what was to follow.
func TestThePageSaysWhatWasNotTyped_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	// The second in which keys are dropped lasts until the test has typed some.
	browser.JS[bool](b, `window.later = setTimeout, window.setTimeout = (act, ms) => ms === 1000 ? (window.heed = act, 1e9) : later(act, ms), true`)
	g.refuseKeys(&protocol.Error{Code: protocol.CodeBusy, Message: "the program has not read the input before this"})
	b.RunSteps(browser.Keys("\r"))
	m := wait(g, anything[*protocol.Keys])
	said := browser.Text(".hint.bad") + " === 'Not typed: the program has not read the input before this'"
	b.WaitFor(said)
	g.refuseKeys(nil)
	b.RunSteps(browser.Keys("lost")) // it was typed before a person could read that
	browser.JS[bool](b, `heed(), window.setTimeout = later, true`)
	b.WaitFor(`!document.querySelector('.pad.deaf')`)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Cwd = "/news" })
	b.WaitFor(`document.body.innerText.includes("/news")`)
	require.True(t, browser.JS[bool](b, said), "it stands until something is typed")
	b.RunSteps(browser.Keys("x"))
	again := wait(g, anything[*protocol.Keys])
	require.Equal(t, "x", again.Data)
	require.True(t, again.KeyNo > m.KeyNo && again.After == 0, "it begins anew")
	b.WaitFor(`!document.querySelector('.hint.bad')`)

	g.refuseKeys(&protocol.Error{Code: protocol.CodeForbidden, Message: "this terminal takes no keys from pages: open the page with gateway open --type"})
	b.RunSteps(browser.Keys("y"))
	b.WaitFor(browser.Text(".hint.bad") + ".includes('gateway open --type')")
	b.WaitFor(`document.activeElement.textContent === 'Type here'`)

	g.refuseKeys(nil)
	b.Press("Type here")
	g.freezeLinks() // no answer comes
	b.RunSteps(browser.Keys("z"))
	g.endLinks(true)
	b.WaitFor(browser.Text(".hint.bad") + ".startsWith('It is unknown whether that was typed (the connection was lost)')")
	b.WaitFor(`document.querySelector('.trip.lost')`)
	b.WaitFor(`!document.querySelector('.pad.deaf')`)
	b.RunSteps(browser.Keys("z"))
	b.WaitFor(browser.Text(".hint.bad") + ".startsWith('Not typed: not connected')")
}

// The page shows it as text, and no longer when a password is asked.
func TestThePageShowsAnAgentsTyping_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	b := openPage(g)
	b.WaitFor(`document.querySelector('.cursor')`)
	types := func(typed *protocol.AgentTyped) {
		g.mu.Lock()
		g.typing = typed
		g.mu.Unlock()
		g.print("vim-1", ".")
	}
	types(&protocol.AgentTyped{AgentName: "claude", Text: `"<b>make</b>"<Enter>`, Count: 1})
	b.WaitFor(browser.Text(".just") + ` === 'claude typed "<b>make</b>"<Enter>'`)
	types(nil)
	b.WaitFor(`document.querySelector('.just').hidden`)
}
