package browser_test

import (
	"bufio"
	"crypto/ed25519"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	door "terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
)

func vim() *protocol.SessionInfo {
	return session("vim-1", "/home/ada/src/shop", "/usr/bin/vim", "main.go")
}

// asking is a session in which an agent asks for the keyboard.
func asking(agent, reason string, level protocol.Level) *protocol.SessionInfo {
	s := session("psql-1", "/home/ada/src/shop", "psql", "orders")
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = agent, reason, level
	return s
}

func drive(s *protocol.SessionInfo) {
	s.Keyboard = protocol.Keyboard{
		Holder: protocol.HolderAgent, AgentName: "claude", Level: protocol.LevelDrive, Epoch: 4, ExpiresAt: time.Now().Add(time.Hour).UnixMilli(),
	}
}

func never(s *protocol.SessionInfo) {
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = "", "", ""
}

func TestThePageShowsTheListAndALiveSession_Client(t *testing.T) {
	t.Parallel()
	bash := session("bash-1", "/home/ada", "bash")
	bash.IdleMs = 12 * 60_000
	dark := session("ssh-1", "/home/ada", "ssh", "bastion")
	dark.Blackout = &protocol.Hidden{Why: protocol.BlackoutPassword, Secret: "hard"}
	ended := session("npm-1", "/home/ada/src/web", "npm", "run", "build")
	ended.State, ended.ExitCode = protocol.StateExited, 2
	driven := vim()
	drive(driven)
	g := serve(t, auth.RoleViewer, "", driven, bash, dark, ended)
	g.print("vim-1", "\x1b[31mpackage\x1b[m main\r\n")
	b := openPage(g)
	require.Equal(t, g.url+"/", browser.JS[string](b, "location.href"), "the code is gone from the address bar")
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 4`)
	for _, want := range []string{
		"vim main.go ~/src/shop", `claude drives \d+ min left`, `bash ~ quiet 1\d min`, "ssh bastion ~ password asked", "npm run build ~/src/web exited 2",
	} {
		require.Regexp(t, want, browser.JS[string](b, browser.Text(".sessions")))
	}
	browser.JS[bool](b, `document.querySelector('a[href="#s=vim-1"]').click(), true`)
	b.WaitFor(`document.querySelector('.session .row')?.textContent === 'package main'`)
	require.Regexp(t, `^claude drives \d+ min left$`, browser.JS[string](b, browser.Text(".stage .tag")))
	g.print("vim-1", "\r\nfunc main() {}")
	b.WaitFor(`document.querySelectorAll('.session .row')[2].textContent === 'func main() {}'`)
	g.print("vim-1", "\r\nnext")
	wait(g, func(m *protocol.Ack) bool { return m.Seq == 3 })
	require.Equal(t, 0.0, browser.JS[float64](b, `[...document.querySelectorAll('button:not(.plain)')].filter((b) => b.checkVisibility()).length`), "a viewer sees no button that it may not use")
	b.WaitFor(`document.querySelector('[aria-live=polite] p')`)
	require.Contains(t, browser.JS[string](b, `document.querySelector('.session [aria-live]').textContent`), "func main() {}")
}

func TestThePageTakesBack_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	b := openPage(g)
	b.WaitFor(browser.Button("Take back"))
	g.change("vim-1", drive)
	b.WaitFor(`document.querySelector('.take.green')`)
	b.Press("Take back")
	m := wait(g, anything[*protocol.ControlDecide])
	require.False(t, m.Grant)
	require.Equal(t, "vim-1", m.SessionID)
	b.WaitFor(browser.Text(".log") + ".includes('Taken back')")

	g.freezeLinks() // what is sent on the socket now is lost
	b.Press("Take back")
	m = wait(g, anything[*protocol.ControlDecide])
	require.False(t, m.Grant, "by a second connection")
}

func TestThePageRefuses_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "look up the failed order", protocol.LevelDrive))
	g.print("psql-1", "orders=# select count(*) from orders;\r\n count\r\n-------\r\n     3\r\n")
	b := openPage(g)
	b.WaitFor(browser.Text(".question") + ".includes('codex asks to drive psql orders')")
	b.WaitFor(browser.Text(".question .screen") + ".includes('select count(*)')")
	require.Contains(t, browser.JS[string](b, browser.Text(".question")), "“look up the failed order”")
	require.Contains(t, browser.JS[string](b, browser.Text(".question")), "~/src/shop · asked ")
	b.WaitFor(`document.title.startsWith('(1) codex asks')`)
	require.Equal(t, "alertdialog BODY", browser.JS[string](b, `document.querySelector('.question').getAttribute('role') + ' ' + document.activeElement.tagName`),
		"it takes the focus from nobody")
	b.RunSteps(chromedp.KeyEvent("\x1b"))
	b.Press("Refuse")
	m := wait(g, anything[*protocol.ControlDecide])
	require.Equal(t, []any{false, true, "codex"}, []any{m.Grant, m.Refuse, m.AgentName}, "it takes the keyboard from nobody")
	require.Zero(t, count[*protocol.ControlDecide](g), "Esc refuses nothing")
	g.change("psql-1", never)
	b.WaitFor(browser.AnsweredScript("you refused"))
}

// A button that has just appeared, or moved, may be under a finger that meant something else.
func TestButtonsAreDead_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("codex", "", protocol.LevelDrive))
	b := openPage(g)
	b.WaitFor(browser.Button("Refuse"))
	b.WaitFor(browser.Button("Refuse") + ".disabled === false")
	browser.JS[bool](b, `window.lived = [], new MutationObserver(() => {
		for (const q of document.querySelectorAll('.question:not(.seen)')) {
			q.classList.add('seen');
			const began = performance.now();
			const buttons = [...document.querySelectorAll('.question button')];
			lived.push(buttons.every((b) => b.disabled));
			const look = () => buttons.some((b) => !b.disabled) ? lived.push(performance.now() - began) : requestAnimationFrame(look);
			requestAnimationFrame(look);
		}
	}).observe(document.querySelector('.questions'), {childList: true}), true`)
	g.change("vim-1", func(s *protocol.SessionInfo) {
		s.Keyboard.Asking, s.Keyboard.AskingLevel = "claude", protocol.LevelType
	})
	b.WaitFor(`lived.some((v) => typeof v === 'number')`)
	lived := browser.JS[[]any](b, "lived")
	require.Equal(t, true, lived[0], "all buttons are dead as a question appears")
	require.Greater(t, lived[len(lived)-1], 280.0, "for as long")
}

func TestThePageGives_Client(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		press string
		asks  protocol.Level
		want  protocol.Level
	}{{"Let it drive 10 min", protocol.LevelDrive, protocol.LevelDrive}, {"Text only", protocol.LevelDrive, protocol.LevelType}, {"Let it write 10 min", protocol.LevelType, protocol.LevelType}} {
		s := asking("ä b", "milk", c.asks)
		g := serve(t, auth.RoleOwner, "", s)
		b := openPage(g)
		b.Press(c.press)
		m := wait(g, anything[*protocol.ControlDecide])
		require.True(t, m.Grant)
		require.Equal(t, c.want, m.Level)
		require.Equal(t, int64(600), m.Seconds)
		require.Equal(t, "ä b", m.AgentName)
		require.Equal(t, uint64(3), m.Epoch)
		require.InDelta(t, time.Now().UnixMilli(), m.At, 600_000)
		require.True(t, ed25519.Verify(g.key, m.Signed(s.StartedAt), m.SignatureB64), "signed by the page's key")
		g.change("psql-1", func(s *protocol.SessionInfo) { never(s); drive(s) })
		b.WaitFor(browser.AnsweredScript("you gave ä b 10 min"))
	}
}

func TestAnotherOneAnswers_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim(), asking("claude", "", protocol.LevelDrive))
	b := openPage(g)
	b.WaitFor(`document.querySelector('.question')`)
	g.change("psql-1", func(s *protocol.SessionInfo) { never(s); drive(s) })
	b.WaitFor(browser.AnsweredScript("answered elsewhere: claude may type"))
	b.WaitFor(browser.Button("Let it") + " === undefined")
	b.WaitFor(`!document.querySelector('.question')`)
}

// A button that a person is about to press does not change its meaning.
func TestAQuestionThatChangesIsANewOne_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", asking("codex", "count the orders", protocol.LevelType))
	b := openPage(g)
	b.WaitFor(browser.Button("Let it") + "?.disabled === false")
	require.Equal(t, "undefined", browser.JS[string](b, "typeof "+browser.Button("Text only")))
	browser.JS[bool](b, "window.old = "+browser.Button("Let it")+", true")
	g.change("psql-1", func(s *protocol.SessionInfo) {
		s.Keyboard.AskingReason, s.Keyboard.AskingLevel, s.Keyboard.Epoch = "drop the orders", protocol.LevelDrive, 5
	})
	b.WaitFor(browser.AnsweredScript("asked anew"))
	b.WaitFor(browser.Text(".question:not(.answered)") + ".includes('drop the orders')")
	browser.JS[bool](b, "old.click(), true")
	b.Press("Text only")
	m := wait(g, anything[*protocol.ControlDecide])
	require.Equal(t, uint64(5), m.Epoch)
	require.Equal(t, protocol.LevelType, m.Level)
	require.Zero(t, count[*protocol.ControlDecide](g), "the button of the other question does nothing")
}

// Whatever a program or an agent calls itself is shown as it is.
func TestHostileWordsAreText_Client(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror="faults.push(1)"><script>faults.push(2)</script>`
	s := session("x-1", "/home/ada/"+evil, "x", evil)
	s.Title, s.Keyboard.AgentName, s.Keyboard.Holder = evil, evil, protocol.HolderAgent
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = "<b>codex</b>", evil, protocol.LevelDrive
	g := serve(t, auth.RoleOwner, "", s)
	g.print("x-1", "%s\r\n\x1b]8;;javascript:faults.push(3)\x1b\\link\x1b]8;;\x1b\\ \x1b]2;%s\x1b\\", evil, evil)
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=x-1', true`)
	b.WaitFor(`document.querySelector('.session .row')?.textContent.startsWith('<img')`)
	require.Equal(t, 0.0, browser.JS[float64](b, `document.querySelectorAll('img, script:not([src]), b, .screen a').length`))
	for _, selector := range []string{".question", ".sessions", ".session h2", ".stage .tag"} {
		require.Contains(t, browser.JS[string](b, browser.Text(selector)), "<img src=x", selector)
	}
	require.Equal(t, "link", browser.JS[string](b, `[...document.querySelectorAll('.session .row')].map((r) => r.textContent.trim()).find((r) => r.startsWith('link'))`))
}

