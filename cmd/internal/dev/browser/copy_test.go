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
)

// copied is a function that selects from a character of a row to one of another, and returns what
// the page puts on the clipboard. The rows are found by their beginnings.
const copied = `([from, at, to, end]) => {
	const row = (text) => [...document.querySelectorAll('.session .row')].find((r) => r.textContent.startsWith(text));
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

// Rows end in line breaks, a wrapped line is one line with its blanks, and blanks end no line.
func TestCopiedRowsAreLines_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	long := "make build " + strings.Repeat("x", 60) + "        " + "and the rest of the line" // blanks at the edge
	lines := "first\r\n\x1b[41mred to the edge          \x1b[m\r\n\r\n" + long + "\r\nlast\r\n"
	want := "irst\nred to the edge\n\n" + long + "\nla"
	g.print("vim-1", "%s", lines)
	b := openPage(g)
	b.WaitFor(inView + `.includes('last')`)
	require.Equal(t, want, browser.Call[string](b, copied, []any{"first", 1, "last", 2}), "on the screen")
	require.Equal(t, "red to the edge", browser.Call[string](b, copied, []any{"red", 0, "red", 24}))
	require.Equal(t, "last", browser.Call[string](b, `() => {
		const row = [...document.querySelectorAll('.session .row')].find((r) => r.textContent === 'last');
		getSelection().setBaseAndExtent(row, 0, row.nextSibling, 0);
		return `+copies+`;
	}`, nil), "pasting a selected row presses no Enter")

	g.print("vim-1", "%s", numbered(0, 300)) // they leave for the history
	b.WaitFor(inView + `.includes('line 299 of a log') && document.querySelector('.past').clientHeight > 0`)
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(inView + `.includes('last')`)
	require.Equal(t, want, browser.Call[string](b, copied, []any{"first", 1, "last", 2}), "in the history")

	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "\nline %d of a log", i)
	}
	// The selection goes on while the reader scrolls to the screen.
	browser.JS[bool](b, `(() => {
		const row = [...document.querySelectorAll('.past .row')].find((r) => r.textContent === 'last');
		getSelection().setBaseAndExtent(row.firstChild, 0, row.firstChild, 4);
		document.querySelector('.session .screen').scrollTop = 210 * row.offsetHeight;
		return true;
	})()`)
	b.WaitFor(inView + `.includes('line 220 of a log')`)
	require.Equal(t, "last"+log.String()[:strings.Index(log.String(), "\nline 220 ")], browser.Call[string](b, `() => {
		const row = [...document.querySelectorAll('.past .row')].find((r) => r.textContent.startsWith('line 219 '));
		getSelection().extend(row, row.childNodes.length);
		return `+copies+`;
	}`, nil))
}
