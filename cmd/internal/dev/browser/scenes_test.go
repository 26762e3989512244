package browser_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// place is a scene under construction: the test's gateway behind a page of a size and a theme.
type place struct {
	t     *testing.T
	view  [2]int64 // of a phone; a window of 1280x800 without it
	theme string
}

var (
	desktop = [2]int64{}
	upright = [2]int64{360, 640} // the smallest phones
	onSide  = [2]int64{844, 390}
)

// open opens the page of a gateway, at a session or a recording.
func (p place) open(g *gateway, hash string) *browser.Tab {
	p.t.Helper()
	steps := []chromedp.Action[chromedp.Void]{scheme(p.theme)}
	if p.view != desktop {
		steps = append(steps, chromedp.EmulateViewport(p.view[0], p.view[1],
			chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	}
	return openPage(g, hash, steps...)
}

// openVim opens the page of a gateway at vim.
func (p place) openVim(g *gateway) *browser.Tab {
	p.t.Helper()
	return shows(p.open(g, "s=vim-1"), "package main")
}

// scenes are what a person meets on the page. TestScenes_Client checks each of them.
var scenes = []struct {
	name  string
	theme string
	view  [2]int64
	set   func(p place) *browser.Tab
}{
	{"start-waiting", "dark", desktop, func(p place) *browser.Tab { return asked(p.open(desk(p.t, true), "")) }},
	{"start-empty", "light", desktop, func(p place) *browser.Tab { return p.open(serve(p.t, auth.RoleOwner, ""), "") }},
	{"question", "light", desktop, func(p place) *browser.Tab { return asked(p.open(desk(p.t, true), "s=vim-1")) }},
	{"driven", "light", desktop, func(p place) *browser.Tab { return p.openVim(desk(p.t, false)) }},
	{"messages", "dark", desktop, func(p place) *browser.Tab { return logs(p, "") }},
	{"messages-only", "light", desktop, func(p place) *browser.Tab { return logs(p, "vim-1") }},
	{"card-later", "light", desktop, putOffCard},
	{"lost", "dark", desktop, lose},
	{"words", "dark", desktop, compareWords},
	{"viewer", "light", desktop, watches},
	{"huge", "light", desktop, func(p place) *browser.Tab { return large(p, 500, 200) }},
	{"mc", "dark", desktop, func(p place) *browser.Tab { return program(p, 80, 24, "Quit", "mc", "-u") }},
	{"htop", "light", desktop, func(p place) *browser.Tab { return program(p, 100, 30, "F10", "htop") }},
	{"conversation", "dark", desktop, func(p place) *browser.Tab { return converses(p, "", true) }},
	{"conversation-light", "light", desktop, func(p place) *browser.Tab { return converses(p, "", true) }},
	{"find", "dark", desktop, func(p place) *browser.Tab { return looksBack(p, "find") }},
	{"recording", "light", desktop, replays},
	{"long-list", "dark", desktop, listsMany},
	{"secret", "light", desktop, asksForPassword},
	{"phone-list", "light", upright, func(p place) *browser.Tab { return asked(p.open(desk(p.t, true), "")) }},
	{"phone-question", "dark", upright, func(p place) *browser.Tab { return asked(p.open(desk(p.t, true), "s=vim-1")) }},
	{"phone-new-host", "dark", upright, asksAboutHost},
	{"phone-typing-asked", "light", upright, typeAndAsk},
	{"phone-conversation", "dark", upright, func(p place) *browser.Tab { return converses(p, "Chat", true) }},
	{"phone-wrapped", "light", upright, func(p place) *browser.Tab { return looksBack(p, "wrap") }},
	{"phone-recording", "dark", upright, replays},
	{"side-secret", "dark", onSide, asksForPassword},
	{"side-typing-asked", "dark", onSide, typeAndAsk},
	{"side-conversation", "light", onSide, func(p place) *browser.Tab { return converses(p, "Chat", true) }},
}

// TestScenes_Client has axe-core look at every scene, and at a phone's buttons. With PICTURES=DIR it
// puts a picture of each there, as make clients does.
func TestScenes_Client(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := s.set(place{t, s.view, s.theme})
			browser.JS[bool](b, `Promise.all(document.getAnimations().map((a) => a.finished)).then(() => true)`)
			if dir := os.Getenv("PICTURES"); dir != "" {
				png, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
				require.NoError(t, err)
				require.NoError(t, os.MkdirAll(dir, 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, s.name+".png"), png, 0o600))
			}
			browser.JS[bool](b, axe+"; true")
			require.Empty(t, browser.JS[[]string](b, violations))
			require.Empty(t, browser.JS[[]string](b, unreachable), "no key reaches it")
			require.Empty(t, browser.JS[[]string](b, faintRims), "its rim is hard to see")
			if s.view != desktop {
				require.Empty(t, browser.JS[[]string](b, broken))
			}
		})
	}
}

