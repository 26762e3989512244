package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
)

func TestAPhoneFollowsTheCursor_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Cols = 120
	g := serve(t, auth.RoleOwner, "", s, session("bash-1", "/home/ada", "bash"))
	b := openPage(g, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	g.print("vim-1", "\x1b[5;110Hhere")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('here')")
	b.WaitFor(`(() => { const c = document.querySelector('.cursor')?.getBoundingClientRect(); return c && c.left >= 0 && c.right <= innerWidth; })()`)
	require.Equal(t, true, browser.JS[bool](b, `document.documentElement.scrollWidth <= innerWidth`), "the page itself does not scroll sideways")
	small := browser.JS[[]string](b, `[...document.querySelectorAll('button, a, input')].filter((e) => e.checkVisibility()).filter((e) => {
		const r = e.getBoundingClientRect();
		return r.height < 44 || r.width < 44;
	}).map((e) => e.outerHTML)`)
	require.Empty(t, small, "targets for a finger")
	require.True(t, browser.JS[bool](b, `(() => { const r = `+browser.Button("Take back")+`.getBoundingClientRect(); return r.top > 0 && r.bottom <= innerHeight; })()`))
	b.Press("Fit to width")
	b.WaitFor(`(() => { const s = document.querySelector('.session .screen'); return s.scrollWidth <= s.clientWidth + 1; })()`)
}

// On the smallest phones every button is whole, and its label is on one line.
func TestASmallPhone_Client(t *testing.T) {
	t.Parallel()
	p := place{t, [2]int64{360, 640}, "dark"}
	const broken = `[...document.querySelectorAll('button')].filter((e) => e.checkVisibility()).filter((e) => {
		const text = document.createRange(), r = e.getBoundingClientRect();
		text.selectNodeContents(e);
		return new Set([...text.getClientRects()].map((line) => line.top)).size > 1 || r.right > innerWidth;
	}).map((e) => e.textContent)`
	b := asked(p, p.open(desk(t, true), "s=vim-1"))
	require.Empty(t, browser.JS[[]string](b, broken))
	b = converses(p, "Chat", true)
	require.Empty(t, browser.JS[[]string](b, broken))
	b.WaitFor(`((r) => r && r.height > 40 && r.bottom <= innerHeight)(` + browser.Button("Send") + `?.getBoundingClientRect())`)
}

// A phone's list is where it was left, by either way back.
func TestAPhonesListKeepsItsPlace_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", many(100)...)
	g.change("make-2", never)
	b := openPage(g, chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.WaitFor(rows + " === 100 && " + field)
	for _, back := range []string{`document.querySelector('.session .up').click()`, `history.back()`} {
		browser.JS[bool](b, `document.querySelector('a[href="#s=make-30"]').scrollIntoView({block: 'center'}), window.leftAt = scrollY, true`)
		require.Greater(t, browser.JS[float64](b, "leftAt"), 1000.0)
		browser.JS[bool](b, `document.querySelector('a[href="#s=make-30"]').click(), true`)
		b.WaitFor(`document.activeElement === document.querySelector('.session h2') && scrollY === 0`)
		browser.JS[bool](b, back+", true")
		b.WaitFor(`Math.abs(scrollY - leftAt) < 2 && document.activeElement.hash === '#s=make-30'`)
	}
}

