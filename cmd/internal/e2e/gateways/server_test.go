package gateways_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// trust returns what browsers of this world trust.
func trust(w *world.World) *tls.Config {
	if w.Cert == nil {
		return nil
	}
	pool := x509.NewCertPool()
	ca, err := x509.ParseCertificate(w.Cert.Certificate[1])
	require.NoError(w.T, err)
	pool.AddCert(ca)
	return &tls.Config{RootCAs: pool}
}

// pageServer is a gateway with pages and TLS, that can be killed and started anew.
type pageServer struct {
	w       *world.World
	flags   []string
	url     string // wss://127.0.0.1:PORT
	running *world.Running
}

// startPageServer starts one with tokens for a proxy and for an owner, in the files proxy.token and
// owner.token.
func startPageServer(w *world.World) *pageServer {
	w.T.Helper()
	s := &pageServer{w: w, flags: append([]string{"serve", "--page"}, w.Certified()...)}
	for _, role := range []string{"proxy", "owner"} {
		w.Write(role+".token", w.MustGateway("token", "create", role, "--role", role))
	}
	s.start("127.0.0.1:0")
	w.T.Cleanup(func() {
		_ = s.running.Cmd.Process.Signal(syscall.SIGTERM)
		s.running.Wait()
	})
	return s
}

func (s *pageServer) start(listen string) {
	s.w.T.Helper()
	s.running = s.w.Start("gateway", append(s.flags, "--listen", listen)...)
	s.w.Until(func() bool { return strings.Contains(s.running.Out.String(), "web pages: on") }, func() string { return s.running.Err.String() })
	_, rest, _ := strings.Cut(s.running.Out.String(), "listening on wss://")
	at, _, _ := strings.Cut(rest, "\n")
	s.url = "wss://" + at
}

// restart kills the server and starts it again, at the same address.
func (s *pageServer) restart() {
	s.w.T.Helper()
	s.w.Kill(strconv.Itoa(s.running.Cmd.Process.Pid), syscall.SIGKILL)
	s.running.Wait()
	s.start(strings.TrimPrefix(s.url, "wss://"))
}

// proxyFlags returns the flags of a proxy whose session is on the server.
func (s *pageServer) proxyFlags() string {
	return "--gateway " + s.url + " --token-file " + s.w.Path("proxy.token") + " --agent "
}

// openFlags returns the flags of gateway open at the server.
func (s *pageServer) openFlags() string {
	return "--gateway " + s.url + " --token-file " + s.w.Path("owner.token") + " "
}

// When the server is killed and restarted, the proxy reconnects, gateway open reports its page
// again, and the page needs no new link and no second approval.
func TestAPageOutlivesItsServer(t *testing.T) {
	w := world.New(t)
	server := startPageServer(w)
	s, o := w.Terminal(100, 24), w.Terminal(100, 60)
	s.RunListener(server.proxyFlags())
	id := w.Session()
	_, link := o.OpenPage(server.openFlags() + "--role owner")
	p := visit(w, link)
	o.Wait(p.words)
	o.Typed("y\n")
	p.connect()
	p.waitForRow(id, "listening")
	server.restart()
	o.Wait("The gateway is back.")
	p.connect()
	require.Equal(t, id, w.Session())
	p.waitForRow(id, "listening")
	asking := w.Start("gateway", "request", id, "--reason", "to test", "--as", "codex")
	s.WaitQuestion()
	require.IsType(t, &protocol.Done{}, p.signedGrant(p.key))
	require.Zero(t, asking.Wait().Status)
	o.Press("C-c")
	require.Zero(t, o.Status())
	code, _ := p.readToClose()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	s.QuitProgram("\x04")
}

// An attacker between page and server replaces the page's key with another. The page shows the
// words of its own key, the terminal those of the key that would be let in. They differ, and
// without an approval nothing happens.
func TestAServerThatSwapsThePagesKey(t *testing.T) {
	w := world.New(t)
	server := startPageServer(w)
	between := swapper(w, server.url)
	o := w.Terminal(100, 50)
	_, link := o.OpenPage("--gateway " + strings.Replace(between, "https", "wss", 1) + " --token-file " + w.Path("owner.token") + " --role owner")
	b := &webPage{w: w}
	var err error
	_, b.key, err = ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	own, _ := b.enter(link)
	shown := o.Match(`Its words:\s+([a-z]+(?: [a-z]+){5})\s`)
	require.NotEqual(t, own, shown)
	o.Typed("n\n")
	o.Wait("The page was not admitted.")
	require.NotContains(t, tokens(w), "page-")
	o.Press("C-c")
	require.Zero(t, o.Status())
}

// swapper passes everything on to a server except the pages' keys, which it replaces with its own.
func swapper(w *world.World, to string) (url string) {
	w.T.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.T, err)
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: trust(w), DisableKeepAlives: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(parsed(w.T, strings.Replace(to, "wss", "https", 1)))
			r.Out.Header.Del("Origin")
			if r.In.URL.Path != "/v1/page/enter" {
				return
			}
			var body map[string]string
			if json.NewDecoder(r.In.Body).Decode(&body) == nil {
				body["key"] = hex.EncodeToString(public)
				raw, _ := json.Marshal(body)
				r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
			}
		},
	}
	s := httptest.NewUnstartedServer(proxy)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*w.Cert}}
	s.StartTLS()
	w.T.Cleanup(s.Close)
	return s.URL
}

func parsed(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}

// A person's browser at a server with TLS: the link, the six words, the screen, grant and reclaim.
// Then the server is killed and restarted, and the screen returns.
func TestABrowserAtAServer_Client(t *testing.T) {
	w := world.New(t, "vim")
	server := startPageServer(w)
	key := sha256.Sum256(w.Cert.Leaf.RawSubjectPublicKeyInfo)
	b := browser.Chromium(t, browser.TrustKey(base64.StdEncoding.EncodeToString(key[:])))
	w.Write("notes.txt", "to do\n")
	s, o := w.Terminal(100, 24), w.Terminal(100, 60)
	s.Run("proxy " + server.proxyFlags() + "vim -u NONE notes.txt")
	s.Wait("to do")
	id := w.Session()
	_, link := o.OpenPage(server.openFlags() + "--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.Wait(browser.JS[string](b, browser.Text(".words")))
	o.Typed("y\n")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('to do')")

	asking := w.Start("gateway", "request", id, "--reason", "add the milk", "--as", "codex")
	b.Press("Let it drive 10 min")
	require.Zero(t, asking.Wait().Status)
	w.MustGateway("send", id, "--as", "codex", "o", "m", "i", "l", "k", "esc")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	b.WaitFor(browser.Text(".just") + ` === 'codex typed "omilk"<Esc>'`)
	b.Press("Take back")
	w.WaitKeyboard(id, "user")
	b.Press("Hide")
	b.WaitFor("!" + browser.Text(".session .sheet") + ".includes('milk')")
	b.Press("Show") // the page signs the grant
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")

	// The server may be back before anyone looks.
	browser.JS[bool](b, `new MutationObserver(() => { window.wentStale ||= document.querySelector('.stale') !== null })
		.observe(document, {subtree: true, childList: true, attributes: true}) || true`)
	server.restart()
	b.WaitFor(`window.wentStale`)
	b.WaitFor(`document.querySelector('.trip.connected') && !document.querySelector('.stale')`)
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	o.Press("C-c")
	require.Zero(t, o.Status())
	b.WaitFor(browser.Text(".trip") + ".startsWith('closed: the page was closed')")
}
