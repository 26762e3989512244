package gateway

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/doors/ws"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// linksOf joins the pages to the server, as gateway serve does.
type linksOf struct{ *page.Links }

func (l linksOf) AcceptOpener(identity auth.Identity, s *Server) ws.Peer {
	return l.Opener(identity, page.Port{
		Join:  func(identity auth.Identity, set rights.Set) page.Seat { return s.JoinPage(identity, set) },
		Count: s.CountPage,
	})
}

// site is a server with pages.
type site struct {
	t      *testing.T
	at     string // host:port
	base   string // http://host:port
	client *http.Client
	dialer websocket.Dialer
	tokens map[auth.Role]string
	store  *auth.Store
}

// newSite serves a site without TLS until the test ends; change may be nil. Its pings are never
// answered: a test that opens many connections on a busy machine needs the first of them when it
// has the last.
func newSite(t *testing.T, change func(*Config)) *site {
	t.Helper()
	cfg := Config{Times: ws.Times{Silence: time.Hour}}
	links, err := page.NewLinks(page.Config{Hosts: []string{"desk.example"}, Times: page.Times{Hello: time.Hour, Silence: time.Hour}})
	require.NoError(t, err)
	cfg.Pages, cfg.Hosts = linksOf{links}, []string{"desk.example"}
	if change != nil {
		change(&cfg)
	}
	addr, tokens, store := tcp(t, cfg)
	transport := &http.Transport{MaxIdleConnsPerHost: 200}
	t.Cleanup(transport.CloseIdleConnections)
	return &site{
		t: t, at: addr, base: "http://" + addr, client: &http.Client{Transport: transport}, tokens: tokens, store: store,
		dialer: websocket.Dialer{Subprotocols: []string{protocol.Version}},
	}
}

