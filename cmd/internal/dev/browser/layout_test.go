package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// letters is the size of the screen's letters, and where the first row stands.
const letters = `(() => {
	const s = document.querySelector('.session .sheet').getBoundingClientRect();
	const size = getComputedStyle(document.querySelector('.session .screen')).fontSize;
	return [size, s.left, s.top, s.width, s.height].join(' ');
})()`

// newestIsSeen is a script that reports whether all of the log's last line is in view, and its end.
const newestIsSeen = `(() => {
	const line = document.querySelector('.log li:last-child');
	const box = document.querySelector('.messages > :last-child');
	const [l, b, text] = [line, box, line.lastElementChild].map((e) => e.getBoundingClientRect());
	return b.height > 0 && l.top >= b.top - 1 && l.bottom <= b.bottom + 1 && text.right <= b.right + 1;
})()`

// A question, its answer, an agent that drives, and what the log says leave the screen where it is.
func TestNothingMovesTheScreen_Client(t *testing.T) {
	t.Parallel()
	for _, view := range []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(1280, 800), phone, sidePhone} {
		s := session("sh-1", "/home/ada", "sh")
		s.Cols = 44 // fits the width of a phone
		g := serve(t, auth.RoleOwner, "", s)
		g.print("sh-1", "$ make")
		b := openPage(g, "s=sh-1", view)
		shows(b, "$ make")
		before := browser.JS[string](b, letters)
		stays := func(when string) {
			t.Helper()
			require.Equal(t, before, browser.JS[string](b, letters), when)
		}
		g.ask("sh-1", "codex", "to test", protocol.LevelDrive)
		b.WaitFor(browser.Button("Refuse") + "?.disabled === false")
		stays("while an agent asks")
		b.Press("Later")
		b.WaitFor(browser.Button("Answer") + "?.disabled === false")
		stays("while the question is put off")
		g.decided("sh-1", protocol.Decision{AgentName: "codex", Granted: true, By: "ada", At: 2})
		b.WaitPart(".log", "codex got the keyboard, given by ada")
		stays("while an agent drives")
	}
}

// The log shows its newest line after the window is resized, and after a look at another session.
func TestTheLogShowsItsNewestLine_Client(t *testing.T) {
	t.Parallel()
	for _, only := range []string{"", "vim-1"} {
		g := serve(t, auth.RoleOwner, only, vim(), session("bash-1", "/home/ada", "bash"))
		b := openPage(g, "s=vim-1")
		b.WaitText(".session h2", "vim main.go")
		for i := range 12 {
			agent := fmt.Sprintf("an-agent-with-a-long-name-%d", i)
			g.change("vim-1", func(s *protocol.SessionInfo) {
				s.Decided = &protocol.Decision{AgentName: agent, Granted: true, By: "ada", At: int64(i + 1)}
			})
			b.WaitPart(".log li:last-child", agent+" got")
		}
		b.WaitFor(newestIsSeen)
		for _, size := range [][2]int64{{1280, 500}, {390, 844}, {360, 640}, {1280, 800}, {800, 600}} {
			resize(b, size[0], size[1])
			b.WaitFor(newestIsSeen)
		}
		if only == "" {
			visit(b, "s=bash-1")
			b.WaitText(".session h2", "bash")
			visit(b, "s=vim-1")
			b.WaitFor(browser.Text(".session h2") + " === 'vim main.go' && " + newestIsSeen)
		}
	}
}

