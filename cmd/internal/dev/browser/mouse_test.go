package browser_test

import (
	"crypto/ed25519"
	"fmt"
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

const (
	mouseDown = input.DispatchMouseEventTypeMousePressed
	mouseUp   = input.DispatchMouseEventTypeMouseReleased
	mouseMove = input.DispatchMouseEventTypeMouseMoved
)

// waitMouse waits for the next act of the mouse, which is signed as keys are.
func (g *gateway) waitMouse() string {
	g.t.Helper()
	m := wait(g, func(m *protocol.Keys) bool { return m.InputKind == protocol.InputMouse })
	require.True(g.t, ed25519.Verify(g.key, m.Signed(vim().StartedAt), m.SignatureB64))
	return m.Data
}

// mouse moves or presses the mouse in the middle of a cell.
func mouse(
	b *browser.Tab, kind input.DispatchMouseEventType, row, col int,
	changes ...func(*input.DispatchMouseEventParams),
) {
	b.T.Helper()
	at := browser.JS[[]float64](b, fmt.Sprintf(`(() => {
		const sheet = document.querySelector('.session .sheet').getBoundingClientRect();
		const row = document.querySelector('.sheet .row').getBoundingClientRect().height;
		return [sheet.left + (%d + 0.5) * sheet.width / 80, sheet.top + (%d + 0.5) * row];
	})()`, col, row))
	e := input.DispatchMouseEventParams{
		Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, ClickCount: 1,
	}
	for _, change := range changes {
		change(&e)
	}
	b.RunSteps(command(input.DispatchMouseEvent, e))
}

func turnWheel(b *browser.Tab, delta float64) {
	b.T.Helper()
	mouse(b, input.DispatchMouseEventTypeMouseWheel, 3, 10, func(e *input.DispatchMouseEventParams) {
		e.Button, e.ClickCount = input.MouseButtonNone, 0
		e.DeltaX, e.DeltaY = 1e-9, delta // an omitted delta is an error
	})
}

// The wheel scrolls a shell's history, and a program that has none; but a person who looks does not
// disturb an agent. Buttons reach a program that listens while a person types; Shift keeps them for
// the browser.
func TestTheMouseReachesTheProgram_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 300))
	b := openPage(g, "")
	b.WaitFor(inView + `.includes('line 299 of a log')`)
	b.WaitFor(`document.querySelector('.past').clientHeight > 0`)
	const away = `document.querySelector('.back').checkVisibility()`
	turnWheel(b, -500)
	b.WaitFor(away)
	require.Zero(t, count[*protocol.Keys](g))
	b.Press("Back to now")

	g.print("vim-1", "\x1b[?1049h\x1b[Hless")
	b.WaitFor(inView + `[0] === 'less'`)
	turnWheel(b, 200)
	require.Equal(t, "wheel-down*2 3,10", g.waitMouse())
	turnWheel(b, -100)
	require.Equal(t, "wheel-up 3,10", g.waitMouse())
	require.False(t, b.Is(away))

	g.print("vim-1", "\x1b[?1002h\x1b[Hmenu")
	b.WaitFor(inView + `[0] === 'menu'`)
	b.Press("Type here")
	b.WaitFor(typing)
	drag := func(e *input.DispatchMouseEventParams) { e.Buttons = 1 }
	mouse(b, mouseDown, 2, 5)
	require.Equal(t, "press 2,5", g.waitMouse())
	mouse(b, mouseMove, 2, 7, drag)
	require.Equal(t, "move 2,7", g.waitMouse())
	mouse(b, mouseUp, 4, 7)
	require.Equal(t, "release 4,7", g.waitMouse())
	require.True(t, b.Is(typing))
	mouse(b, mouseDown, 1, 1, func(e *input.DispatchMouseEventParams) { e.Button = input.MouseButtonRight })
	require.Equal(t, "right-click 1,1", g.waitMouse())
	shift := func(e *input.DispatchMouseEventParams) { e.Modifiers = int64(chromedp.ModifierShift) }
	mouse(b, mouseDown, 0, 0, shift)
	mouse(b, mouseMove, 0, 4, shift, drag)
	mouse(b, mouseUp, 0, 4, shift)
	b.WaitFor(`getSelection().toString().includes('en')`)
	require.Zero(t, count[*protocol.Keys](g))

	b.Press("Stop typing")
	g.change("vim-1", drive)
	g.print("vim-1", "!")
	b.WaitFor(`document.querySelector('.frame.driven') && ` + inView + `[0] === 'menu!'`)
	turnWheel(b, -300)
	b.WaitFor(away)
	require.Zero(t, count[*protocol.Keys](g))
}

// A finger scrolls a full-screen program; sideways it moves the screen.
func TestAFingerReachesTheProgram_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	g.print("vim-1", "\x1b[?1049h\x1b[Hless")
	b := openPage(g, "", phone)
	b.WaitFor(inView + `[0]?.startsWith('less')`)
	touch(b, input.DispatchTouchEventTypeTouchStart, 400, 100)
	for y := 390; y >= 300; y -= 10 {
		touch(b, input.DispatchTouchEventTypeTouchMove, y, 100)
	}
	touch(b, input.DispatchTouchEventTypeTouchEnd, 0)
	require.Regexp(t, `^wheel-down(\*\d)? \d+,\d+$`, g.waitMouse())
	require.False(t, b.Is(`document.querySelector('.session').classList.contains('typed')`))
	require.True(t, b.Is(`document.querySelector('.session .screen').scrollLeft === 0`))
	touch(b, input.DispatchTouchEventTypeTouchStart, 400, 300)
	for x := 290; x >= 100; x -= 10 {
		touch(b, input.DispatchTouchEventTypeTouchMove, 401, x)
	}
	touch(b, input.DispatchTouchEventTypeTouchEnd, 0)
	b.WaitFor(`document.querySelector('.session .screen').scrollLeft > 50`)
}