// request sends a request and reads the answer.
func (s *site) request(method, path, body string, headers ...string) (status int, got string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(fake.Within(s.t), method, s.base+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp.StatusCode, string(raw)
}

// socket opens a WebSocket, or returns nil if it is refused.
func (s *site) socket(path string, headers ...string) (*websocket.Conn, int) {
	s.t.Helper()
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	conn, resp, err := s.dialer.DialContext(fake.Within(s.t), "ws"+strings.TrimPrefix(s.base, "http")+path, header)
	if resp != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		require.NotNil(s.t, resp, "%v", err)
		return nil, resp.StatusCode
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(s.t, conn.SetReadDeadline(time.Now().Add(fake.Soon)))
	return conn, resp.StatusCode
}

// connectOpener connects as gateway open does with a token: on its connection, links are made.
func (s *site) connectOpener(token string, role auth.Role) *websocket.Conn {
	s.t.Helper()
	conn, status := s.socket(protocol.PathLinks, "Authorization", "Bearer "+token)
	require.NotNil(s.t, conn, "%d", status)
	message(s.t, conn, &protocol.PageOpen{
		RequestID: "o", Secret: rand.Text(), Role: string(role), ExpiresAt: time.Now().Add(time.Hour).UnixMilli(),
	})
	hear[*protocol.PageOpened](s.t, conn)
	return conn
}

// visitor is a page with its key.
type visitor struct {
	s   *site
	key ed25519.PrivateKey
	id  string
	at  int64
}

// enterPage enters by a new link of an opener.
func (s *site) enterPage(opener *websocket.Conn) *visitor {
	s.t.Helper()
	message(s.t, opener, &protocol.PageCode{RequestID: "c"})
	code := hear[*protocol.PageOpened](s.t, opener).Code
	public, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(s.t, err)
	status, got := s.request("POST", "/v1/page/enter", `{"code":"`+code+`","key":"`+hex.EncodeToString(public)+`"}`)
	require.Equal(s.t, http.StatusOK, status, got)
	v := &visitor{s: s, key: key, at: time.Now().UnixMilli()}
	var in struct{ Page string }
	require.NoError(s.t, json.Unmarshal([]byte(got), &in))
	v.id = in.Page
	require.Equal(s.t, v.id, hear[*protocol.PageKnock](s.t, opener).PageID)
	return v
}

// askTicket asks for a ticket.
func (v *visitor) askTicket() (status int, answer string) {
	v.s.t.Helper()
	v.at++ // a moment counts once
	body := fmt.Sprintf(`{"page":%q,"at":%d,"signature":"%x"}`, v.id, v.at, ed25519.Sign(v.key, page.TicketBytes(v.id, v.at)))
	return v.s.request("POST", "/v1/tickets", body)
}

// ticket returns a valid ticket.
func (v *visitor) ticket() string {
	v.s.t.Helper()
	status, got := v.askTicket()
	require.Equal(v.s.t, http.StatusOK, status, got)
	var in struct{ Ticket string }
	require.NoError(v.s.t, json.Unmarshal([]byte(got), &in))
	return in.Ticket
}

// sayHello opens the page's WebSocket and shows its ticket.
func (v *visitor) sayHello() *websocket.Conn {
	v.s.t.Helper()
	conn, status := v.s.socket("/v1/page")
	require.NotNil(v.s.t, conn, "%d", status)
	require.NoError(v.s.t, conn.WriteJSON(map[string]string{"type": "hello", "ticket": v.ticket()}))
	return conn
}

// enter says hello and reads the welcome.
func (v *visitor) enter() *websocket.Conn {
	v.s.t.Helper()
	conn := v.sayHello()
	var welcome struct{ Type string }
	require.NoError(v.s.t, conn.ReadJSON(&welcome))
	require.Equal(v.s.t, "welcome", welcome.Type)
	return conn
}

func TestAServerWithoutPages(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	s := &site{t: t, base: "http://" + addr, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	for _, path := range []string{"/", "/app/x/app.js", "/v1/page"} {
		status, _ := s.request("GET", path, "")
		require.Equal(t, http.StatusNotFound, status, path)
	}
	status, got := s.request("GET", protocol.PathLinks, "", "Authorization", "Bearer "+tokens[auth.RoleOwner])
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, got, "start it with gateway serve --page")
}

// Pages see only the sessions of the namespace of the token that opened their link.
func TestAPageIsInTheNamespaceOfItsToken(t *testing.T) {
	s := newSite(t, nil)
	tokens := map[string]string{}
	for _, name := range []string{"red", "blue"} {
		for _, role := range []auth.Role{auth.RoleProxy, auth.RoleViewer} {
			token, err := s.store.Create(auth.Token{Name: name + "-" + string(role), Role: role, Namespace: name})
			require.NoError(t, err)
			tokens[name+string(role)] = token
		}
		startProxy(t, bearer(s.at, tokens[name+"proxy"]), name+"-1")
	}
	conn := s.enterPage(s.connectOpener(tokens["redviewer"], auth.RoleViewer)).enter()
	message(t, conn, &protocol.SessionsList{RequestID: "l"})
	list := hear[*protocol.SessionsListResult](t, conn).Sessions
	require.Len(t, list, 1)
	require.Equal(t, "red-1", list[0].SessionID)
	message(t, conn, &protocol.Read{RequestID: "r", SessionID: "blue-1"})
	require.Equal(t, protocol.CodeNoSession, hear[*protocol.Error](t, conn).Code)
	message(t, conn, &protocol.Input{RequestID: "i", SessionID: "red-1", Data: "x"})
	require.Equal(t, protocol.CodeForbidden, hear[*protocol.Error](t, conn).Code)
}

// R37: a revoked token ends its connections, requests and streams, its openers, and the pages of its
// links, which are told not to reconnect. Those of another token stay.
func TestRevokedTokenEndsAllItsConnectionsR37(t *testing.T) {
	s := newSite(t, nil)
	proxy := rawProxy(t, bearer(s.at, s.tokens[auth.RoleProxy]), "vim-1")
	agent := bearer(s.at, s.tokens[auth.RoleAgent])
	socket, web := agent.mustConnect(t, protocol.PathAgent), agent.plain(t)
	waited := startRequest(web, "wait", `{"until":{"exit":true}}`)
	hear[*protocol.Wait](t, proxy)
	stream := web.request(t.Context(), "GET", at+"events", "")
	defer func() { _ = stream.Body.Close() }()
	events := bufio.NewReader(stream.Body)
	line, err := events.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: terminal.snapshot\n", line)
	opener, other := s.connectOpener(s.tokens[auth.RoleViewer], auth.RoleViewer), s.connectOpener(s.tokens[auth.RoleOwner], auth.RoleViewer)
	page, kept := s.enterPage(opener), s.enterPage(other).enter()
	looks := page.enter()

	for _, name := range []string{"the-agent", "the-viewer"} {
		require.NoError(t, s.store.Revoke(name))
	}
	require.Equal(t, http.StatusUnauthorized, (<-waited).status)
	_, err = io.Copy(io.Discard, events)
	require.NoError(t, err, "the stream ends")
	web.mustAnswer(http.StatusUnauthorized, "GET", "/v1/sessions", "")
	require.Equal(t, http.StatusUnauthorized, statusOf(t, agent, protocol.PathAgent))
	for _, conn := range []*websocket.Conn{socket, looks, opener} {
		code, reason := closed(t, conn)
		require.Equal(t, websocket.ClosePolicyViolation, code)
		require.Equal(t, errRevoked.Error(), reason)
	}
	status, _ := page.askTicket()
	require.NotEqual(t, http.StatusOK, status)
	message(t, kept, &protocol.SessionsList{RequestID: "l"})
	hear[*protocol.SessionsListResult](t, kept)
}

// Only a server's own pages talk to it, with TLS only by https; agents' paths accept no page at
// all.
func TestHostAndOriginOfPages(t *testing.T) {
	donor := httptest.NewTLSServer(nil) // of a certificate for 127.0.0.1
	defer donor.Close()
	pool := x509.NewCertPool()
	pool.AddCert(donor.Certificate())
	links, err := page.NewLinks(page.Config{Hosts: []string{"desk.example"}})
	require.NoError(t, err)
	plain := newSite(t, nil)
	addr := serveTCP(t, New(Config{Tokens: plain.store, Pages: linksOf{links}, Hosts: []string{"desk.example"}}), &tls.Config{Certificates: donor.TLS.Certificates})
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	secure := &site{
		t: t, at: addr, base: "https://" + addr, client: &http.Client{Transport: transport}, tokens: plain.tokens,
		dialer: websocket.Dialer{Subprotocols: []string{protocol.Version}, TLSClientConfig: transport.TLSClientConfig},
	}
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		on      *site
		allowed bool
		headers []string
	}{
		{"no origin", plain, true, nil},
		{"its own", plain, true, []string{"Origin", plain.base}},
		{"its own with TLS", secure, true, []string{"Origin", secure.base}},
		{"its own by name with TLS", secure, true, []string{"Host", "localhost:" + port, "Origin", "https://localhost:" + port}},
		{"its own under its name, TLS before it", plain, true, []string{"Host", "desk.example", "Origin", "https://desk.example"}},
		{"a page without TLS", secure, false, []string{"Origin", "http://" + addr}},
		{"its name without TLS", plain, false, []string{"Host", "desk.example", "Origin", "http://desk.example"}},
		{"a rebound host", plain, false, []string{"Host", "evil.example", "Origin", "https://evil.example"}},
		{"a rebound host with TLS", secure, false, []string{"Host", "evil.example:" + port, "Origin", "https://evil.example:" + port}},
		{"a rebound host, no origin", secure, false, []string{"Host", "evil.example"}},
		{"another page", secure, false, []string{"Origin", "https://evil.example"}},
		{"null", secure, false, []string{"Origin", "null"}},
		{"null on this machine", plain, false, []string{"Origin", "null"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[c.allowed]
			c.on.t = t
			status, got := c.on.request("GET", "/", "", c.headers...)
			require.Equal(t, want, status, got)
			status, got = c.on.request("POST", "/v1/page/enter", `{"code":"aaaaaaaaaaaaaaaa","key":"`+strings.Repeat("ab", 32)+`"}`, c.headers...)
			require.Equal(t, http.StatusForbidden, status)
			require.Equal(t, c.allowed, strings.Contains(got, "the link was used"), got)
			conn, status := c.on.socket("/v1/page", c.headers...)
			require.Equal(t, c.allowed, conn != nil, "%d", status)
		})
	}
	plain.t = t
	_, status := plain.socket(protocol.PathAgent, "Origin", plain.base, "Authorization", "Bearer "+plain.tokens[auth.RoleAgent])
	require.Equal(t, http.StatusForbidden, status)
	_, status = plain.socket(protocol.PathLinks, "Origin", plain.base, "Authorization", "Bearer "+plain.tokens[auth.RoleOwner])
	require.Equal(t, http.StatusForbidden, status, "no page makes links")
}