// An 80x24 program has most of a desk's window. Blocks fill their cells to the edge, and no
// character is cut.
func TestLettersFillTheScreen_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	g.print("vim-1", "a\u2588\u2588\u2580\u2597b\r\n"+
		"\ufb03|\u2a0c|\u2a75|\u2a76|\U0001d54e|\U0001f16f|\u2aa6|end")
	b := openPage(g, "")
	shows(b, "end")
	require.True(t, b.Is(`document.querySelector('.session .sheet').offsetWidth /
		document.querySelector('.session').clientWidth > 0.9`))
	const row = `document.querySelectorAll('.session .sheet .row')`
	require.Equal(t, []string{"2 100%", "1 50%", "1 50%"},
		browser.JS[[]string](b, `[...`+row+`[0].querySelectorAll('.run')].map((e) =>
			Math.round(e.offsetWidth / parseFloat(getComputedStyle(e).getPropertyValue('--cw'))) +
			' ' + e.style.backgroundSize.split(' ').pop())`))
	require.Equal(t, "a██▀▗b", browser.JS[string](b, row+`[0].textContent`), "they are copied as text")
	wide := browser.JS[[]float64](b, `[...`+row+`[1].querySelectorAll('.one')].map((e) => {
		const range = document.createRange();
		range.selectNodeContents(e);
		return range.getBoundingClientRect().width / e.getBoundingClientRect().width;
	})`)
	require.NotEmpty(t, wide)
	for _, share := range wide {
		require.LessOrEqual(t, share, 1.06)
	}
	require.True(t, b.Is(`document.querySelector('.session .sheet .one[style*="font-size"]')`),
		"some are made smaller")
	resize(b, 2400, 1400)
	b.WaitFor(`getComputedStyle(document.querySelector('.session .screen')).fontSize === '20px'`)
}

// A look at another session loses neither the line that a person began nor how the screen fits.
func TestADraftStays_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Cols = 120
	g := serve(t, auth.RoleOwner, "", s, claude())
	b := openPage(g, "s=vim-1", phone)
	at := func(title string) { b.WaitText(".session h2", title) }
	at("vim main.go")
	b.Eval(`document.querySelector('.session > form input').value = 'run the'`)
	b.Press("Fit to width")
	visit(b, "s=claude-1")
	at("claude")
	b.Press("Chat")
	b.Eval(`document.querySelector('.prompt textarea').value = 'and then'`)
	visit(b, "s=vim-1")
	at("vim main.go")
	require.Equal(t, "run the",
		browser.JS[string](b, `document.querySelector('.session > form input').value`))
	b.WaitFor(browser.Button("Larger, follow the cursor"))
	visit(b, "s=claude-1")
	b.WaitFor(`document.querySelector('.prompt textarea')?.value === 'and then'`)
}

// broken is a script for the buttons that are cut off, or in two lines. A row of keys swipes.
const broken = `[...document.querySelectorAll('button')].filter((e) => e.checkVisibility()).filter((e) => {
	const text = document.createRange();
	text.selectNodeContents(e);
	return new Set([...text.getClientRects()].map((line) => line.top)).size > 1 ||
		e.getBoundingClientRect().right > innerWidth && !e.closest('.keys');
}).map((e) => e.textContent)`

// fits is a script that reports whether the screen needs no scrolling to the side.
const fits = `((s) => s.scrollWidth <= s.clientWidth + 1)(document.querySelector('.session .screen'))`

