package browser_test

import (
	"fmt"

	"github.com/chromedp/chromedp"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/protocol"
)

// connected is a script that reports whether the page shows that it is connected.
const connected = `document.querySelector('.trip.connected')`

// The windows of phones.
var (
	phone      = chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)
	smallPhone = chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch)
	sidePhone  = chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile, chromedp.EmulateTouch)
	reload     = chromedp.Reload()
)

// visit follows a link within the page.
func visit(b *browser.Tab, hash string) {
	b.T.Helper()
	b.Eval("location.hash = " + browser.Quote(hash))
}

// resize changes the window, and waits until the page has its width.
func resize(b *browser.Tab, width, height int64) {
	b.T.Helper()
	b.RunSteps(chromedp.EmulateViewport(width, height))
	b.WaitFor(fmt.Sprintf("innerWidth === %d", width))
}

// next waits for a page's message of a type, and takes it.
func next[M protocol.Message](g *gateway) M {
	g.t.Helper()
	return wait(g, func(M) bool { return true })
}

// ask lets an agent ask for the keyboard of a session.
func (g *gateway) ask(id, agent, reason string, level protocol.Level) {
	g.change(id, func(s *protocol.SessionInfo) {
		s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = agent, reason, level
	})
}

// decided ends a session's question by a decision.
func (g *gateway) decided(id string, d protocol.Decision) {
	g.change(id, func(s *protocol.SessionInfo) {
		never(s)
		if d.Granted {
			drive(s)
		}
		s.Decided = &d
	})
}

// setTyped sets what an agent typed last, as the next rows say.
func (g *gateway) setTyped(typed *protocol.AgentTyped) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.typing = typed
}
