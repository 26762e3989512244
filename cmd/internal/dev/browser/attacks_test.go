package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// unseen are characters that are not drawn, or that turn those around them.
const unseen = "\u202e\u2066\u200b\u200f\u2060\ufeff\u00ad\u061c\u2028\u3164\u034f\u2800\U000e0041\x07"

// Foreign names are shown as they are, and stay in their place in the page's sentences.
func TestNamesDoNotTurnThePagesWords_Client(t *testing.T) {
	t.Parallel()
	s := session("x-1", "/home/ada/שלום"+unseen, "/usr/bin/vim", "אבג"+unseen, "e"+strings.Repeat("\u0301", 100)+"nd")
	s.Title = "title" + unseen + "end"
	s.Keyboard = protocol.Keyboard{Holder: protocol.HolderAgent, AgentName: "מנהל" + unseen, Level: protocol.LevelDrive, Epoch: 3}
	s.Keyboard.Asking, s.Keyboard.AskingLevel = "co"+unseen+"dex", protocol.LevelDrive
	s.Keyboard.AskingReason = "look" + unseen + "” asks nothing. “"
	g := serve(t, auth.RoleOwner, "", s)
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=x-1', true`)
	b.WaitFor(`document.querySelector('.session h2') && document.title.includes('asks')`)
	require.Empty(t, browser.JS[[]string](b, `[document.title, ...['.question', '.sessions', '.session h2', '.stage .tag', '.session footer', '.session header', '#said'].map((q) =>
		document.querySelector(q).textContent), ...[...document.querySelectorAll('[placeholder], [aria-label]')].map((e) => (e.placeholder ?? '') + e.ariaLabel)]
		.filter((words) => /[\u202a-\u202e\u200b-\u200f\u2060\ufeff\u00ad\u061c\u2028\u3164\u034f\u2800\x07]|[\u{e0000}-\u{e007f}]|\p{M}{4}/u.test(words))`),
		"nothing that is not seen, or that is drawn over its neighbours")
	for selector, want := range map[string]string{".question .reason": "look", ".question h3": "co", ".sessions code": "title"} {
		require.Contains(t, browser.JS[string](b, browser.Text(selector)), want+"\ufffd", selector+": what was there is told")
	}
	require.Equal(t, 1, strings.Count(browser.JS[string](b, browser.Text(".question .reason")), "”"), "the page's own quotes are")
	// Each run of the page's words stands right of the name that comes before it.
	inOrder := `(selector, before, words) => {
		const walk = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
		let all = '', places = [];
		for (let n; (n = walk.nextNode());) for (let i = 0; i < n.length; i++) { all += n.data[i]; places.push([n, i]); }
		const left = (at) => { const r = document.createRange(); r.setStart(...places[at]); r.setEnd(places[at][0], places[at][1] + 1); return r.getBoundingClientRect(); };
		const [a, w] = [all.indexOf(before), all.lastIndexOf(words)];
		return a >= 0 && w > a && left(a).right <= left(w).left + 1;
	}`
	for _, c := range [][3]string{{".question h3", "co", " asks to "}, {".sessions .tag", "co", "asks"}, {".question .where", "ש", "asked"}, {".session .where", "ש", "×"}, {".stage .tag", "מ", "drives"}} {
		require.True(t, browser.JS[bool](b, fmt.Sprintf("(%s)(%q, %q, %q)", inOrder, c[0], c[1], c[2])), "%v: %s", c, browser.JS[string](b, browser.Text(c[0])))
	}
	b.Press("Let it drive 10 min")
	require.Equal(t, s.Keyboard.Asking, wait(g, anything[*protocol.ControlDecide]).AgentName, "who asked gets it, under the name that it has")
}

// sends lets the gateway send pages a frame that no honest gateway would send.
func (g *gateway) sends(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := range g.links {
		l.out <- fmt.Appendf(nil, format, args...)
	}
}

