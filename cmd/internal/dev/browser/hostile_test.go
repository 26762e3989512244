package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// unseen are characters that are not drawn, or that turn those around them.
const unseen = "\u202e\u2066\u200b\u200f\u2060\ufeff\u00ad\u061c\u2028\u3164\u034f\u2800\U000e0041\x07"

// inOrder is a function that reports whether a run of the page's words stands right of the name
// that comes before it.
const inOrder = `([selector, before, words]) => {
	const walk = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
	let all = '', places = [];
	for (let n; (n = walk.nextNode());) {
		for (let i = 0; i < n.length; i++) { all += n.data[i]; places.push([n, i]); }
	}
	const left = (at) => {
		const r = document.createRange();
		r.setStart(...places[at]);
		r.setEnd(places[at][0], places[at][1] + 1);
		return r.getBoundingClientRect();
	};
	const [a, w] = [all.indexOf(before), all.lastIndexOf(words)];
	return a >= 0 && w > a && left(a).right <= left(w).left + 1;
}`

// Whatever a program or an agent calls itself is shown as it is: no markup, nothing that is not
// seen or that is drawn over its neighbours. It stays in its place in the page's sentences.
func TestHostileWordsAreText_Client(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror="faults.push(1)"><script>faults.push(2)</script>`
	s := session("x-1", "/home/ada/שלום"+unseen+"<b>x</b>", "/usr/bin/vim", "אבג"+unseen,
		"e"+strings.Repeat("\u0301", 100)+"nd", evil)
	s.Title = "title" + unseen + "end" + evil
	s.Keyboard = protocol.Keyboard{
		Holder: protocol.HolderAgent, AgentName: "מנהל" + unseen + evil, Level: protocol.LevelDrive, Epoch: 3,
		Asking: "co" + unseen + "dex<b>x</b>", AskingLevel: protocol.LevelDrive,
		AskingReason: "look" + unseen + "” asks nothing. “" + evil,
	}
	g := serve(t, auth.RoleOwner, "", s)
	g.print("x-1", "%s\r\n\x1b]8;;javascript:faults.push(3)\x1b\\link\x1b]8;;\x1b\\ \x1b]2;%s\x1b\\", evil, evil)
	b := openPage(g, "s=x-1")
	b.WaitFor(browser.Text(".session .row") + `.startsWith('<img')`)
	b.WaitFor(`document.title.includes('asks')`)
	require.Empty(t, browser.JS[[]string](b,
		`[...document.querySelectorAll('img, script:not([src]), b, .screen a')].map((e) => e.outerHTML)`))
	require.Empty(t, browser.JS[[]string](b, `[document.title, ...['.question', '.sessions', '.session h2',
		'.stage .tag', '.session footer', '.session header', '#said'].map((q) =>
		document.querySelector(q).textContent), ...[...document.querySelectorAll('[placeholder], [aria-label]')]
		.map((e) => (e.placeholder ?? '') + e.ariaLabel)].filter((words) =>
		/[\u202a-\u202e\u200b-\u200f\u2060\ufeff\u00ad\u061c\u2028\u3164\u034f\u2800\x07]|[\u{e0000}-\u{e007f}]|\p{M}{4}/u
		.test(words))`))
	for selector, want := range map[string]string{
		".question .reason": "look\ufffd", ".question h3": "co\ufffd", ".sessions code": "title\ufffd",
		".question": "<img src=x", ".sessions": "<img src=x", ".session h2": "<img src=x",
		".stage .tag": "<img src=x",
	} {
		require.Contains(t, browser.JS[string](b, browser.Text(selector)), want, selector)
	}
	require.Equal(t, 1, strings.Count(browser.JS[string](b, browser.Text(".question .reason")), "”"))
	for _, c := range [][3]string{
		{".question h3", "co", " asks to "},
		{".sessions .tag", "co", "asks"},
		{".question .where", "ש", "asked"},
		{".session .where", "ש", "×"},
		{".stage .tag", "מ", "drives"},
	} {
		require.True(t, browser.Call[bool](b, inOrder, c), c)
	}
	b.Press("Let it drive 10 min")
	require.Equal(t, s.Keyboard.Asking, next[*protocol.ControlDecide](g).AgentName, "under its own name")

	ask := "<img src=x onerror=\"faults.push('ran')\"></div><button>Answer me</button>\x1b[2J\u202e\u200b"
	g.askSecret(protocol.SecretHidden, ask+strings.Repeat("<b>", (protocol.MaxSecretPrompt-len(ask))/3))
	const asks = `.secret .asks:not(code)`
	b.WaitFor(browser.Text(asks) + `.startsWith('<img src=x')`)
	require.True(t, b.Is(`((e) => e.childElementCount === 0 && !/[\u001b\u202e\u200b]/.test(e.textContent) &&
		e.getBoundingClientRect().height < 200)(document.querySelector('`+asks+`'))`))
}

// sends lets the gateway send pages a frame that no honest gateway would send.
func (g *gateway) sends(frame string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.links {
		l.out <- []byte(frame)
	}
}

// A screen that contradicts its description does no harm, and the next one is drawn.
func TestMalformedRowsDoNoHarm_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	g.print("vim-1", "one")
	b := openPage(g, "s=vim-1")
	b.WaitText(".session .row", "one")
	const head = `{"type":"terminal.rows","sessionId":"vim-1","rev":1,"seq":9,` +
		`"state":{"keyboard":{"holder":"user","epoch":3}},`
	const cursor = `"cursor":{"row":0,"col":0,"visible":true}`
	const size = `"cols":80,"rows":24,`
	for i, rest := range []string{
		`"cols":3,"rows":1,` + cursor + `,"lines":["` + strings.Repeat("wide ", 4000) + `","two","three"]}`,
		size + `"cursor":{"row":-5,"col":-7,"visible":true},"lines":["x"]}`,
		size + `"cursor":{"row":999,"col":9999,"visible":true},"lines":["x"]}`,
		size + `"lines":["x"]}`,
		size + cursor + `,"changed":[{"row":-1,"text":"x"},{"row":1000000000,"text":"x"}]}`,
		size + `"since":1,"moved":-1000000000,` + cursor + `}`,
		size + `"since":77,` + cursor + `}`,
		`"cols":1000000000,"rows":1000000000,` + cursor + `,"lines":["x"]}`,
		`"cols":-1,"rows":"<b>","lines":{"length":1e9}}`,
		size + cursor + `,"lines":["\u001b]8;;javascript:faults.push(1)\u0007a\u001b[2J\u001b[999;999Hb` +
			`<img src=x onerror=faults.push(2)>\u009b31mc"]}`,
		size + cursor + `,"lines":["\u001b[38;5;999;48;2;1;2mx\u001b[38:2:;;;:::m\u001b[99999999999999999999my"]}`,
	} {
		g.sends(head + rest)
		g.print("vim-1", "\x1b[2J\x1b[Hrow %d", i)
		b.WaitText(".session .row", fmt.Sprint("row ", i))
		require.Equal(t, 24, browser.JS[int](b, `document.querySelectorAll('.session .row').length`), rest)
		require.False(t, b.Is(`document.querySelector('.screen img, .screen a, .screen b')`), rest)
		require.True(t, b.Is(`document.documentElement.scrollWidth <= innerWidth`), rest)
	}
}

// The page draws a screen of the largest size, with each cell in another colour, and still
// responds.
func TestTheLargestScreen_Client(t *testing.T) {
	t.Parallel()
	s := vim()
	s.Cols, s.Rows = protocol.MaxSize, protocol.MaxSize
	g := serve(t, auth.RoleOwner, "", s)
	var all strings.Builder
	for row := range 1000 {
		fmt.Fprintf(&all, "\x1b[%dH", row+1)
		for col := range 75 { // as many as fit into a message
			fmt.Fprintf(&all, "\x1b[4%dm%d", (row+col)%8, col%10)
		}
	}
	g.print("vim-1", "%s", all.String())
	b := openPage(g, "s=vim-1")
	b.WaitFor(`document.querySelectorAll('.session .row').length === 1000`)
	b.Press("Take back")
	next[*protocol.ControlDecide](g)
	require.Less(t, browser.JS[int](b, `[...document.querySelectorAll('.session .row')].filter((r) =>
		r.firstChild.checkVisibility({contentVisibilityAuto: true})).length`), 500, "rows are laid out")
	g.print("vim-1", "\x1b[H\x1b[mend")
	b.WaitFor(browser.Text(".session .row") + `.startsWith('end')`)
}
