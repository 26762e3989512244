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
func (g *gateway) waitTyped(want string) {
	g.t.Helper()
	all := ""
	for all != want {
		m := next[*protocol.Keys](g)
		require.True(g.t, ed25519.Verify(g.key, m.Signed(vim().StartedAt), m.SignatureB64))
		require.Equal(g.t, g.typedTo, m.After)
		require.Greater(g.t, m.KeyNo, g.typedTo)
		g.typedTo = m.KeyNo
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
	b := openPage(g, "", steps...)
	b.WaitFor(`document.querySelector('.cursor')`)
	b.Press("Type here")
	b.WaitFor(typing)
	return g, b
}

const (
	// typing is a script that reports whether a person types into the program.
	typing = `document.activeElement.className === 'pad'`
	// toScreen is a script that moves the focus to the screen, as selecting a text does.
	toScreen = `document.querySelector('.session .screen').focus()`
	// paste is a function that pastes a text.
	paste = `(text) => {
		const clipboard = new DataTransfer();
		clipboard.setData('text/plain', text);
		document.querySelector('.pad').dispatchEvent(
			new ClipboardEvent('paste', {clipboardData: clipboard, bubbles: true, cancelable: true}));
	}`
)

// compose sets the intermediate text of an input method.
func compose(text string) chromedp.Action[chromedp.Void] {
	n := int64(len([]rune(text)))
	params := input.ImeSetCompositionParams{Text: text, SelectionStart: n, SelectionEnd: n}
	return command(input.ImeSetComposition, params)
}

// insert enters a text as an input method or a phone's keyboard does.
func insert(text string) chromedp.Action[chromedp.Void] {
	return command(input.InsertText, input.InsertTextParams{Text: text})
}

// Each key reaches the program once, under its name; the reclaim key takes the keyboard back. An
// input method types only its final text. Tab belongs to the program while a person types there.
func TestAPersonTypes_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	b.RunSteps(browser.Keys("ls é"), browser.Keys("\r"))
	g.waitTyped("ls é<enter>")
	b.RunSteps(browser.Keys(kb.ArrowUp), browser.Keys("\t"), browser.Keys("\t", chromedp.ModifierShift),
		browser.Keys(kb.Escape), browser.Keys("\b"), browser.Keys(kb.F5),
		browser.Keys(kb.Home, chromedp.ModifierCtrl))
	g.waitTyped("<up><tab><shift-tab><esc><backspace><f5><ctrl-home>")
	b.RunSteps(browser.Keys("c v", chromedp.ModifierCtrl), browser.Keys("x", chromedp.ModifierAlt))
	g.waitTyped("<ctrl-c><ctrl-space><ctrl-v><alt-x>")
	b.RunSteps(browser.Keys("\\", chromedp.ModifierCtrl))
	require.False(t, next[*protocol.ControlDecide](g).Grant)
	require.Zero(t, count[*protocol.Keys](g))

	browser.Call[any](b, paste, "one\ntwo")
	g.waitTyped("[one\ntwo]")
	browser.Call[any](b, paste, strings.Repeat("x", 499)+"😀"+strings.Repeat("y", 500))
	g.waitTyped("[" + strings.Repeat("x", 499) + "+][😀" + strings.Repeat("y", 498) + "+][yy]")
	require.Equal(t, " ", browser.JS[string](b, `document.querySelector('.pad').value`))

	b.RunSteps(compose("n"), compose("ni"), compose("你"), compose("你好"))
	b.WaitFor(`document.querySelector('.pad.composing').value.includes('你好')`)
	require.Zero(t, count[*protocol.Keys](g))
	b.RunSteps(insert("你好"))
	g.waitTyped("你好")
	b.RunSteps(compose("か"), compose("")) // given up
	b.WaitFor(`!document.querySelector('.pad.composing')`)
	b.RunSteps(browser.Keys("x"))
	g.waitTyped("x")

	b.RunSteps(browser.Keys("\r", chromedp.ModifierCtrl, chromedp.ModifierShift))
	b.WaitFor(`document.activeElement.textContent === 'Type here'`)
	b.RunSteps(browser.Keys("\t"))
	b.WaitFor(`document.activeElement.textContent === 'Hide'`)
	b.Eval(toScreen)
	b.RunSteps(browser.Keys("x"), browser.Keys("\t"))
	require.Zero(t, count[*protocol.Keys](g))
	b.Eval(toScreen)
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor(typing)
	b.RunSteps(browser.Keys("y"))
	g.waitTyped("y")
	b.Eval(toScreen)
	b.RunSteps(browser.Keys("z"))
	g.waitTyped("z")
}