// A screen that contradicts its description does no harm, and the next one is drawn.
func TestMalformedRowsDoNoHarm_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	g.print("vim-1", "one")
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(browser.Text(".session .row") + " === 'one'")
	const head = `{"type":"terminal.rows","sessionId":"vim-1","rev":1,"state":{"keyboard":{"holder":"user","epoch":3}},`
	const cursor = `"cursor":{"row":0,"col":0,"visible":true}`
	for name, rest := range map[string]string{
		"more rows and columns than it has": `"seq":9,"cols":3,"rows":1,` + cursor + `,"lines":["` + strings.Repeat("wide ", 4000) + `","two","three"]}`,
		"a cursor before the screen":        `"seq":9,"cols":80,"rows":24,"cursor":{"row":-5,"col":-7,"visible":true},"lines":["x"]}`,
		"a cursor behind the screen":        `"seq":9,"cols":80,"rows":24,"cursor":{"row":999,"col":9999,"visible":true},"lines":["x"]}`,
		"no cursor":                         `"seq":9,"cols":80,"rows":24,"lines":["x"]}`,
		"changed rows that are not there":   `"seq":9,"cols":80,"rows":24,` + cursor + `,"changed":[{"row":-1,"text":"x"},{"row":1000000000,"text":"x"}]}`,
		"moved by more than there is":       `"seq":9,"since":1,"moved":-1000000000,"cols":80,"rows":24,` + cursor + `}`,
		"since what never was":              `"seq":9,"since":77,"cols":80,"rows":24,` + cursor + `}`,
		"more than a browser can draw":      `"seq":9,"cols":1000000000,"rows":1000000000,` + cursor + `,"lines":["x"]}`,
		"a size that is none":               `"seq":9,"cols":-1,"rows":"<b>","lines":{"length":1e9}}`,
		"sequences and markup":              `"seq":9,"cols":80,"rows":24,` + cursor + `,"lines":["\u001b]8;;javascript:faults.push(1)\u0007a\u001b[2J\u001b[999;999Hb<img src=x onerror=faults.push(2)>\u009b31mc"]}`,
		"colours that are none":             `"seq":9,"cols":80,"rows":24,` + cursor + `,"lines":["\u001b[38;5;999;48;2;1;2mx\u001b[38:2:;;;:::m\u001b[99999999999999999999my"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			g.sends("%s", head+rest)
			g.print("vim-1", "\x1b[2J\x1b[H%s", strings.ReplaceAll(name, " ", "-"))
			b.WaitFor(browser.Text(".session .row") + ` === '` + strings.ReplaceAll(name, " ", "-") + `'`)
			require.Equal(t, 24.0, browser.JS[float64](b, `document.querySelectorAll('.session .row').length`))
			require.Equal(t, 0.0, browser.JS[float64](b, `document.querySelectorAll('.screen img, .screen a, .screen b').length`))
			require.True(t, browser.JS[bool](b, `document.documentElement.scrollWidth <= innerWidth`), "the page itself does not scroll sideways")
		})
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
	b := openPage(g)
	began := time.Now()
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(`document.querySelectorAll('.session .row').length === 1000`)
	b.Press("Take back")
	wait(g, anything[*protocol.ControlDecide])
	t.Logf("drawn, and taken back, after %v", time.Since(began))
	laidOut := browser.JS[float64](b, `[...document.querySelectorAll('.session .row')].filter((r) => r.firstChild.checkVisibility({contentVisibilityAuto: true})).length`)
	require.Less(t, laidOut, 500.0, "rows that nobody sees are laid out")
	g.print("vim-1", "\x1b[H\x1b[mend")
	b.WaitFor(`document.querySelector('.session .row').textContent.startsWith('end')`)
}

// From the list to the answer and back to the keyboard, without a mouse.
func TestAQuestionByKeyboardAlone_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "count", protocol.LevelDrive))
	b := openPage(g)
	browser.JS[bool](b, `window.mice = 0, ['pointerdown', 'mousedown', 'touchstart'].forEach((k) => addEventListener(k, () => mice++, true)), true`)
	b.WaitFor(browser.Button("Let it") + "?.disabled === false")
	pressed := 0
	press := func(key string) {
		b.RunSteps(chromedp.KeyEvent(key))
		pressed++
	}
	tabTo := func(says string) {
		t.Helper()
		for range 20 {
			if strings.HasPrefix(browser.JS[string](b, `document.activeElement.textContent`), says) {
				return
			}
			press("\t")
		}
		require.Fail(t, "Tab does not come to "+says)
	}
	tabTo("Let it drive 10 min")
	require.Equal(t, "solid", browser.JS[string](b, `getComputedStyle(document.activeElement).outlineStyle`), "what has the focus is seen")
	press("\r")
	require.True(t, wait(g, anything[*protocol.ControlDecide]).Grant)
	g.change("psql-1", func(s *protocol.SessionInfo) { never(s); drive(s) })
	b.WaitFor(`!document.querySelector('.question')`)
	tabTo("psql orders")
	press("\r")
	b.WaitFor(`document.activeElement.tagName === 'H2'`)
	tabTo("Take back")
	press("\r")
	require.False(t, wait(g, anything[*protocol.ControlDecide]).Grant)
	require.Equal(t, 0.0, browser.JS[float64](b, "mice"))
	t.Logf("%d keys", pressed)
}

// node is a node of the tree that a screen reader reads.
type node struct{ role, name, live string }

func (n node) String() string { return strings.TrimSpace(n.role + " " + n.name + " " + n.live) }

// tree lists the nodes that a screen reader knows of.
func tree(b *browser.Tab) (all []string) {
	b.T.Helper()
	got, err := chromedp.Call(b.Ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	require.NoError(b.T, err)
	for _, n := range got.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		text := func(v *accessibility.Value) (s string) {
			if v != nil {
				_ = json.Unmarshal(v.Value, &s)
			}
			return s
		}
		is := node{role: text(n.Role), name: text(n.Name)}
		for _, p := range n.Properties {
			if p.Name == "live" {
				is.live = text(p.Value)
			}
		}
		all = append(all, is.String())
	}
	return all
}

// Everything visible has its role and its name.
func TestAScreenReaderFindsEverything_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "count", protocol.LevelDrive))
	g.print("vim-1", "package main")
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(browser.Button("Let it") + "?.disabled === false && document.querySelector('.session .row')?.textContent === 'package main'")
	g.change("vim-1", func(s *protocol.SessionInfo) {
		s.Decided = &protocol.Decision{AgentName: "claude", Granted: true, At: 2}
	})
	b.WaitFor(browser.Text(".log") + ".includes('claude got the keyboard')")
	got := tree(b)
	for _, want := range []string{
		"alertdialog codex asks to drive psql orders", "button Let it drive 10 min", "button Text only", "button Refuse", "button Mute", "group the last rows of its screen",
		"navigation sessions", "main", "heading vim main.go", "button Take back", "button Hide", "group screen of vim main.go", "log new lines polite",
		"group messages", "textbox message to the agent", "button Send",
	} {
		require.Contains(t, got, want, "%s", strings.Join(got, "\n"))
	}
	for _, n := range got {
		require.NotContains(t, []string{"button", "link", "textbox", "alertdialog", "group"}, n, "one without a name")
	}
}
