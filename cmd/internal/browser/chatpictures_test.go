package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"terminalproxy/cmd/internal/browser"
	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
)

// TestPicturesOfTheConversation takes them, as TestPicturesOfThePage does.
func TestPicturesOfTheConversation(t *testing.T) {
	if *pictures == "" {
		t.Skip("pictures are taken with -pictures DIR")
	}
	for name, c := range map[string]struct {
		scheme string
		size   [2]int64
		hash   string
		press  string
		asks   bool
	}{
		"chat-dark":           {"dark", [2]int64{}, "s=claude-1", "", true},
		"chat-light":          {"light", [2]int64{}, "s=claude-1", "", true},
		"chat-working":        {"dark", [2]int64{}, "s=claude-1", "", false},
		"chat-elsewhere":      {"dark", [2]int64{}, "s=vim-1", "", true},
		"chat-tablet":         {"light", [2]int64{900, 700}, "s=claude-1", "Chat", true},
		"chat-phone-list":     {"dark", [2]int64{390, 844}, "", "", true},
		"chat-phone-terminal": {"dark", [2]int64{390, 844}, "s=claude-1", "", true},
		"chat-phone":          {"dark", [2]int64{390, 844}, "s=claude-1", "Chat", true},
		"chat-phone-light":    {"light", [2]int64{390, 844}, "s=claude-1", "Chat", true},
		"chat-phone-working":  {"dark", [2]int64{390, 844}, "s=claude-1", "Chat", false},
	} {
		v := vim()
		g := serve(t, auth.RoleOwner, "", claude(), v, session("bash-1", "/home/ada", "bash"))
		g.print("claude-1", "\x1b[1m✻ Claude Code\x1b[m\r\n\r\n> add apples to the list and run the tests\r\n\r\n● I will add it in main.go and run the suite.\r\n\r\n● Update(main.go)\r\n  ⎿ 1 line changed\r\n")
		g.print("vim-1", "package main\r\n")
		aConversation(g)
		if c.asks {
			g.addRecords("claude-1", approval("t3", "go test -race ./..."), questions("t4"), state(protocol.ChatApproval))
		}
		b := openPage(g, scheme(c.scheme))
		if c.size[0] > 0 {
			b.RunSteps(chromedp.EmulateViewport(c.size[0], c.size[1], chromedp.EmulateMobile, chromedp.EmulateScale(2)))
		}
		browser.JS[bool](b, "location.hash = '"+c.hash+"', true")
		if c.press != "" {
			b.Press(c.press)
			b.WaitFor(browser.Text(".said") + ".includes('trying again')")
		}
		if c.asks {
			b.WaitFor(browser.Button("Allow once") + "?.disabled === false")
		}
		browser.JS[bool](b, "new Promise((done) => setTimeout(() => done(true), 600))") // until the fade-in is over
		save(b, name)
	}
}