func TestAHiddenTabStopsTheStream_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "vim-1", vim())
	g.print("vim-1", "one")
	b := openPage(g)
	b.WaitFor(browser.Text(".session .row") + " === 'one'")
	hide := func(on string) {
		browser.JS[bool](b, `Object.defineProperty(document, 'hidden', {value: `+on+`, configurable: true}), document.dispatchEvent(new Event('visibilitychange')), true`)
	}
	wait(g, anything[*protocol.View])
	hide("true")
	wait(g, anything[*protocol.Unview])
	g.print("vim-1", " two")
	hide("false")
	wait(g, anything[*protocol.View])
	b.WaitFor(browser.Text(".session .row") + " === 'one two'")
}

func TestThePageComesBackToTheSameScreen_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	g.print("vim-1", "one")
	b := openPage(g)
	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(browser.Text(".session .row") + " === 'one'")
	g.endLinks(true)
	b.WaitFor(browser.Text(".trip") + " === 'lost, trying again'")
	b.WaitFor(browser.Text(".session footer") + `.match(/as of \d\d:\d\d:\d\d/)`)
	require.True(t, browser.JS[bool](b, `document.querySelector('.frame').classList.contains('stale')`))
	g.print("vim-1", " two")
	g.endLinks(false)
	b.WaitFor(browser.Text(".session .row") + " === 'one two'")
	b.WaitFor(`document.querySelector('.trip.connected') && !document.querySelector('.stale')`)
	require.Regexp(t, `^connected, \d+ ms$`, browser.JS[string](b, browser.Text(".trip")))

	// A reload enters with the key that the browser keeps, without a link.
	b.RunSteps(chromedp.Reload())
	b.WaitFor(browser.Text(".session .row") + " === 'one two'")

	g.door.Close()
	b.WaitFor(browser.Text(".trip") + ".startsWith('closed: the page was closed')")
}

