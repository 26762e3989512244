package browser_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// static is where the page's files are.
const static = "../../../gateway/page/static"

// patience bounds every wait for the browser; nothing is measured by it.
const patience = 30 * time.Second

// clients skips a test where no browser is wanted; CLIENTS is set by make clients.
func clients(t *testing.T) string {
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

// tab is a tab of a browser of its own.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// chromium opens an empty tab of the size of a laptop's window, in a browser that ends with the test.
func chromium(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(clients(t)), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 800), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("force-color-profile", "srgb"))
	// What a test looks at when it has ended comes before the browser's end.
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t, ctx}
	b.do(chromedp.EmulateViewport(1280, 800))
	return b
}

// do does what must succeed.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// js is what a script comes to, or what its promise does.
func js[T any](b *tab, script string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, "%.500s", script)
	return got
}

// call is what a function of the page comes to for an argument.
func call[T any](b *tab, function string, arg any) T {
	b.t.Helper()
	argument, err := json.Marshal(arg)
	require.NoError(b.t, err)
	return js[T](b, "("+function+")("+string(argument)+")")
}

// until waits for a script to come to something.
func (b *tab) until(script string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("!!("+script+")", chromedp.WithPollingTimeout(patience)))
	if err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		require.NoError(b.t, err, "%s\nthe page:\n%s", script, text)
	}
}

// bare serves the page's files, and a page that has only a screen.
func bare(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /app/", http.StripPrefix("/app/", http.FileServer(http.Dir(static))))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><link rel="stylesheet" href="/app/screen.css"><div class="screen" id="s"></div>`))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}
