package e2e_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/browser"
	"terminalproxy/protocol"
)

// certified makes an authority, and this machine's certificate, which everything in this world
// trusts from now on. It returns the server's flags for it.
func (w *world) certified() (flags []string) {
	w.t.Helper()
	signed := func(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(w.t, err)
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		if parent == nil {
			parent, by = template, key
		}
		raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
		require.NoError(w.t, err)
		made, err := x509.ParseCertificate(raw)
		require.NoError(w.t, err)
		return made, key
	}
	ca, by := signed(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leaf, key := signed(&x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, ca, by)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(w.t, err)
	file := func(name, kind string, der []byte) string {
		return w.write(name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	flags = []string{"--tls-cert", file("cert.pem", "CERTIFICATE", leaf.Raw), "--tls-key", file("key.pem", "PRIVATE KEY", raw)}
	w.env = append(w.env, "SSL_CERT_FILE="+file("ca.pem", "CERTIFICATE", ca.Raw))
	w.cert = &tls.Certificate{Certificate: [][]byte{leaf.Raw, ca.Raw}, PrivateKey: key, Leaf: leaf}
	return flags
}

// trust returns what browsers of this world trust.
func (w *world) trust() *tls.Config {
	if w.cert == nil {
		return nil
	}
	pool := x509.NewCertPool()
	ca, err := x509.ParseCertificate(w.cert.Certificate[1])
	require.NoError(w.t, err)
	pool.AddCert(ca)
	return &tls.Config{RootCAs: pool}
}

// pageServer is a gateway with pages and TLS, that can be killed and started anew.
type pageServer struct {
	w       *world
	flags   []string
	url     string // wss://127.0.0.1:PORT
	running *running
}

// pageServer starts one with tokens for a proxy and for an owner, in the files proxy.token and
// owner.token.
func (w *world) pageServer() *pageServer {
	w.t.Helper()
	s := &pageServer{w: w, flags: append([]string{"serve", "--page"}, w.certified()...)}
	for _, role := range []string{"proxy", "owner"} {
		w.write(role+".token", w.mustGateway("token", "create", role, "--role", role))
	}
	s.start("127.0.0.1:0")
	w.t.Cleanup(func() {
		_ = s.running.cmd.Process.Signal(syscall.SIGTERM)
		s.running.wait()
	})
	return s
}

func (s *pageServer) start(listen string) {
	s.w.t.Helper()
	s.running = s.w.start("gateway", append(s.flags, "--listen", listen)...)
	s.w.until(func() bool { return strings.Contains(s.running.out.String(), "web pages: on") }, func() string { return s.running.err.String() })
	_, rest, _ := strings.Cut(s.running.out.String(), "listening on wss://")
	at, _, _ := strings.Cut(rest, "\n")
	s.url = "wss://" + at
}

// restart kills the server and starts it again, at the same address.
func (s *pageServer) restart() {
	s.w.t.Helper()
	s.w.kill(strconv.Itoa(s.running.cmd.Process.Pid), syscall.SIGKILL)
	s.running.wait()
	s.start(strings.TrimPrefix(s.url, "wss://"))
}

// proxyFlags returns the flags of a proxy whose session is on the server.
func (s *pageServer) proxyFlags() string {
	return "--gateway " + s.url + " --token-file " + s.w.path("proxy.token") + " --agent "
}

// openFlags returns the flags of gateway open at the server.
func (s *pageServer) openFlags() string {
	return "--gateway " + s.url + " --token-file " + s.w.path("owner.token") + " "
}

// An owner's page of a server grants and reclaims. The session's own machine checks the page's
// signatures. The page ends with the token that made its link.
func TestAnOwnersPageOfAServer(t *testing.T) {
	w := newWorld(t)
	server := w.pageServer()
	s, o := w.terminal(100, 24), w.terminal(100, 50)
	s.runListener(server.proxyFlags())
	id := w.session()
	_, link := o.openPage(server.openFlags() + "--role owner " + id)
	require.True(t, strings.HasPrefix(link, "https"+strings.TrimPrefix(server.url, "wss")+"/#c="), link)
	p := w.visit(link)
	o.wait(p.words)
	status, _ := p.ticket()
	require.Equal(t, http.StatusConflict, status, "before the user said yes")
	require.NotContains(t, w.tokens(), "page-")
	o.typed("y\n")
	p.connect()
	require.Contains(t, w.tokens(), "page-")
	p.waitForRow(id, "listening")

	asking := w.start("gateway", "request", id, "--reason", "to test", "--as", "codex")
	s.waitQuestion()
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	p.checkRefused(protocol.CodeForbidden, p.signedGrant(stranger))
	require.True(t, s.hasQuestion(), "nothing was given:\n%s", s.screen())
	require.IsType(t, &protocol.Done{}, p.signedGrant(p.key))
	require.Zero(t, asking.wait().status)
	s.wait("lets codex drive")
	require.IsType(t, &protocol.Done{}, p.request(&protocol.ControlDecide{SessionID: id, By: "x"}))
	w.waitKeyboard(id, "user")

	w.mustGateway("token", "revoke", "owner")
	code, why := p.readToClose()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	require.Contains(t, why, "revoked")
	require.Equal(t, 1, o.status())
	o.wait("gateway: open: the token was revoked or has expired")
	require.NotContains(t, w.tokens(), "page-", "its key is worth nothing any more")
	s.quitProgram("\x04")
}

// Ctrl+C at gateway open ends the pages that it opened; a second terminal's pages stay.
func TestCtrlCEndsThePagesOfAServer(t *testing.T) {
	w := newWorld(t)
	server := w.pageServer()
	o, other := w.terminal(100, 50), w.terminal(100, 50)
	_, first := o.openPage(server.openFlags())
	_, second := other.openPage(server.openFlags())
	p, q := w.visit(first), w.visit(second)
	p.connect()
	q.connect()
	o.wait("A page came in.")
	o.press("C-c")
	require.Zero(t, o.status())
	code, why := p.readToClose()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	require.Contains(t, why, "closed in the terminal")
	require.IsType(t, &protocol.SessionsListResult{}, q.request(&protocol.SessionsList{}))
	other.press("C-c")
	require.Zero(t, other.status())
}

// When the server is killed and restarted, the proxy reconnects, gateway open reports its page
// again, and the page needs no new link and no second approval.
func TestAPageOutlivesItsServer(t *testing.T) {
	w := newWorld(t)
	server := w.pageServer()
	s, o := w.terminal(100, 24), w.terminal(100, 60)
	s.runListener(server.proxyFlags())
	id := w.session()
	_, link := o.openPage(server.openFlags() + "--role owner")
	p := w.visit(link)
	o.wait(p.words)
	o.typed("y\n")
	p.connect()
	p.waitForRow(id, "listening")
	server.restart()
	o.wait("The gateway is back.")
	p.connect()
	require.Equal(t, id, w.session())
	p.waitForRow(id, "listening")
	asking := w.start("gateway", "request", id, "--reason", "to test", "--as", "codex")
	s.waitQuestion()
	require.IsType(t, &protocol.Done{}, p.signedGrant(p.key))
	require.Zero(t, asking.wait().status)
	o.press("C-c")
	require.Zero(t, o.status())
	code, _ := p.readToClose()
	require.Equal(t, websocket.ClosePolicyViolation, code)
	s.quitProgram("\x04")
}

// An attacker between page and server replaces the page's key with another. The page shows the
// words of its own key, the terminal those of the key that would be let in. They differ, and
// without an approval nothing happens.
func TestAServerThatSwapsThePagesKey(t *testing.T) {
	w := newWorld(t)
	server := w.pageServer()
	between := w.swapper(server.url)
	o := w.terminal(100, 50)
	_, link := o.openPage("--gateway " + strings.Replace(between, "https", "wss", 1) + " --token-file " + w.path("owner.token") + " --role owner")
	b := &webPage{w: w}
	var err error
	_, b.key, err = ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	own, _ := b.enter(link)
	shown := o.match(`Its words:\s+([a-z]+(?: [a-z]+){5})\s`)
	require.NotEqual(t, own, shown)
	o.typed("n\n")
	o.wait("The page was not let in.")
	require.NotContains(t, w.tokens(), "page-")
	o.press("C-c")
	require.Zero(t, o.status())
}

// swapper passes everything on to a server except the pages' keys, which it replaces with its own.
func (w *world) swapper(to string) (url string) {
	w.t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.t, err)
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: w.trust(), DisableKeepAlives: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(parsed(w.t, strings.Replace(to, "wss", "https", 1)))
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
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*w.cert}}
	s.StartTLS()
	w.t.Cleanup(s.Close)
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
func TestABrowserAtAServer(t *testing.T) {
	w := newWorld(t, "vim")
	server := w.pageServer()
	key := sha256.Sum256(w.cert.Leaf.RawSubjectPublicKeyInfo)
	b := browser.Chromium(t, browser.TrustKey(base64.StdEncoding.EncodeToString(key[:])))
	w.write("notes.txt", "to do\n")
	s, o := w.terminal(100, 24), w.terminal(100, 60)
	s.run("proxy " + server.proxyFlags() + "vim -u NONE notes.txt")
	s.wait("to do")
	id := w.session()
	_, link := o.openPage(server.openFlags() + "--role owner " + id)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.wait(browser.JS[string](b, browser.Text(".words")))
	o.typed("y\n")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('to do')")

	asking := w.start("gateway", "request", id, "--reason", "add the milk", "--as", "codex")
	b.Press("Give 10 min")
	require.Zero(t, asking.wait().status)
	w.mustGateway("send", id, "--as", "codex", "o", "m", "i", "l", "k", "esc")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	b.Press("Take back")
	w.waitKeyboard(id, "user")

	// The server may be back before anyone looks.
	browser.JS[bool](b, `new MutationObserver(() => { window.wentStale ||= document.querySelector('.stale') !== null })
		.observe(document, {subtree: true, childList: true, attributes: true}) || true`)
	server.restart()
	b.WaitFor(`window.wentStale`)
	b.WaitFor(`document.querySelector('.trip.connected') && !document.querySelector('.stale')`)
	b.WaitFor(browser.Text(".session .sheet") + ".includes('milk')")
	o.press("C-c")
	require.Zero(t, o.status())
	b.WaitFor(browser.Text(".trip") + ".startsWith('closed: the page was closed')")
}

// A person who opens a used link reads what to do.
func TestABrowserWithAUsedLink(t *testing.T) {
	w := newWorld(t)
	server := w.pageServer()
	key := sha256.Sum256(w.cert.Leaf.RawSubjectPublicKeyInfo)
	b := browser.Chromium(t, browser.TrustKey(base64.StdEncoding.EncodeToString(key[:])))
	o := w.terminal(100, 50)
	_, link := o.openPage(server.openFlags())
	w.visit(link).connect()
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(browser.Text(".door") + ".includes('the link was used, or is more than a minute old')")
	o.press("C-c")
	require.Zero(t, o.status())
}