// If the server has no room for a page, the page says so, and enters once there is room.
func TestAPageWaitsForAFullServer_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	var full atomic.Bool
	full.Store(true)
	o, err := g.door.Open(door.Terms{
		Role: auth.RoleViewer, Expires: time.Now().Add(time.Hour), Dial: g.dial, Count: func(*http.Request) error {
			if full.Load() {
				return errors.New("64 connections use this token already")
			}
			return nil
		},
	})
	require.NoError(t, err)
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url + "/#c=" + o.Code()))
	b.WaitFor(browser.Text(".door") + " === '64 connections use this token already: trying again'")
	full.Store(false)
	b.WaitFor(`document.querySelector('.trip.connected')`)
}

func TestThePageByKeyboardAlone_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	b := openPage(g)
	b.WaitFor(`document.querySelector('.sessions a')`)
	focus := `document.activeElement.textContent`
	tabTo := func(says string) {
		for range 20 {
			if strings.HasPrefix(browser.JS[string](b, focus), says) {
				return
			}
			b.RunSteps(chromedp.KeyEvent("\t"))
		}
		require.Fail(t, "Tab does not come to "+says)
	}
	tabTo("vim main.go")
	b.RunSteps(chromedp.KeyEvent("\r"))
	b.WaitFor(`document.activeElement.tagName === 'H2'`)
	tabTo("Take back")
	require.NotEqual(t, "none", browser.JS[string](b, `getComputedStyle(document.activeElement).outlineStyle`))
	b.RunSteps(chromedp.KeyEvent("\r"))
	wait(g, anything[*protocol.ControlDecide])
	browser.JS[bool](b, `document.querySelector('.session > form input').focus(), true`)
	b.RunSteps(chromedp.KeyEvent("run the tests"), chromedp.KeyEvent("\r"))
	m := wait(g, anything[*protocol.Note])
	require.Equal(t, "run the tests", m.Text)
	b.WaitFor(browser.Text(".log") + ".includes('you run the tests')")
	b.Press("Hide")
	require.Equal(t, protocol.HideOn, wait(g, anything[*protocol.ControlDecide]).Hide)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser} })
	b.Press("Show")
	d := wait(g, anything[*protocol.ControlDecide])
	require.True(t, d.Hide == protocol.HideOff && ed25519.Verify(g.key, d.Signed(vim().StartedAt), d.SignatureB64))
}