// axeCore returns the script of axe-core.
func axeCore(t *testing.T) string {
	browser.ChromiumPath(t)
	ci := filepath.Join("..", "..", "..", "..", ".ci")
	require.FileExists(t, filepath.Join(ci, "package.json"), "a wrong path would skip every scene")
	script, err := os.ReadFile(filepath.Join(ci, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is not installed: npm install --prefix .ci")
	}
	return string(script)
}

// violations lists what breaks WCAG 2.2 AA. The colours on a screen are its program's: the page keeps 3:1 there, and not 4.5:1.
const violations = `(async () => {
	const wcag = {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations']};
	const page = await axe.run(document, {...wcag, rules: {'color-contrast': {enabled: false}}});
	const colors = await axe.run({exclude: [['.screen']]}, {runOnly: {type: 'rule', values: ['color-contrast']}, resultTypes: ['violations']});
	return [...page.violations, ...colors.violations].flatMap((v) => v.nodes.map((n) => v.id + ' ' + n.target.join(' ') + ': ' + n.failureSummary));
})()`

// unreachable lists what a mouse can press and Tab does not reach. The program's own keys have the pad.
const unreachable = `[...document.querySelectorAll('button, a, input, textarea, select, summary')]
	.filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex < 0 && !e.classList.contains('pad')).map((e) => e.outerHTML)`

// faintRims lists lines and uncoloured buttons whose border lacks a contrast of 3 to what lies around it (WCAG 2.2, 1.4.11).
const faintRims = `import(document.querySelector('script[src$="app.js"]').src).then(({$colors: {contrastOf}}) => {
	const hex = (c) => '#' + c.match(/[\d.]+/g).slice(0, 3).map((v) => Math.round(v).toString(16).padStart(2, '0')).join('');
	const behind = (e) => {
		for (; e; e = e.parentElement) if (getComputedStyle(e).backgroundColor !== 'rgba(0, 0, 0, 0)') return getComputedStyle(e).backgroundColor;
		return 'rgb(255, 255, 255)';
	};
	return [...document.querySelectorAll('button, input, textarea')].filter((e) => e.checkVisibility() && !e.disabled && !e.matches('.amber, .green, .pad') &&
		parseFloat(getComputedStyle(e).borderTopWidth) > 0 && !['radio', 'checkbox'].includes(e.type)).map((e) => {
		const n = contrastOf(hex(getComputedStyle(e).borderTopColor), hex(behind(e.parentElement)));
		return n < 3 ? n.toFixed(2) + ' ' + e.outerHTML : '';
	}).filter(Boolean);
})`

// scheme makes the browser prefer a dark or a light page.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// shows waits until the screen shows a text.
func shows(b *browser.Tab, text string) *browser.Tab {
	b.T.Helper()
	b.WaitFor(`[...document.querySelectorAll('.session .sheet .row')].some((r) => r.textContent.includes(` + browser.Quote(text) + `))`)
	return b
}

// asked waits until a question can be answered.
func asked(b *browser.Tab) *browser.Tab {
	b.T.Helper()
	b.WaitFor(browser.Button("Refuse") + "?.disabled === false")
	b.WaitFor(`[...document.querySelectorAll('.screen')].some((s) => s.textContent.includes('orders=#'))`)
	return b
}

func watches(p place) *browser.Tab {
	g := serve(p.t, auth.RoleViewer, "psql-1", asking("codex", "count the orders", protocol.LevelType))
	g.print("psql-1", "orders=# ")
	b := p.open(g, "")
	b.WaitPart(".question", "write a line in")
	return shows(b, "orders=#")
}

// logs shows what was decided, in a list or on the page of one session alone.
func logs(p place, only string) *browser.Tab {
	g := serve(p.t, auth.RoleOwner, only, vim())
	g.print("vim-1", "package main")
	b := p.openVim(g)
	for i, name := range []string{"claude", "codex", "gemini"} {
		g.change("vim-1", func(s *protocol.SessionInfo) {
			s.Decided = &protocol.Decision{AgentName: name, Granted: true, By: "ada", At: int64(i + 1)}
		})
		b.WaitPart(".log", name+" got the keyboard")
	}
	g.setTyped(&protocol.AgentTyped{AgentName: "claude", Text: `"make"<Enter>`, Count: 1})
	g.print("vim-1", "\r\nmake")
	b.WaitFor(`document.querySelector('.just').textContent`)
	return b
}

// putOffCard puts off the card of another session than the one that is shown.
func putOffCard(p place) *browser.Tab {
	g := serve(p.t, auth.RoleOwner, "", claude(), vim())
	g.print("vim-1", "package main")
	aConversation(g)
	g.addApproval("t3", "go test -race ./...")
	b := p.openVim(g)
	b.WaitFor(browser.Button("Allow once") + "?.disabled === false")
	b.Press("Later")
	b.WaitFor(browser.Button("Answer") + "?.disabled === false")
	require.LessOrEqual(p.t, browser.JS[int](b, `document.querySelector('.card').clientHeight`), 50)
	return b
}

func lose(p place) *browser.Tab {
	g := desk(p.t, false)
	b := p.openVim(g)
	g.endLinks(true)
	b.WaitFor(`document.querySelector('.stale')`)
	p.t.Cleanup(func() { g.endLinks(false) })
	return b
}

func typeAndAsk(p place) *browser.Tab {
	g := desk(p.t, false)
	b := p.openVim(g)
	b.Press("Type here")
	g.ask("bash-1", "codex", "list the files", protocol.LevelDrive)
	b.WaitFor(browser.Button("Answer") + "?.disabled === false")
	return b
}

func compareWords(p place) *browser.Tab {
	g := serve(p.t, auth.RoleOwner, "")
	g.hold = make(chan struct{})
	p.t.Cleanup(func() { close(g.hold) })
	b := browser.OpenTab(p.t)
	b.RunSteps(scheme(p.theme), chromedp.Navigate(g.url+"/#c="+g.opening.Code()))
	b.WaitFor(`document.querySelector('.words')`)
	return b
}

// large shows a screen with a number at the beginning of each row, and at the end.
func large(p place, cols, rows int) *browser.Tab {
	s := session("build-1", "/home/ada/src/shop", "build")
	s.Cols, s.Rows = cols, rows
	g := serve(p.t, auth.RoleOwner, "", s)
	for y := range rows - 1 {
		g.print("build-1", "\x1b[%dm%-*d%*d\x1b[m\r\n", 31+y%6, cols/2, y, cols-cols/2, y)
	}
	return shows(p.open(g, ""), fmt.Sprint(rows-2))
}

// program shows what a real program draws.
func program(p place, cols, rows int, shown string, command ...string) *browser.Tab {
	path, err := exec.LookPath(command[0])
	if err != nil {
		p.t.Skipf("%s is not installed", command[0])
	}
	dir := p.t.TempDir()
	mc := filepath.Join(dir, ".config", "mc")
	require.NoError(p.t, os.MkdirAll(mc, 0o700))
	ini := []byte("[Layout]\nfree_space=false\n")
	require.NoError(p.t, os.WriteFile(filepath.Join(mc, "ini"), ini, 0o600))
	s := session("p-1", "/home/ada/src/shop", command[0], command[1:]...)
	s.Cols, s.Rows = cols, rows
	g := serve(p.t, auth.RoleOwner, "", s)
	cmd := exec.CommandContext(p.t.Context(), path, command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "HOME="+dir)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	require.NoError(p.t, err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		chunk := make([]byte, 4096)
		for {
			n, err := tty.Read(chunk)
			if err != nil {
				return
			}
			g.print("p-1", "%s", chunk[:n])
		}
	}()
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		<-over
	})
	return shows(p.open(g, "s=p-1"), shown)
}