// silent opens n connections of pages that do not say hello.
func (s *site) silent(n int, headers ...string) (all []*websocket.Conn) {
	s.t.Helper()
	for range n {
		conn, status := s.socket("/v1/page", headers...)
		require.NotNil(s.t, conn, "%d", status)
		all = append(all, conn)
	}
	return all
}

// R40: at most 64 connections of one address may wait to be identified. The next one reads that,
// without a reset; a client with a token enters all the same.
func TestThe65thOfAnAddressReadsWhyR40(t *testing.T) {
	s := newSite(t, nil)
	waiting := s.silent(connectionsPerPeer)
	late, _ := s.socket("/v1/page")
	code, why := closed(t, late)
	require.Equal(t, websocket.CloseTryAgainLater, code)
	require.Contains(t, why, "64 connections from your address")
	for _, request := range [][2]string{{"GET", "/"}, {"POST", "/v1/tickets"}, {"GET", "/v1/sessions"}} {
		status, got := s.request(request[0], request[1], "{}")
		require.Equal(t, http.StatusTooManyRequests, status, request)
		require.Contains(t, got, "64 connections from your address", request)
	}
	agent := bearer(s.at, s.tokens[auth.RoleAgent]).mustConnect(t, protocol.PathAgent)
	message(t, agent, &protocol.SessionsList{RequestID: "l"})
	hear[*protocol.SessionsListResult](t, agent)

	for _, conn := range waiting { // a ticket identifies a page, but these have none
		require.NoError(t, conn.WriteJSON(map[string]string{"type": "hello"}))
		code, _ := closed(t, conn)
		require.Equal(t, websocket.ClosePolicyViolation, code)
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { status, _ := s.request("GET", "/", ""); return status == http.StatusOK }, fake.Soon, time.Millisecond)
}