// A phone follows the cursor of a wide program, until a finger moves or pinches the view; every
// button is whole and large enough. On its side the rows have most of its height, also while its
// person types, and a question is one line then.
func TestAPhoneShowsAWideProgram_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Cols = 120
	g := serve(t, auth.RoleOwner, "", s, session("bash-1", "/home/ada", "bash"))
	b := openPage(g, "s=vim-1", phone)
	g.print("vim-1", "\x1b[5;110Hhere")
	b.WaitPart(".session .sheet", "here")
	const inside = `((c) => c && c.left >= 0 && c.right <= innerWidth)(` +
		`document.querySelector('.cursor')?.getBoundingClientRect())`
	b.WaitFor(inside)
	require.True(t, b.Is(`document.documentElement.scrollWidth <= innerWidth`))
	require.Empty(t, browser.JS[[]string](b, `[...document.querySelectorAll('button, a, input')]
		.filter((e) => e.checkVisibility()).filter((e) => {
		const r = e.getBoundingClientRect();
		return r.height < 44 || r.width < 44;
	}).map((e) => e.outerHTML)`), "too small for a finger")
	require.False(t, b.Is(browser.Button("Follow the cursor")))
	size := func(pixels string) {
		b.WaitFor(`Math.abs(parseFloat(getComputedStyle(document.querySelector('.session .screen')).fontSize) - ` +
			pixels + `) < 0.5`)
	}
	pinch := func(from, to int) {
		touch(b, input.DispatchTouchEventTypeTouchStart, 300, 195-from, 195+from)
		for _, x := range []int{(from + to) / 2, to} {
			touch(b, input.DispatchTouchEventTypeTouchMove, 300, 195-x, 195+x)
		}
		touch(b, input.DispatchTouchEventTypeTouchEnd, 0)
	}
	pinch(40, 80)
	size("22")
	b.WaitFor(browser.Button("Follow the cursor"))
	b.Eval(`document.querySelector('.session .screen').scrollLeft = 0`)
	g.print("vim-1", "!")
	b.WaitPart(".session .sheet", "here!")
	require.True(t, b.Is(`document.querySelector('.session .screen').scrollLeft === 0`), "it stays")
	b.Press("Follow the cursor")
	b.WaitFor(inside)
	pinch(100, 40)
	size("9")
	b.Press("Fit to width")
	b.WaitFor(fits)

	b.Press("Larger, follow the cursor")
	b.RunSteps(sidePhone)
	b.WaitFor("innerWidth === 844")
	const high = `Math.floor(document.querySelector('.session .screen').clientHeight /
		document.querySelector('.session .sheet .row').offsetHeight)`
	require.False(t, b.Is(`document.querySelector('.sessions').checkVisibility()`))
	b.Press("Type here")
	g.ask("bash-1", "codex", "", protocol.LevelDrive)
	b.WaitText(".question", "codex asks in bash Answer")
	b.WaitFor(high + ` >= 12`)
	b.Press("Answer")
	b.WaitFor(browser.Button("Refuse") + "?.disabled === false")
	g.change("bash-1", never)
	b.WaitFor(`!document.querySelector('.question')`)
	b.Eval(`document.querySelector('.session .screen').scrollTop = 1e6`)
	b.Press("Stop typing")
	b.WaitFor(high + ` >= 14`)
}

// The lines of a program that prints line by line, and its history, wrap; a picture on the
// alternate screen does not.
func TestAPhoneWrapsLines_Client(t *testing.T) {
	t.Parallel()
	s := session("make-1", "/home/ada", "make")
	s.Cols = 200
	g := serve(t, auth.RoleViewer, "make-1", s)
	long := strings.Repeat("0123456789", 15)
	for i := range 60 {
		g.print("make-1", "%d 世界 \x1b[31m%s\x1b[m end\r\n", i, long)
	}
	b := openPage(g, "", phone)
	b.WaitFor(inView + `.some((r) => r.startsWith('59 '))`)
	b.Press("Wrap lines")
	b.WaitFor(`document.querySelectorAll('.sheet .line').length > 40`)
	require.True(t, b.Is(fits))
	require.Equal(t, "58 世界 "+long+" end",
		browser.JS[string](b, `[...document.querySelectorAll('.sheet .row')].at(-3).textContent`))
	require.True(t, b.Is(`[...document.querySelectorAll('.sheet .line')].every((l) => {
		const range = document.createRange();
		range.selectNodeContents(l);
		return range.getBoundingClientRect().right <= innerWidth;
	})`))
	b.WaitFor(`(() => {
		const [c, s] = ['.cursor', '.session .screen']
			.map((q) => document.querySelector(q).getBoundingClientRect());
		return c.top >= s.top && c.bottom <= s.bottom;
	})()`)
	scrollBack(b, 2000, `document.querySelectorAll('.past .line').length > 20`)
	require.True(t, b.Is(`[...document.querySelectorAll('.past .row')]
		.map((r) => r.getBoundingClientRect()).sort((a, b) => a.top - b.top)
		.every((r, i, all) => i === 0 || Math.abs(all[i - 1].bottom - r.top) <= 1)`))
	b.Press("Back to now")
	g.print("make-1", "\x1b[?1049h\x1b[Hpicture")
	b.WaitFor(`document.querySelector('.sheet .row').textContent === 'picture' &&
		document.querySelectorAll('.line').length === 0`)
	require.False(t, b.Is(browser.Button("Do not wrap")))
	g.print("make-1", "\x1b[?1049l")
	b.WaitFor(`document.querySelectorAll('.sheet .line').length > 40`)
	b.Press("Do not wrap lines")
	b.WaitFor(`document.querySelectorAll('.sheet .line').length === 0`)
}