// A page may hear that the screen is hidden before it hears of the epoch that this made.
func TestShowUnderAnOldEpoch_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	b := openPage(g)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser} })
	g.setEpoch(4)
	b.Press("Show")
	require.Equal(t, uint64(3), wait(g, anything[*protocol.ControlDecide]).Epoch)
	g.change("vim-1", func(s *protocol.SessionInfo) { s.Keyboard.Epoch = 4 })
	m := wait(g, anything[*protocol.ControlDecide])
	require.True(t, m.Epoch == 4 && ed25519.Verify(g.key, m.Signed(vim().StartedAt), m.SignatureB64))
	g.setEpoch(6)
	b.Press("Show")
	wait(g, anything[*protocol.ControlDecide])
	g.change("vim-1", func(s *protocol.SessionInfo) { drive(s); s.Keyboard.Epoch = 6 })
	b.WaitFor(browser.Text(".log") + ".includes('Not shown: look again')")
	require.Zero(t, count[*protocol.ControlDecide](g), "an agent has the keyboard now")
}

// All text of the page has a contrast of 4.5 to its background (WCAG 2), in both themes.
func TestWordsCanBeRead_Client(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dark", "light"} {
		g := desk(t, true)
		b := openPage(g, scheme(name))
		browser.JS[bool](b, `location.hash = 's=vim-1', true`)
		b.WaitFor(browser.Button("Refuse") + "?.disabled === false && document.querySelector('.frame.driven')")
		require.Empty(t, browser.JS[[]string](b, faint), name)
	}
}

// faint lists the texts of a page that lack contrast.
const faint = `import(document.querySelector('script[src$="app.js"]').src.replace('app.js', 'colors.js')).then(({contrastOf}) => {
			const hex = (c) => '#' + c.match(/[\d.]+/g).slice(0, 3).map((v) => Math.round(v).toString(16).padStart(2, '0')).join('');
			const behind = (e) => {
				for (; e; e = e.parentElement) {
					const c = getComputedStyle(e).backgroundColor;
					if (c !== 'rgba(0, 0, 0, 0)') return c;
				}
				return 'rgb(255, 255, 255)';
			};
			return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('.screen, .unseen, script') &&
				[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
				const n = contrastOf(hex(getComputedStyle(e).color), hex(behind(e)));
				return n < 4.5 ? e.textContent + ' ' + n : '';
			}).filter(Boolean);
		})`

// TestFirstPaint_Client bounds what a phone loads before it shows a session.
func TestFirstPaint_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "vim-1", vim())
	g.print("vim-1", "one")
	var mu sync.Mutex
	var requests []string
	size := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &countedWriter{ResponseWriter: w}
		g.door.ServeHTTP(counted, r)
		mu.Lock()
		defer mu.Unlock()
		requests, size = append(requests, r.URL.Path), size+counted.size
	}))
	t.Cleanup(s.Close)
	g.url = s.URL
	b := openPage(g)
	b.WaitFor(browser.Text(".session .row") + " === 'one'")
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, len(requests), 12, requests)
	require.LessOrEqual(t, size, 60<<10)
	t.Logf("%d bytes compressed, in the answers to %q", size, requests)
}

// countedWriter counts the bytes of bodies.
type countedWriter struct {
	http.ResponseWriter
	size int
}

func (w *countedWriter) Write(b []byte) (int, error) {
	w.size += len(b)
	return w.ResponseWriter.Write(b)
}

// Hijack lets a WebSocket take the connection.
func (w *countedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.ResponseWriter.(http.Hijacker).Hijack()
}
