package browser_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/browser"
	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
)

var (
	pictures   = flag.String("pictures", "", "put pictures of the page into this directory, to be looked at")
	picturesOf = flag.String("pictures-of", "", "of TestPicturesOfThePage, only those whose names begin so")
)

// TestPicturesOfThePage takes them: go test ./cmd/internal/browser -run TestPictures -pictures DIR,
// with CLIENTS=1.
func TestPicturesOfThePage(t *testing.T) {
	if *pictures == "" {
		t.Skip("pictures are taken with -pictures DIR")
	}
	phone := func(b *browser.Tab) {
		b.RunSteps(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	}
	wide := func(b *browser.Tab) {
		b.RunSteps(chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	}
	for name, c := range map[string]struct {
		scheme, hash string
		asks         bool
		more         func(b *browser.Tab)
	}{
		"desktop-dark":        {"dark", "s=vim-1", true, func(*browser.Tab) {}},
		"desktop-light":       {"light", "s=vim-1", true, func(*browser.Tab) {}},
		"desktop-dark-lost":   {"dark", "s=vim-1", false, func(*browser.Tab) {}},
		"phone-questions":     {"dark", "", true, phone},
		"phone-list-light":    {"light", "", true, phone},
		"phone-session":       {"dark", "s=vim-1", false, phone},
		"phone-session-light": {"light", "s=vim-1", false, phone},
		"desktop-typing":      {"dark", "s=vim-1", false, func(*browser.Tab) {}},
		"phone-typing":        {"dark", "s=vim-1", false, phone},
		"phone-typing-light":  {"light", "s=vim-1", false, phone},
		"phone-typing-asked":  {"dark", "s=vim-1", true, phone},
		"wide-session":        {"dark", "s=vim-1", false, wide},
		"wide-session-light":  {"light", "s=vim-1", true, wide},
		"wide-list":           {"dark", "", true, wide},
		"wide-typing":         {"dark", "s=vim-1", false, wide},
		"wide-typing-open": {"dark", "s=vim-1", true, func(b *browser.Tab) { // its keyboard
			b.RunSteps(chromedp.EmulateViewport(844, 220, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
		}},
		"phone-typing-open": {"dark", "s=vim-1", false, func(b *browser.Tab) { // its keyboard
			b.RunSteps(chromedp.EmulateViewport(390, 500, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
		}},
	} {
		if !strings.HasPrefix(name, *picturesOf) {
			continue
		}
		g := scene(t, c.asks)
		b := openPage(g, scheme(c.scheme))
		c.more(b)
		browser.JS[bool](b, "location.hash = '"+c.hash+"', true")
		b.WaitFor(`document.querySelectorAll('.sessions li').length > 4`)
		if c.hash != "" {
			b.WaitFor(`document.querySelector('.session .row')?.textContent.includes('package')`)
		}
		if name == "desktop-dark-lost" {
			g.endLinks(true)
			b.WaitFor(`document.querySelector('.stale')`)
		}
		if strings.Contains(name, "typing") {
			b.RunSteps(command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
			b.Press("Type here")
		}
		if c.asks && strings.Contains(name, "typing") {
			b.WaitFor(browser.Button("Answer") + "?.disabled === false")
		} else if c.asks {
			b.WaitFor(browser.Button("Refuse") + ".disabled === false && " + browser.Text(".question .screen") + ".includes('count')")
		}
		browser.JS[bool](b, "new Promise((done) => setTimeout(() => done(true), 400))") // until the fade-in is over
		save(b, name)
	}
	if *picturesOf != "" {
		return
	}
	pending(t, scheme("dark"))
	past(t)
	played(t)
}

// played shows the middle of a recording.
func played(t *testing.T) {
	for name, size := range map[string][2]int64{"replay-dark": {}, "replay-light": {}, "replay-phone": {390, 844}, "replay-phone-wide": {844, 390}} {
		g := serveOn(t, nil, auth.RoleOwner, "", withRecords(shop()), vim())
		tone := "dark"
		if name == "replay-light" {
			tone = "light"
		}
		b := openPage(g, scheme(tone))
		if size[0] > 0 {
			b.RunSteps(chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateMobile, chromedp.EmulateScale(2)))
		}
		b.WaitFor(`document.querySelector('.records a')`)
		browser.JS[bool](b, "location.hash = 'r=r-1', true")
		b.Press("input ›")
		b.WaitFor(browser.Text(".says.input") + ".includes('make test')")
		browser.JS[bool](b, "new Promise((done) => setTimeout(() => done(true), 400))")
		save(b, name)
	}
}

// past shows the page while a person reads older output, on a desk and on a phone both ways up.
func past(t *testing.T) {
	for name, size := range map[string][2]int64{"history-dark": {}, "history-light": {}, "history-phone": {390, 844}, "history-phone-wide": {844, 390}, "wrapped-phone": {390, 844}} {
		s := session("go-1", "/home/ada/src/shop", "go", "test", "-v", "./...")
		s.Cols, s.Rows = 120, 30
		g := serve(t, auth.RoleOwner, "", s, session("bash-1", "/home/ada", "bash"))
		for i := range 300 {
			g.print("go-1", "=== RUN   TestOrder%d\r\n--- \x1b[32mPASS\x1b[m: TestOrder%d (0.0%ds) 世界 \x1b[2mshop/orders/order_test.go:%d: what was ordered is what was sent to the customer, twice\x1b[m\r\n", i, i, i%10, i)
		}
		tone := "dark"
		if name == "history-light" {
			tone = "light"
		}
		b := openPage(g, scheme(tone))
		if size[0] > 0 {
			b.RunSteps(chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateMobile, chromedp.EmulateScale(2)))
		}
		browser.JS[bool](b, "location.hash = 's=go-1', true")
		b.WaitFor(inView + `.some((r) => r.includes('TestOrder299'))`)
		if name == "wrapped-phone" {
			b.Press("Wrap lines")
		} else {
			browser.JS[bool](b, `document.querySelector('.session .screen').scrollTop -= 3000, true`)
			b.WaitFor(`document.querySelector('.past .row')`)
		}
		browser.JS[bool](b, "new Promise((done) => setTimeout(() => done(true), 400))")
		save(b, name)
	}
}

// scheme makes the browser prefer a dark or a light page.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

func save(b *browser.Tab, name string) {
	b.T.Helper()
	png, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	require.NoError(b.T, err)
	require.NoError(b.T, os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o600))
}

// pending shows the page while its words are compared.
func pending(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	g := serve(t, auth.RoleOwner, "")
	g.hold = make(chan struct{})
	t.Cleanup(func() { close(g.hold) })
	b := browser.Chromium(t)
	b.RunSteps(append(steps, chromedp.Navigate(g.url+"/#c="+g.opening.Code()))...)
	b.WaitFor(`document.querySelector('.words')`)
	save(b, "desktop-words")
}

// scene is a screenful of sessions of all kinds.
func scene(t *testing.T, asks bool) *gateway {
	v := vim()
	v.Cols, v.Rows, v.Title = 100, 24, "main.go (~/src/shop) - VIM"
	drive(v)
	v.Keyboard.ExpiresAt = time.Now().Add(8 * time.Minute).UnixMilli()
	v.Muted, v.LastLine = []string{"gemini"}, "-- INSERT --                 6,32          All"
	v.IdleMs = 3 * 60_000
	test := session("go-1", "/home/ada/src/shop", "go", "test", "./...")
	test.IdleMs, test.LastLine = 2000, "ok    shop/orders  0.312s"
	bash := session("bash-1", "/home/ada", "bash")
	bash.IdleMs, bash.LastLine = 12*60_000, "ada@desk:~$"
	ssh := session("ssh-1", "/home/ada", "ssh", "bastion")
	ssh.Blackout = &protocol.Hidden{Why: protocol.BlackoutPassword, Secret: "hard"}
	npm := session("npm-1", "/home/ada/src/web", "npm", "run", "build")
	npm.State, npm.ExitCode = protocol.StateExited, 2
	all := []*protocol.SessionInfo{v, test, bash, ssh, npm}
	if asks {
		q := asking("codex", "look up the failed order and show its rows", protocol.LevelDrive)
		q.Keyboard.AskingSince = time.Now().Add(-40 * time.Second).UnixMilli()
		all = append(all, q)
	}
	g := serve(t, auth.RoleOwner, "", all...)
	g.print("vim-1", "\x1b[38;5;244m  1 \x1b[94mpackage\x1b[m main\r\n\x1b[38;5;244m  2\r\n  3 \x1b[94mimport\x1b[m \x1b[92m\"fmt\"\x1b[m\r\n"+
		"\x1b[38;5;244m  4\r\n  5 \x1b[94mfunc\x1b[m main() {\r\n\x1b[38;5;244m  6 \x1b[m    list := []\x1b[94mstring\x1b[m{\x1b[92m\"bread\"\x1b[m, \x1b[92m\"apples\"\x1b[m}\r\n"+
		"\x1b[38;5;244m  7 \x1b[m    \x1b[94mfor\x1b[m i, item := \x1b[94mrange\x1b[m list {\r\n\x1b[38;5;244m  8 \x1b[m        fmt.Println(i, item) \x1b[90m// 世界 ✓ ┌─┬─┐\x1b[m\r\n"+
		"\x1b[38;5;244m  9 \x1b[m    }                         \x1b[90m// \x1b[m\x1b[7m inverse \x1b[m \x1b[41;97m red \x1b[m └─┴─┘\r\n\x1b[38;5;244m 10 \x1b[m}\r\n"+
		"\x1b[94m~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\x1b[m\r\n\x1b[33m-- INSERT --\x1b[m                                              6,32          All\x1b[6;40H")
	if asks {
		g.print("psql-1", "orders=# select count(*) from orders\r\norders-#   where state = 'failed';\r\n count\r\n-------\r\n     3\r\n(1 row)\r\n\r\norders=# ")
	}
	return g
}
