package browser_test

import (
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

// numbered returns coloured lines from to before to of a log.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "\x1b[32mline %d\x1b[m of a log\r\n", i)
	}
	return b.String()
}

// inView is the script for the texts of the rows that are fully visible.
const inView = `(() => {
	const box = document.querySelector('.session .screen')?.getBoundingClientRect();
	return !box ? [] : [...document.querySelectorAll('.session .row')].filter((r) => {
		const at = r.getBoundingClientRect();
		return at.top >= box.top - 1 && at.bottom <= box.bottom + 1 && r.textContent;
	}).sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((r) => r.textContent);
})()`

// scrollBack scrolls a screen up by some pixels from its end until a script is truthy. It repeats
// the step: a page that follows the cursor in the same frame, as it fits its letters, moves back.
func scrollBack(b *browser.Tab, pixels int, until string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`(() => {
		const box = document.querySelector('.session .screen'), end = box.scrollHeight - box.clientHeight;
		if (box.scrollTop > end - %d) box.scrollTop = end - %d;
		return %s;
	})()`, pixels, pixels, until))
}

func TestScrollingUpShowsTheHistory_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 500))
	b := openPage(g, scheme("dark"))
	b.WaitFor(inView + `.includes('line 499 of a log')`)
	require.Equal(t, "line 477 of a log", browser.JS[[]string](b, inView)[0], "the screen stands where it did")
	require.False(t, browser.JS[bool](b, `document.querySelector('.back').checkVisibility()`))
	scroll := func(rows int) {
		browser.JS[bool](b, fmt.Sprintf(`(() => {
			const row = document.querySelector('.sheet .row').getBoundingClientRect().height;
			document.querySelector('.session .screen').scrollTop += row * %d;
			return true;
		})()`, rows))
	}
	scroll(-100)
	b.WaitFor(inView + `[0] === 'line 377 of a log'`)
	b.WaitFor(browser.Text(".back") + ` === 'line 378 of 477 Back to now'`)
	require.Equal(t, "rgb(163, 208, 101)", browser.JS[string](b, `getComputedStyle(document.querySelector('.past .row span')).color`), "in its colours")
	require.Less(t, browser.JS[float64](b, `document.querySelectorAll('.past .row').length`), 130.0, "what is not in view is not in the page")

	g.print("vim-1", "%s", numbered(500, 560))
	b.WaitFor(browser.Text(".back") + ` === 'line 378 of 537 Back to now'`)
	require.Equal(t, "line 377 of a log", browser.JS[[]string](b, inView)[0], "it keeps its place while the program prints on")

	g.print("vim-1", "%s", numbered(560, 1900)) // 1000 rows are kept
	b.Press("Back to now")
	b.WaitFor(inView + `.includes('line 1899 of a log')`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(inView + `[0] === 'line 877 of a log'`)
	b.WaitFor(browser.Text(".gap") + ` === 'lines 1 to 877 are no longer kept'`)
	b.WaitFor(browser.Text(".back") + `.startsWith('line 878 of 1,877')`)
	g.print("vim-1", "%s", numbered(1900, 2300))
	b.WaitFor(browser.Text(".back") + `.includes('line 878 of 2,277')`)
	require.Equal(t, "line 877 of a log", browser.JS[[]string](b, inView)[0], "what somebody reads stays, though it is not kept any more")
	scroll(320)
	b.WaitFor(`document.querySelector('.gap')?.innerText.match(/^lines [0-9,]+ to 1,277 are no longer kept$/)`)
	scroll(200)
	b.WaitFor(inView + `.includes('line 1400 of a log')`)
	b.RunSteps(chromedp.KeyEvent(kb.End))
	b.WaitFor(inView + `.includes('line 2299 of a log')`)
	require.False(t, browser.JS[bool](b, `document.querySelector('.back').checkVisibility()`))
	b.RunSteps(chromedp.KeyEvent(kb.PageUp))
	b.WaitFor(inView + `[0] === 'line 2255 of a log'`)

	g.change("vim-1", func(s *protocol.SessionInfo) { s.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser} })
	g.print("vim-1", "hidden")
	b.WaitFor(inView + `.length === 0 && document.querySelectorAll('.past .row').length === 0`)
}

// A browser limits the height of an element. Chromium's limit is that of 1.9 million rows.
func TestAnOpenPageFollowsMillionsOfLines_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 100))
	b := openPage(g)
	b.WaitFor(inView + `.includes('line 99 of a log')`)
	const chunk, all = 100_000, 3_000_000
	for at := 100; at < all; at += chunk {
		g.print("vim-1", "%s", numbered(at, at+chunk))
		b.WaitFor(inView + fmt.Sprintf(`.includes('line %d of a log')`, at+chunk-1))
	}
	require.Less(t, browser.JS[float64](b, `document.querySelector('.past').getBoundingClientRect().height`), 15.1e6)
	b.RunSteps(chromedp.KeyEvent(kb.PageUp))
	b.WaitFor(browser.Text(".back") + `.match(/^line 3,000,0\d\d of 3,000,0\d\d Back to now$/)`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(inView + `.includes('line 2999078 of a log')`)
	b.Press("Back to now")
	b.WaitFor(inView + `.includes('line 3000099 of a log')`)
}

// A reader keeps the place however much the program prints on, and can come back to the end.
func TestAReaderKeepsThePlaceForMillionsOfLines_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 900))
	b := openPage(g)
	b.WaitFor(inView + `.includes('line 899 of a log') && document.querySelector('.past').clientHeight > 0`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(inView + `[0] === 'line 0 of a log'`)
	for at := 900; at < 2_000_900; at += 500_000 {
		g.print("vim-1", "%s", numbered(at, at+500_000))
		b.WaitFor(browser.Text(".back") + fmt.Sprintf(`.includes(' of %s')`, grouped(at+500_000-23)))
		require.Equal(t, "line 0 of a log", browser.JS[[]string](b, inView)[0])
	}
	b.RunSteps(chromedp.KeyEvent(kb.End))
	b.WaitFor(inView + `.includes('line 2000899 of a log')`)
}

// grouped writes a number below a thousand million as the page does.
func grouped(n int) string {
	out := fmt.Sprint(n)
	for i := len(out) - 3; i > 0; i -= 3 {
		out = out[:i] + "," + out[i:]
	}
	return out
}
