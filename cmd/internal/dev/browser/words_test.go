package browser_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
)

func TestTheWordsAreThoseOfTheKey_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	g.hold = make(chan struct{})
	letIn := sync.OnceFunc(func() { close(g.hold) })
	t.Cleanup(letIn)
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url))
	b.WaitFor(browser.Text(".door") + ".includes('run gateway open')")
	b = browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url + "/#c=" + g.opening.Code()))
	// A page that is let in before its request to enter was answered has no words to show.
	b.WaitFor(`document.querySelector('.door .words')`)
	shown := browser.JS[string](b, browser.Text(".door .words"))
	letIn()
	b.WaitFor(`document.querySelector('.trip.connected')`)
	require.Equal(t, strings.Join(g.words, " "), shown)
	kept := browser.JS[string](b, `new Promise((done) => { const o = indexedDB.open('terminal-page'); o.onsuccess = () => {
		const r = o.result.transaction('pages').objectStore('pages').get('page');
		r.onsuccess = () => done(r.result.words.join(' ') + ' ' + r.result.pair.privateKey.extractable);
	}; })`)
	require.Equal(t, shown+" false", kept)
}
