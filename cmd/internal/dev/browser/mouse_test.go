package browser_test

import (
	"crypto/ed25519"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// waitMouse waits for the next act of the mouse, which is signed as keys are.
func (g *gateway) waitMouse() string {
	g.t.Helper()
	m := wait(g, func(m *protocol.Keys) bool { return m.InputKind == protocol.InputMouse })
	require.True(g.t, ed25519.Verify(g.key, m.Signed(vim().StartedAt), m.SignatureB64))
	return m.Data
}

// cellAt returns the middle of a cell in the window.
func cellAt(b *browser.Tab, row, col int) (x, y float64) {
	at := browser.JS[[]float64](b, fmt.Sprintf(`(() => {
		const sheet = document.querySelector('.session .sheet').getBoundingClientRect();
		const row = document.querySelector('.sheet .row').getBoundingClientRect().height;
		return [sheet.left + (%d + 0.5) * sheet.width / 80, sheet.top + (%d + 0.5) * row];
	})()`, col, row))
	return at[0], at[1]
}

func mouseEvent(b *browser.Tab, kind input.DispatchMouseEventType, row, col int, more func(*input.DispatchMouseEventParams)) {
	x, y := cellAt(b, row, col)
	e := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1}
	if more != nil {
		more(&e)
	}
	b.RunSteps(command(input.DispatchMouseEvent, e))
}

func turnWheel(b *browser.Tab, delta float64, modifiers int64) {
	mouseEvent(b, input.DispatchMouseEventTypeMouseWheel, 3, 10, func(e *input.DispatchMouseEventParams) {
		e.Button, e.ClickCount, e.DeltaX, e.DeltaY, e.Modifiers = input.MouseButtonNone, 0, 1e-9, delta, modifiers // an omitted delta is an error
	})
}

// The wheel scrolls a shell's history, and a program that has no history.
func TestTheWheelReachesTheProgram_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 300))
	b := openPage(g)
	b.WaitFor(inView + `.includes('line 299 of a log') && document.querySelector('.past').clientHeight > 0`)
	turnWheel(b, -500, 0)
	b.WaitFor(`document.querySelector('.back').checkVisibility()`)
	require.Zero(t, count[*protocol.Keys](g))
	b.Press("Back to now")

	g.print("vim-1", "\x1b[?1049h\x1b[Hless")
	b.WaitFor(inView + `[0] === 'less'`)
	turnWheel(b, 200, 0)
	require.Equal(t, "wheel-down*2 3,10", g.waitMouse())
	turnWheel(b, -100, 0)
	require.Equal(t, "wheel-up 3,10", g.waitMouse())
	require.False(t, browser.JS[bool](b, `document.querySelector('.back').checkVisibility()`))

	g.change("vim-1", drive) // a person who looks does not disturb an agent
	g.print("vim-1", "!")
	b.WaitFor(`document.querySelector('.frame.driven') && ` + inView + `[0] === 'less!'`)
	turnWheel(b, -300, 0)
	b.WaitFor(`document.querySelector('.back').checkVisibility()`)
	require.Zero(t, count[*protocol.Keys](g))
}

// Buttons reach a program that listens while a person types; Shift keeps them for the browser.
func TestButtonsReachTheProgram_Client(t *testing.T) {
	t.Parallel()
	g, b := typingAt(t)
	g.print("vim-1", "\x1b[?1049h\x1b[?1002h\x1b[Hmenu")
	b.WaitFor(inView + `[0] === 'menu'`)
	down, up, move := input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased, input.DispatchMouseEventTypeMouseMoved
	mouseEvent(b, down, 2, 5, nil)
	require.Equal(t, "press 2,5", g.waitMouse())
	mouseEvent(b, move, 2, 7, func(e *input.DispatchMouseEventParams) { e.Buttons = 1 })
	require.Equal(t, "move 2,7", g.waitMouse())
	mouseEvent(b, up, 4, 7, nil)
	require.Equal(t, "release 4,7", g.waitMouse())
	require.Equal(t, "pad", browser.JS[string](b, `document.activeElement.className`))
	mouseEvent(b, down, 1, 1, func(e *input.DispatchMouseEventParams) { e.Button = input.MouseButtonRight })
	require.Equal(t, "right-click 1,1", g.waitMouse())
	shift := func(e *input.DispatchMouseEventParams) { e.Modifiers = int64(chromedp.ModifierShift) }
	mouseEvent(b, down, 0, 0, shift)
	mouseEvent(b, move, 0, 4, func(e *input.DispatchMouseEventParams) { shift(e); e.Buttons = 1 })
	mouseEvent(b, up, 0, 4, shift)
	b.WaitFor(`getSelection().toString().includes('en')`)
	require.Zero(t, count[*protocol.Keys](g))
}

// A finger scrolls a full-screen program, and its tap clicks there.
func TestAFingerReachesTheProgram_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	g.print("vim-1", "\x1b[?1049h\x1b[Hless")
	b := openPage(g, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.WaitFor(inView + `[0]?.startsWith('less')`)
	touchAt(b, input.DispatchTouchEventTypeTouchStart, 100, 400)
	for y := 390; y >= 300; y -= 10 {
		touchAt(b, input.DispatchTouchEventTypeTouchMove, 100, y)
	}
	touch(b, input.DispatchTouchEventTypeTouchEnd)
	require.Regexp(t, `^wheel-down(\*\d)? \d+,\d+$`, g.waitMouse())
	require.False(t, browser.JS[bool](b, `document.querySelector('.session').classList.contains('typed')`), "the keyboard stays closed")
	require.Zero(t, browser.JS[float64](b, `document.querySelector('.session .screen').scrollLeft`))
	touchAt(b, input.DispatchTouchEventTypeTouchStart, 300, 400)
	for x := 290; x >= 100; x -= 10 {
		touchAt(b, input.DispatchTouchEventTypeTouchMove, x, 401)
	}
	touch(b, input.DispatchTouchEventTypeTouchEnd)
	b.WaitFor(`document.querySelector('.session .screen').scrollLeft > 50`)
}

func touchAt(b *browser.Tab, kind input.DispatchTouchEventType, x, y int) {
	point := &input.TouchPoint{X: float64(x), Y: float64(y), ID: new(0.0)}
	b.RunSteps(command(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{point}}))
}
