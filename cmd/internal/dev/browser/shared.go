package browser

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// shared is the browser of all tabs that OpenTab opens: a start of Chromium costs more than most
// tests of a page.
var shared struct {
	mu  sync.Mutex
	ctx context.Context //nolint:containedctx // chromedp's browser is its context
	end func()
}

// RunTests runs the tests of a package that calls OpenTab, ends their browser, and exits.
func RunTests(m *testing.M) {
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.ctx != nil {
		shared.end()
	}
	os.Exit(code)
}

// OpenTab opens an empty tab as Chromium does, in a browser that all tests of the package share.
// The tab has a profile and a window of its own, behaves as the focused one, and closes with the
// test.
func OpenTab(t *testing.T) *Tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(sharedBrowser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	b := prepareTab(t, ctx)
	params := emulation.SetFocusEmulationEnabledParams{Enabled: true}
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, params)
	require.NoError(t, err)
	return b
}

// sharedBrowser returns the running shared browser. It starts one for the first test, and after a
// crash.
func sharedBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ChromiumPath(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.ctx != nil && shared.ctx.Err() == nil {
		return shared.ctx
	}
	if shared.ctx != nil {
		shared.end()
	}
	shared.ctx, shared.end = newBrowser(context.Background(), path)
	require.NoError(t, chromedp.Do(shared.ctx), "Chromium does not start")
	return shared.ctx
}