// A view that a person has moved or pinched stays, until it is to follow the cursor again.
func TestAPhoneIsMovedByAFinger_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Cols = 120
	g := serve(t, auth.RoleOwner, "vim-1", s)
	b := openPage(g, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	g.print("vim-1", "\x1b[5;110Hhere")
	inside := `(() => { const c = document.querySelector('.cursor')?.getBoundingClientRect(); return !!c && c.left >= 0 && c.right <= innerWidth; })()`
	b.WaitFor(browser.Text(".session .sheet") + ".includes('here') && " + inside)
	require.Equal(t, "undefined", browser.JS[string](b, "typeof "+browser.Button("Follow the cursor")))
	pinch := func(from, to int) {
		for i, x := range []int{from, (from + to) / 2, to} {
			kind := input.DispatchTouchEventTypeTouchMove
			if i == 0 {
				kind = input.DispatchTouchEventTypeTouchStart
			}
			touch(b, kind, 195-x, 195+x)
		}
		touch(b, input.DispatchTouchEventTypeTouchEnd)
	}
	letters := `parseFloat(getComputedStyle(document.querySelector('.session .screen')).fontSize)`
	pinch(40, 80)
	b.WaitFor(`Math.abs(` + letters + ` - 22) < 0.5`)
	b.WaitFor(browser.Button("Follow the cursor"))
	browser.JS[bool](b, `document.querySelector('.session .screen').scrollLeft = 0, true`)
	g.print("vim-1", "!")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('here!')")
	require.Zero(t, browser.JS[float64](b, `document.querySelector('.session .screen').scrollLeft`), "it stays where a finger has moved it")
	b.Press("Follow the cursor")
	b.WaitFor(inside)
	pinch(100, 40)
	b.WaitFor(`Math.abs(` + letters + ` - 9) < 0.5`)
	b.Press("Fit to width")
	b.WaitFor(`(() => { const s = document.querySelector('.session .screen'); return s.scrollWidth <= s.clientWidth + 1; })()`)
}

func touch(b *browser.Tab, kind input.DispatchTouchEventType, x ...int) {
	points := []*input.TouchPoint{}
	for i, x := range x {
		points = append(points, &input.TouchPoint{X: float64(x), Y: 300, ID: new(float64(i))})
	}
	b.RunSteps(command(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}))
}

// The lines of a program that prints line by line, and its history, wrap; a picture on the
// alternate screen does not.
func TestAPhoneWrapsLines_Client(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{390, 844}, {844, 390}} {
		s := session("make-1", "/home/ada", "make")
		s.Cols = 200
		g := serve(t, auth.RoleViewer, "make-1", s)
		long := strings.Repeat("0123456789", 15)
		for i := range 60 {
			g.print("make-1", "%d 世界 \x1b[31m%s\x1b[m end\r\n", i, long)
		}
		b := openPage(g, chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateMobile))
		b.WaitFor(inView + `.some((r) => r.startsWith('59 '))`)
		b.Press("Wrap lines")
		b.WaitFor(`document.querySelectorAll('.sheet .line').length > 40`)
		require.Equal(t, true, browser.JS[bool](b, `(() => { const s = document.querySelector('.session .screen'); return s.scrollWidth <= s.clientWidth + 1; })()`))
		require.Equal(t, "58 世界 "+long+" end", browser.JS[string](b, `[...document.querySelectorAll('.sheet .row')].at(-3).textContent`))
		require.True(t, browser.JS[bool](b, `[...document.querySelectorAll('.sheet .line')].every((l) => {
			const range = document.createRange();
			range.selectNodeContents(l);
			return range.getBoundingClientRect().right <= innerWidth;
		})`))
		b.WaitFor(`(() => { const c = document.querySelector('.cursor').getBoundingClientRect(), s = document.querySelector('.session .screen').getBoundingClientRect();
			return c.top >= s.top && c.bottom <= s.bottom; })()`)

		scrollBack(b, 2000, `document.querySelectorAll('.past .line').length > 20`)
		overlap := `[...document.querySelectorAll('.past .row')].map((r) => r.getBoundingClientRect()).sort((a, b) => a.top - b.top)
			.some((r, i, all) => i > 0 && Math.abs(all[i - 1].bottom - r.top) > 1)`
		require.False(t, browser.JS[bool](b, overlap), "rows of the history stand below one another")
		b.Press("Back to now")

		g.print("make-1", "\x1b[?1049h\x1b[Hpicture")
		b.WaitFor(`document.querySelector('.sheet .row').textContent === 'picture' && document.querySelectorAll('.line').length === 0`)
		require.Equal(t, "undefined", browser.JS[string](b, "typeof "+browser.Button("Do not wrap")))
		g.print("make-1", "\x1b[?1049l")
		b.WaitFor(`document.querySelectorAll('.sheet .line').length > 40`)
		b.Press("Do not wrap lines")
		b.WaitFor(`document.querySelectorAll('.sheet .line').length === 0`)
	}
}
