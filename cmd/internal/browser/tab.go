// Package browser drives headless Chromium for tests; those of the page are here. Only tests import it.
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
const Patience = time.Minute

// Installed is Chromium's path. It skips a test where no browser is wanted; CLIENTS is set by make clients. A test whose preparations
// take time calls it before them.
func Installed(t *testing.T) string {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: apt-get install chromium")
	}
	return path
}

// Tab is a tab of a browser of its own.
type Tab struct {
	T   *testing.T
	Ctx context.Context //nolint:containedctx // chromedp's tab is its context
}

// Trusting has a browser believe a certificate, by the base64 of the SHA-256 of its key.
func Trusting(key string) chromedp.ExecAllocatorOption {
	return chromedp.Flag("ignore-certificate-errors-spki-list", key)
}

// Chromium opens an empty tab of the size of a laptop's window, in a browser that ends with the test.
func Chromium(t *testing.T, more ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	// The folder of its data is left to chromedp, which ends the processes that outlive Chromium and would write there.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Installed(t)), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(Patience), chromedp.WindowSize(1280, 800), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("force-color-profile", "srgb"))
	options = append(options, more...)
	// What a test looks at when it has ended comes before the browser's end.
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Tab{t, ctx}
	b.Do(chromedp.EmulateViewport(1280, 800))
	b.Before(remember)
	return b
}

// Do does what must succeed.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	require.NoError(b.T, chromedp.Do(b.Ctx, steps...))
}

// Before has a script run in every page that the tab opens, before the page's own.
func (b *Tab) Before(script string) {
	b.T.Helper()
	_, err := chromedp.Call(b.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	require.NoError(b.T, err)
}

// JS is what a script comes to, or what its promise does.
func JS[T any](b *Tab, script string) T {
	b.T.Helper()
	got, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(b.T, err, "%.500s", script)
	return got
}

// Call is what a function of the page comes to for an argument.
func Call[T any](b *Tab, function string, arg any) T {
	b.T.Helper()
	argument, err := json.Marshal(arg)
	require.NoError(b.T, err)
	return JS[T](b, "("+function+")("+string(argument)+")")
}

// Until waits for a script to come to something.
func (b *Tab) Until(script string) {
	b.T.Helper()
	_, err := chromedp.Run(b.Ctx, chromedp.Poll[bool]("!!("+script+")", chromedp.WithPollingTimeout(Patience)))
	if err != nil {
		text, _ := chromedp.Run(b.Ctx, chromedp.Evaluate[string]("document.body.innerText"))
		require.NoError(b.T, err, "%s\nthe page:\n%s", script, text)
	}
}

// Button is a script for a button that is seen, by how its words begin.
func Button(says string) string {
	return `[...document.querySelectorAll('button')].find((b) => b.checkVisibility() && b.textContent.startsWith('` + says + `'))`
}

// Press waits for a button to take a click, and clicks in the same step: a button that moves takes none for a moment, and may move at
// any time.
func (b *Tab) Press(says string) {
	b.T.Helper()
	b.Until("((b) => b?.disabled === false && (b.click(), true))(" + Button(says) + ")")
}

// remember has the page keep what the questions and cards that were answered said: they leave a few seconds later, whoever looks.
const remember = `window.answers = new Map();
	new MutationObserver(() => {
		for (const e of document.querySelectorAll('.question.answered, .card.answered')) answers.set(e, e.querySelector('.result').textContent.replace(/\s+/g, ' ').trim());
	}).observe(document, {subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['class']});`

// Answered is a script for whether a question or a card was answered, and said so in these words, now or before.
func Answered(says string) string {
	script, err := json.Marshal(says)
	if err != nil {
		panic(err) // of a string
	}
	return "[...answers.values()].includes(" + string(script) + ")"
}

// Text is a script for the text of an element, its white space made even; "" without the element.
func Text(selector string) string {
	return `(document.querySelector('` + selector + `')?.innerText ?? '').replace(/\s+/g, ' ')`
}