// converses shows a coding agent's conversation; press opens it where the screen has its place.
func converses(p place, press string, asks bool) *browser.Tab {
	g := serve(p.t, auth.RoleOwner, "", claude(), vim(), session("bash-1", "/home/ada", "bash"))
	g.print("claude-1", "\x1b[38;5;174m✻\x1b[m \x1b[1mClaude Code\x1b[m\r\n\r\n"+
		"> add apples to the list and run the tests\r\n\r\n"+
		"\x1b[32m●\x1b[m I will add it in main.go and run the suite.\r\n\r\n"+
		"\x1b[32m●\x1b[m Update(main.go)\r\n  └ 1 line changed\r\n")
	aConversation(g)
	if asks {
		g.addRecords("claude-1", approval("t3", "go test -race ./..."), questions("t4"), state(protocol.ChatApproval))
	}
	b := p.open(g, "s=claude-1")
	if press != "" {
		b.Press(press)
	}
	b.WaitPart(".said", "trying again")
	if asks {
		b.WaitFor(browser.Button("Allow once") + "?.disabled === false")
	}
	return b
}

// looksBack shows older output, or the whole of long lines, or what a search found.
func looksBack(p place, how string) *browser.Tab {
	s := session("go-1", "/home/ada/src/shop", "go", "test", "-v", "./...")
	s.Cols, s.Rows = 120, 30
	g := serve(p.t, auth.RoleOwner, "", s, session("bash-1", "/home/ada", "bash"))
	for i := range 300 {
		g.print("go-1", "=== RUN   TestOrder%d\r\n--- \x1b[32mPASS\x1b[m: TestOrder%d (0.0%ds) \x1b[2m"+
			"shop/orders/order_test.go:%d: the order is sent to the customer, twice\x1b[m\r\n",
			i, i, i%10, i)
	}
	b := p.open(g, "s=go-1")
	b.WaitFor(inView + `.some((r) => r.includes('TestOrder299'))`)
	switch how {
	case "wrap":
		b.Press("Wrap lines")
		b.WaitFor(`document.querySelector('.sheet .line')`)
	case "find":
		b.Press("Find")
		b.WaitFor(`document.activeElement.closest('.finder')`)
		b.RunSteps(browser.Keys("TestOrder17"), browser.Keys("\r"))
		b.WaitFor(`document.querySelector('.hit')`)
	default:
		scrollBack(b, 3000, `document.querySelector('.past .row')`)
	}
	return b
}

// replays shows the middle of a recording.
func replays(p place) *browser.Tab {
	b := p.open(serveOn(p.t, auth.RoleOwner, "", withRecords(shop()), vim()), "")
	b.WaitFor(`document.querySelector('.records a')`)
	visit(b, "r=r-1")
	b.Press("input ›")
	b.WaitPart(".says.input", "make test")
	return b
}

func listsMany(p place) *browser.Tab {
	b := p.open(serve(p.t, auth.RoleOwner, "", many(10_000)...), "")
	b.WaitFor(rows + " === 200 && " + field)
	return b
}