// A phone's keyboard names no keys: it changes the field. The keys that it lacks have buttons, each
// large enough for a finger, which leave the keyboard open. A line can be written first.
func TestAPersonTypesOnAPhone_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t, phone)
	b.RunSteps(insert("word "))
	g.waitTyped("word ")
	for _, does := range []string{"deleteBackward", "deleteBackward", "insertNewline"} {
		b.RunSteps(command(input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Unidentified", WindowsVirtualKeyCode: 229,
			Commands: []string{does},
		}))
	}
	g.waitTyped("<backspace><backspace><enter>")

	b.WaitFor(`document.querySelectorAll('.keys button').length === 20`)
	require.Empty(t, browser.JS[[]string](b, `[...document.querySelectorAll('button, a, input')]`+
		`.filter((e) => e.checkVisibility()).filter((e) => {
		e.scrollIntoView({block: 'nearest', inline: 'nearest'}); // a row of keys swipes
		const r = e.getBoundingClientRect();
		return r.height < 44 || r.width < 44 || r.top < 0 || r.bottom > innerHeight ||
			r.left < 0 || r.right > innerWidth ||
			!e.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2));
	}).map((e) => e.outerHTML)`), "not a target for a finger")
	press := func(keys ...string) {
		for _, key := range keys {
			browser.Call[any](b, `(key) => {
				const b = [...document.querySelectorAll('.keys button')].find((b) => b.textContent === key);
				b.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, cancelable: true}));
				b.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));
				b.click();
			}`, key)
		}
	}
	press("Esc", "Tab", "←", "↑", "⏎", "Ctrl+C", "Ctrl")
	g.waitTyped("<esc><tab><left><up><enter><ctrl-c>")
	require.True(t, b.Is(typing))
	b.WaitFor(`document.querySelector('.keys [aria-pressed=true]')`)
	b.RunSteps(insert("w"))
	g.waitTyped("<ctrl-w>")
	b.WaitFor(`document.querySelector('.keys [aria-pressed=false]')`)
	press("⇧Tab", "PgUp", "|", "Alt", "←", "Ctrl", "PgDn")
	g.waitTyped("<shift-tab><pageup>|<alt-left><ctrl-pagedown>")

	b.Eval(`document.querySelector('.keybar input').focus()`)
	b.RunSteps(browser.Keys("make test\r"))
	g.waitTyped("make test<enter>")
	b.RunSteps(browser.Keys("\r"))
	g.waitTyped("<enter>")
	b.Press("⌨")
	b.WaitFor(typing)
}

// The page says what was not typed, and drops what was to follow.
func TestThePageSaysWhatWasNotTyped_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	// The second in which keys are dropped lasts until the test has typed some.
	b.Eval(`window.later = setTimeout,
		window.setTimeout = (act, ms) => ms === 1000 ? (window.heed = act, 1e9) : later(act, ms)`)
	const bad = ".hint.bad"
	refused := "the program has not read the input before this"
	g.refuseKeys(&protocol.Error{Code: protocol.CodeBusy, Message: refused})
	b.RunSteps(browser.Keys("\r"))
	m := next[*protocol.Keys](g)
	b.WaitText(bad, "Not typed: "+refused)
	g.refuseKeys(nil)
	b.RunSteps(browser.Keys("lost")) // it was typed before a person could read that
	b.Eval(`heed(), window.setTimeout = later`)
	b.WaitFor(`!document.querySelector('.pad.deaf')`)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Cwd = "/news" })
	b.WaitPart("body", "/news")
	require.Equal(t, "Not typed: "+refused, browser.JS[string](b, browser.Text(bad)), "it stands")
	b.RunSteps(browser.Keys("x"))
	again := next[*protocol.Keys](g)
	require.Equal(t, "x", again.Data)
	require.True(t, again.KeyNo > m.KeyNo && again.After == 0, "it begins again")
	b.WaitFor(`!document.querySelector('.hint.bad')`)

	g.refuseKeys(&protocol.Error{Code: protocol.CodeForbidden, Message: "use gateway open --type"})
	b.RunSteps(browser.Keys("y"))
	b.WaitPart(bad, "gateway open --type")
	b.WaitFor(`document.activeElement.textContent === 'Type here'`)

	g.refuseKeys(nil)
	b.Press("Type here")
	g.freezeLinks() // no answer comes
	b.RunSteps(browser.Keys("z"))
	g.endLinks(true)
	b.WaitPart(bad, "It is unknown whether that was typed (the connection was lost)")
	b.WaitFor(`document.querySelector('.trip.lost')`)
	b.WaitFor(`!document.querySelector('.pad.deaf')`)
	b.RunSteps(browser.Keys("z"))
	b.WaitPart(bad, "Not typed: not connected")
}