// touch puts fingers at places of a height, or takes them off.
func touch(b *browser.Tab, kind input.DispatchTouchEventType, y int, x ...int) {
	b.T.Helper()
	points := []*input.TouchPoint{}
	for i, x := range x {
		points = append(points, &input.TouchPoint{X: float64(x), Y: float64(y), ID: new(float64(i))})
	}
	params := input.DispatchTouchEventParams{Type: kind, TouchPoints: points}
	b.RunSteps(command(input.DispatchTouchEvent, params))
}

// A link shows where it leads before it opens, on the screen and in the history, and in a program
// that hides its target.
func TestLinksShowWhereTheyLead_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	long := "https://example.org/" + strings.Repeat("a", 70) + "/end"
	g.print("vim-1", "%s", "see "+long+" now\r\n"+
		"\x1b]8;;https://evil.example/\x1b\\世 https://good.example\x1b]8;;\x1b\\\r\n"+
		"\x1b]8;;javascript:alert(1)\x1b\\run\x1b]8;;\x1b\\ plain")
	b := openPage(g, "")
	b.WaitFor(inView + `.some((r) => r.endsWith('plain'))`)
	b.Eval(`window.opened = [], window.open = (...all) => opened.push(all.join(' '))`)
	click := func(row, col int) {
		mouse(b, mouseDown, row, col)
		mouse(b, mouseUp, row, col)
	}
	for _, at := range [][2]int{{0, 10}, {1, 5}} { // it wraps
		click(at[0], at[1])
		b.WaitText(".link-bar code", long)
		require.Empty(t, browser.JS[[]string](b, "opened"))
		b.Eval(`document.querySelector('.link-bar [aria-label=close]').click()`)
	}
	click(2, 6)
	b.WaitText(".link-bar code", "https://evil.example/")
	b.Press("Open")
	require.Equal(t, []string{"https://evil.example/ _blank noopener,noreferrer"},
		browser.JS[[]string](b, "opened"))
	require.False(t, b.Is(`document.querySelector('.session').classList.contains('typed')`))
	click(3, 1)
	b.WaitFor(`document.querySelector('.session.typed') && document.querySelector('.link-bar').hidden`)
}

// copied is a function that selects from a character of a row to one of another, and returns what
// the page puts on the clipboard. The rows are found by their beginnings.
const copied = `([from, at, to, end]) => {
	const row = (text) =>
		[...document.querySelectorAll('.session .row')].find((r) => r.textContent.startsWith(text));
	const place = (row, at) => {
		const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
		for (let t = texts.nextNode(); t; t = texts.nextNode()) {
			if (at <= t.length) return [t, at];
			at -= t.length;
		}
		return [row, row.childNodes.length];
	};
	getSelection().setBaseAndExtent(...place(row(from), at), ...place(row(to), end));
	return ` + copies + `;
}`

// copies is the script for what a copy of the selection puts on the clipboard.
const copies = `((e) => {
	getSelection().anchorNode.parentElement.dispatchEvent(e);
	return e.defaultPrevented ? e.clipboardData.getData('text/plain') : 'not the page';
})(new ClipboardEvent('copy', {clipboardData: new DataTransfer(), bubbles: true, cancelable: true}))`

// Rows end in line breaks, a wrapped line is one line with its blanks, and blanks end no line, on
// the screen, in the history, and across both.
func TestAPersonCopiesLines_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	long := "make build " + strings.Repeat("x", 60) + "        " + "and the rest of the line"
	g.print("vim-1", "%s", "first\r\n\x1b[41mred to the edge          \x1b[m\r\n\r\n"+long+"\r\nlast\r\n")
	b := openPage(g, "")
	copiesLines := func() {
		t.Helper()
		b.WaitFor(inView + `.includes('last')`)
		got := browser.Call[string](b, copied, []any{"first", 1, "last", 2})
		require.Equal(t, "irst\nred to the edge\n\n"+long+"\nla", got)
	}
	copiesLines()
	require.Equal(t, "last", browser.Call[string](b, `() => {
		const row = [...document.querySelectorAll('.session .row')].find((r) => r.textContent === 'last');
		getSelection().setBaseAndExtent(row, 0, row.nextSibling, 0);
		return `+copies+`;
	}`, nil), "pasting a selected row presses no Enter")
	g.print("vim-1", "%s", numbered(0, 300)) // they leave for the history
	b.WaitFor(inView + `.includes('line 299 of a log')`)
	b.WaitFor(`document.querySelector('.past').clientHeight > 0`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	copiesLines()

	// The selection goes on while the reader scrolls to the screen.
	b.Eval(`((row) => {
		getSelection().setBaseAndExtent(row.firstChild, 0, row.firstChild, 4);
		document.querySelector('.session .screen').scrollTop = 210 * row.offsetHeight;
	})([...document.querySelectorAll('.past .row')].find((r) => r.textContent === 'last'))`)
	b.WaitFor(inView + `.includes('line 220 of a log')`)
	want := "last"
	for i := range 220 {
		want += fmt.Sprintf("\nline %d of a log", i)
	}
	require.Equal(t, want, browser.Call[string](b, `() => {
		const row = [...document.querySelectorAll('.past .row')]
			.find((r) => r.textContent.startsWith('line 219 '));
		getSelection().extend(row, row.childNodes.length);
		return `+copies+`;
	}`, nil))
}
