package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// The session's proxy searches: most rows are not in the page. The newest hit comes first, and the
// text is no pattern.
func TestAPersonFindsALineOfAnHourAgo_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "%s", numbered(0, 300)+"Error [1] (first)\r\n"+numbered(300, 600)+"error [1] (second)\r\n"+numbered(600, 700)+"ERROR [1] here")
	b := openPage(g)
	b.WaitFor(inView + `.includes('ERROR [1] here') && document.querySelector('.past').clientHeight > 0`)
	b.RunSteps(browser.Keys("f", chromedp.ModifierCtrl))
	b.WaitFor(`document.activeElement.closest('.finder')`)
	// at once: a pause between two keys would search for what is typed so far
	b.RunSteps(command(input.InsertText, input.InsertTextParams{Text: "error [1]"}))
	b.WaitFor(browser.Text(".finder .where") + ` === '3 of 3'`)
	b.WaitFor(`document.querySelector('.sheet .row.hit.now')?.textContent === 'ERROR [1] here'`)
	require.False(t, browser.JS[bool](b, `document.querySelector('.back').checkVisibility()`))
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor(inView + `.includes('error [1] (second)') && document.querySelector('.past .row.hit.now')?.textContent === 'error [1] (second)'`)
	b.RunSteps(browser.Keys("\r"))
	b.WaitFor(inView + `.includes('Error [1] (first)')`)
	require.Equal(t, "1 of 3", browser.JS[string](b, browser.Text(".finder .where")))
	m := wait(g, func(m *protocol.Read) bool { return m.Match != "" })
	require.Equal(t, `(?i)error \[1\]`, m.Match)
	b.RunSteps(browser.Keys("\r", chromedp.ModifierShift))
	b.WaitFor(browser.Text(".finder .where") + ` === '2 of 3'`)
	browser.JS[bool](b, `document.querySelector('.finder input').select(), true`)
	b.RunSteps(browser.Keys("nowhere"))
	b.WaitFor(browser.Text(".finder .where") + ` === 'not found'`)
	b.RunSteps(browser.Keys(kb.Escape))
	b.WaitFor(`document.querySelector('.finder').hidden && document.activeElement.classList.contains('screen')`)
	b.Press("Find")
	b.WaitFor(`document.activeElement.closest('.finder')`)
}

// The last rows of an editor are empty: a question shows those around the cursor.
func TestAQuestionShowsTheRowsAroundTheCursor_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "", protocol.LevelDrive))
	g.print("psql-1", "\x1b[?1049h\x1b[Hone\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\x1b[5;1H")
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(browser.Text(".question .sheet") + `.trim() === 'two three four five six seven'`)
	g.print("psql-1", "\x1b[H")
	b.WaitFor(browser.Text(".question .sheet") + `.trim() === 'one two three four five six'`)
}