// R40: once a token is known, its connections count for it; a page counts for the token that opened
// its link. So 64 of one token keep no other client of the same address out.
func TestConnectionsPerTokenAreBoundedR40(t *testing.T) {
	s := newSite(t, nil)
	var v *visitor
	for range 7 { // 8 pages of an opening, and its opener
		opener := s.connectOpener(s.tokens[auth.RoleViewer], auth.RoleViewer)
		for range protocol.MaxPages {
			s.enterPage(opener).enter()
		}
	}
	v = s.enterPage(s.connectOpener(s.tokens[auth.RoleViewer], auth.RoleViewer))
	code, why := closed(t, v.sayHello())
	require.Equal(t, websocket.CloseTryAgainLater, code)
	require.Equal(t, "64 connections use this token already: end one, or try again later", why)
	_, resp, err := bearer(s.at, s.tokens[auth.RoleViewer]).connect(t, protocol.PathView)
	require.ErrorIs(t, err, websocket.ErrBadHandshake)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.Contains(t, string(body), "64 connections use this token already")
	s.enterPage(s.connectOpener(s.tokens[auth.RoleOwner], auth.RoleViewer)).enter()
}

// An idle connection gives its place to a new one: browsers keep some open.
func TestIdleConnectionsGiveWay(t *testing.T) {
	s := newSite(t, nil)
	for range connectionsPerPeer {
		conn, err := (&net.Dialer{}).DialContext(fake.Within(t), "tcp", s.at)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: "+s.at+"\r\n\r\n")
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 1))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { // once one is idle: it is answered before
		status, _ := s.request("GET", "/", "")
		return status == http.StatusOK
	}, fake.Soon, time.Millisecond)
}

// Behind a trusted proxy, the address is the one that the proxy names; no other peer is believed.
func TestBehindATrustedProxy(t *testing.T) {
	s := newSite(t, func(c *Config) {
		c.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	const full = "198.51.100.1, 203.0.113.7, 10.1.2.3" // the first one is what the client claims
	waiting := s.silent(connectionsPerPeer, "X-Forwarded-For", full)
	for identity, room := range map[string]bool{full: false, "203.0.113.7": false, "203.0.113.8": true, "": true, "203.0.113.7:4711": false, "2001:db8::1": true} {
		status, got := s.request("GET", "/", "", "X-Forwarded-For", identity)
		require.Equal(t, room, status == http.StatusOK, "%q: %d %s", identity, status, got)
	}
	require.NoError(t, waiting[0].Close())
	require.Eventually(t, func() bool {
		status, _ := s.request("GET", "/", "", "X-Forwarded-For", full)
		return status == http.StatusOK
	}, fake.Soon, time.Millisecond)
	s.silent(connectionsPerPeer, "X-Forwarded-For", "2001:db8::1")
	status, _ := s.request("GET", "/", "", "X-Forwarded-For", "2001:db8::ffff")
	require.Equal(t, http.StatusTooManyRequests, status, "of one IPv6 network")

	alone := newSite(t, nil)
	for i := range connectionsPerPeer {
		alone.silent(1, "X-Forwarded-For", netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}).String())
	}
	status, _ = alone.request("GET", "/", "", "X-Forwarded-For", "198.51.100.1")
	require.Equal(t, http.StatusTooManyRequests, status)
}
