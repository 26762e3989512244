package browser_test

import (
	"bufio"
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
)

// ownWords returns the words and the key that the page keeps.
const ownWords = `new Promise((done) => {
	const o = indexedDB.open('terminal-page');
	o.onsuccess = () => {
		const r = o.result.transaction('pages').objectStore('pages').get('page');
		r.onsuccess = () => done(r.result.words.join(' ') + ' ' + r.result.pair.privateKey.extractable);
	};
})`

// An installed page has no address bar, and on iOS it shares no storage with the browser: a link
// can be pasted. It opens once, and the browser that used it is known by its key.
func TestAPersonEntersThePage_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	g.hold = make(chan struct{})
	letIn := sync.OnceFunc(func() { close(g.hold) })
	t.Cleanup(letIn)
	link := g.url + "/#c=" + g.opening.Code()
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url))
	b.WaitPart(".door", "run gateway open")
	paste := func(text string) {
		b.Eval(`document.querySelector('form input').value = ` + browser.Quote(text))
		b.Press("Open")
	}
	paste("https://example.com/")
	b.WaitPart(".door", "That is no link of gateway open")
	paste(link + " ")
	// A page that is let in before its request to enter was answered has no words to show.
	b.WaitFor(`document.querySelector('.door .words')`)
	shown := browser.JS[string](b, browser.Text(".door .words"))
	letIn()
	b.WaitFor(connected)
	require.Equal(t, g.url+"/", browser.JS[string](b, "location.href"), "the code is gone")
	require.Equal(t, strings.Join(g.words, " "), shown, "the words are those of the key")
	require.Equal(t, shown+" false", browser.JS[string](b, ownWords), "the key cannot be read")

	b.RunSteps(chromedp.Reload())
	b.WaitFor(connected)
	b.RunSteps(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.WaitFor(connected)
	other := browser.OpenTab(t)
	other.RunSteps(chromedp.Navigate(link))
	other.WaitPart(".door", "link")
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
		Role: auth.RoleViewer, Expires: time.Now().Add(time.Hour), Dial: g.dial,
		Count: func(*http.Request) error {
			if full.Load() {
				return errors.New("64 connections use this token already")
			}
			return nil
		},
	})
	require.NoError(t, err)
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url + "/#c=" + o.Code()))
	b.WaitText(".door", "64 connections use this token already: trying again")
	full.Store(false)
	b.WaitFor(connected)
}

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
	b := openPage(g, "")
	b.WaitText(".session .row", "one")
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, len(requests), 12, requests)
	require.LessOrEqual(t, size, 60<<10)
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
