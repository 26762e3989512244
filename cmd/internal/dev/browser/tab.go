// Package browser drives headless Chromium for tests, and holds the tests of the page. Only tests
// import it.
package browser

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Patience bounds every wait for the browser; nothing is measured by it.
const Patience = 3 * time.Minute

// ChromiumPath returns Chromium's path: that of its headless shell, if it is installed, which draws
// the same without windows and takes a third of the time. It skips the test without Chromium, and
// unless make clients has set CLIENTS. A test whose preparations take time calls it before them.
func ChromiumPath(t *testing.T) string {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("Chromium is not installed: apt-get install chromium-headless-shell")
	return ""
}

// Tab is a tab of a browser.
type Tab struct {
	T   *testing.T
	Ctx context.Context //nolint:containedctx // chromedp's tab is its context
}

// TrustKey makes a browser trust a certificate, by the base64 of the SHA-256 of its key.
func TrustKey(key string) chromedp.ExecAllocatorOption {
	return chromedp.Flag("ignore-certificate-errors-spki-list", key)
}

// Chromium opens an empty tab in a window of a laptop's size. Its browser ends with the test.
func Chromium(t *testing.T, more ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	// Not the test's own context: the cleanups of a test may still use the browser.
	ctx, end := newBrowser(context.WithoutCancel(t.Context()), ChromiumPath(t), more...)
	t.Cleanup(end)
	return prepareTab(t, ctx)
}

// newBrowser returns the context of a browser, which starts with its first step.
func newBrowser(
	ctx context.Context, path string, more ...chromedp.ExecAllocatorOption,
) (_ context.Context, end func()) {
	// chromedp chooses the data folder, since it ends the processes that outlive Chromium and would
	// write there.
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(Patience),
		chromedp.WindowSize(1280, 800), chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	ctx, freeAllocator := chromedp.NewExecAllocator(ctx, append(options, more...)...)
	ctx, closeBrowser := chromedp.NewContext(ctx)
	return ctx, func() {
		closeBrowser()
		freeAllocator()
	}
}

// prepareTab gives a new tab the size of a laptop's window, and the script that remembers answers.
func prepareTab(t *testing.T, ctx context.Context) *Tab { //nolint:revive // t comes first in helpers
	t.Helper()
	b := &Tab{t, ctx}
	b.RunSteps(chromedp.EmulateViewport(1280, 800))
	b.RunBeforeScripts(remember)
	return b
}

// RunSteps takes steps that must succeed.
func (b *Tab) RunSteps(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	require.NoError(b.T, chromedp.Do(b.Ctx, steps...))
}

// RunBeforeScripts runs a script in every page that the tab opens, before the page's own scripts.
func (b *Tab) RunBeforeScripts(script string) {
	b.T.Helper()
	params := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	_, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, params)
	require.NoError(b.T, err)
}

// JS returns the value of a script, or of its promise.
func JS[T any](b *Tab, script string) T {
	b.T.Helper()
	got, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(b.T, err, "%.500s", script)
	return got
}

// Eval runs a script, and ignores its value.
func (b *Tab) Eval(script string) {
	b.T.Helper()
	JS[bool](b, script+", true")
}

// Is reports whether the value of a script is truthy.
func (b *Tab) Is(script string) bool {
	b.T.Helper()
	return JS[bool](b, "!!("+script+")")
}

// Call returns what a function of the page returns for an argument.
func Call[T any](b *Tab, function string, arg any) T {
	b.T.Helper()
	argument, err := json.Marshal(arg)
	require.NoError(b.T, err)
	return JS[T](b, "("+function+")("+string(argument)+")")
}

// WaitFor waits until the value of a script is truthy.
func (b *Tab) WaitFor(script string) {
	b.T.Helper()
	poll := chromedp.Poll[bool]("!!("+script+")", chromedp.WithPollingTimeout(Patience))
	if _, err := chromedp.Run(b.Ctx, poll); err != nil {
		text, _ := chromedp.Run(b.Ctx, chromedp.Evaluate[string]("document.body.innerText"))
		require.NoError(b.T, err, "%s\nthe page:\n%s", script, text)
	}
}

// WaitText waits until an element has this text, as Text gives it.
func (b *Tab) WaitText(selector, want string) {
	b.T.Helper()
	b.WaitFor(Text(selector) + " === " + Quote(want))
}

// WaitPart waits until the text of an element, as Text gives it, contains a part.
func (b *Tab) WaitPart(selector, part string) {
	b.T.Helper()
	b.WaitFor(Text(selector) + ".includes(" + Quote(part) + ")")
}

// WaitAnswered waits until a question or a card shows this result, or did.
func (b *Tab) WaitAnswered(result string) {
	b.T.Helper()
	b.WaitFor("[...answers.values()].includes(" + Quote(result) + ")")
}

// Quote returns a JavaScript string.
func Quote(s string) string {
	script, err := json.Marshal(s)
	if err != nil {
		panic(err) // of a string
	}
	return string(script)
}

// Button returns a script that finds a visible button by the beginning of its label.
func Button(label string) string {
	return `[...document.querySelectorAll('button')]` +
		`.find((b) => b.checkVisibility() && b.textContent.startsWith('` + label + `'))`
}

// Press waits until a button is enabled, and clicks it in the same step: a button may move at any
// time, and ignores clicks for a moment after that.
func (b *Tab) Press(label string) {
	b.T.Helper()
	b.WaitFor("((b) => b?.disabled === false && (b.click(), true))(" + Button(label) + ")")
}

// remember makes the page keep the results of answered questions and cards, which disappear after a
// few seconds.
const remember = `window.answers = new Map();
	new MutationObserver(() => {
		for (const e of document.querySelectorAll('.question.answered, .card.answered')) ` +
	`answers.set(e, e.querySelector('.result').textContent.replace(/\s+/g, ' ').trim());
	}).observe(document, {subtree: true, childList: true, characterData: true, ` +
	`attributes: true, attributeFilter: ['class']});`

// Text returns a script for the text of an element, with each run of white space as one space. The
// text is "" without the element.
func Text(selector string) string {
	return `(document.querySelector('` + selector + `')?.innerText ?? '').replace(/\s+/g, ' ')`
}

// TabTo presses Tab until a script about the focused element is truthy.
func (b *Tab) TabTo(script string) {
	b.T.Helper()
	for range 60 {
		if b.Is(script) {
			return
		}
		b.RunSteps(Keys("\t"))
	}
	require.Fail(b.T, "Tab does not come to "+script)
}
