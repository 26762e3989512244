package browser_test

import (
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

// numbered returns coloured lines from to before to of a log.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "\x1b[32mline %d\x1b[m of a log\r\n", i)
	}
	return b.String()
}

// flood prints the lines from to before to of a log. Only those that are kept cost time.
func (g *gateway) flood(id string, from, to int) {
	const kept = 2000
	g.mu.Lock()
	g.skipped += uint64(to - from - kept)
	g.mu.Unlock()
	g.print(id, "%s", numbered(to-kept, to))
}

// inView is the script for the texts of the rows that are fully visible.
const inView = `(() => {
	const box = document.querySelector('.session .screen')?.getBoundingClientRect();
	return !box ? [] : [...document.querySelectorAll('.session .row')].filter((r) => {
		const at = r.getBoundingClientRect();
		return at.top >= box.top - 1 && at.bottom <= box.bottom + 1 && r.textContent;
	}).sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
		.map((r) => r.textContent);
})()`

// waitFirst waits until a line of the log is the first in view.
func waitFirst(b *browser.Tab, line int) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`%s[0] === 'line %d of a log'`, inView, line))
}

// waitLine waits until a line of the log is in view.
func waitLine(b *browser.Tab, line int) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`%s.includes('line %d of a log')`, inView, line))
}

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

// Above the screen stand the lines that left it, in their colours. A reader's place stays while the
// program prints on, also when that line is no longer kept; what is gone is said.
func TestAPersonReadsTheHistory_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 500))
	b := openPage(g, "", scheme("dark"))
	waitLine(b, 499)
	waitFirst(b, 477)
	const back = `document.querySelector('.back').checkVisibility()`
	require.False(t, b.Is(back))
	scroll := func(rows int) {
		b.Eval(fmt.Sprintf(`document.querySelector('.session .screen').scrollTop +=
			document.querySelector('.sheet .row').getBoundingClientRect().height * %d`, rows))
	}
	scroll(-100)
	waitFirst(b, 377)
	b.WaitText(".back", "line 378 of 477 Back to now")
	require.Equal(t, "rgb(163, 208, 101)",
		browser.JS[string](b, `getComputedStyle(document.querySelector('.past .row span')).color`))
	require.Less(t, browser.JS[int](b, `document.querySelectorAll('.past .row').length`), 130)
	g.print("vim-1", "%s", numbered(500, 560))
	b.WaitText(".back", "line 378 of 537 Back to now")
	waitFirst(b, 377)

	g.print("vim-1", "%s", numbered(560, 1900)) // 1000 rows are kept
	b.Press("Back to now")
	waitLine(b, 1899)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	waitFirst(b, 877)
	b.WaitText(".gap", "lines 1 to 877 are no longer kept")
	b.WaitPart(".back", "line 878 of 1,877")
	g.print("vim-1", "%s", numbered(1900, 2300))
	b.WaitPart(".back", "line 878 of 2,277")
	waitFirst(b, 877)
	scroll(320)
	b.WaitFor(`document.querySelector('.gap')?.innerText.match(/^lines [0-9,]+ to 1,277 are no longer kept$/)`)
	scroll(200)
	waitLine(b, 1400)
	b.RunSteps(chromedp.KeyEvent(kb.End))
	waitLine(b, 2299)
	require.False(t, b.Is(back))
	b.RunSteps(chromedp.KeyEvent(kb.PageUp))
	waitFirst(b, 2255)

	g.change("vim-1", func(s *protocol.SessionInfo) {
		s.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser}
	})
	g.print("vim-1", "hidden")
	b.WaitFor(inView + `.length === 0 && document.querySelectorAll('.past .row').length === 0`)
}

// A browser limits the height of an element: Chromium's limit is that of 1.9 million rows. A page
// follows more lines than that, and keeps a reader's place in them.
func TestMillionsOfLines_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 100))
	b := openPage(g, "")
	waitLine(b, 99)
	const chunk = 500_000
	at := 100
	for ; at < 3_000_000; at += chunk {
		g.flood("vim-1", at, at+chunk)
		waitLine(b, at+chunk-1)
	}
	require.Less(t, browser.JS[float64](b, `document.querySelector('.past').offsetHeight`), 15.1e6)
	b.RunSteps(chromedp.KeyEvent(kb.PageUp))
	b.WaitFor(browser.Text(".back") + `.match(/^line 3,000,0\d\d of 3,000,0\d\d Back to now$/)`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	waitFirst(b, 2999077)
	for ; at < 5_000_000; at += chunk {
		g.flood("vim-1", at, at+chunk)
		b.WaitPart(".back", fmt.Sprintf(" of %d,%d00,077", (at+chunk)/1e6, (at+chunk)/1e5%10))
		waitFirst(b, 2999077)
	}
	b.RunSteps(chromedp.KeyEvent(kb.End))
	waitLine(b, 5_000_099)
}

// The session's proxy searches: most rows are not in the page. The newest hit comes first, and the
// text is no pattern.
func TestAPersonFindsALineOfAnHourAgo_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 300)+"Error [1] (first)\r\n"+
		numbered(300, 600)+"error [1] (second)\r\n"+numbered(600, 700)+"ERROR [1] here")
	b := openPage(g, "")
	b.WaitFor(inView + `.includes('ERROR [1] here')`)
	b.WaitFor(`document.querySelector('.past').clientHeight > 0`)
	b.RunSteps(browser.Keys("f", chromedp.ModifierCtrl))
	b.WaitFor(`document.activeElement.closest('.finder')`)
	// at once: a pause between two keys would search for what is typed so far
	b.RunSteps(command(input.InsertText, input.InsertTextParams{Text: "error [1]"}))
	place := func(words string) { b.WaitText(".finder .where", words) }
	place("3 of 3")
	b.WaitFor(`document.querySelector('.sheet .row.hit.now')?.textContent === 'ERROR [1] here'`)
	require.False(t, b.Is(`document.querySelector('.back').checkVisibility()`))
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor(inView + `.includes('error [1] (second)')`)
	b.WaitFor(`document.querySelector('.past .row.hit.now')?.textContent === 'error [1] (second)'`)
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor(inView + `.includes('Error [1] (first)')`)
	place("1 of 3")
	m := wait(g, func(m *protocol.Read) bool { return m.Match != "" })
	require.Equal(t, `(?i)error \[1\]`, m.Match)
	b.RunSteps(browser.Keys("\r", chromedp.ModifierShift))
	place("2 of 3")
	b.Eval(`document.querySelector('.finder input').select()`)
	b.RunSteps(browser.Keys("nowhere"))
	place("not found")
	b.RunSteps(browser.Keys(kb.Escape))
	b.WaitFor(`document.querySelector('.finder').hidden &&
		document.activeElement.classList.contains('screen')`)
	b.Press("Find")
	b.WaitFor(`document.activeElement.closest('.finder')`)
}
