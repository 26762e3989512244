package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/ws"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// statusOf returns the HTTP status of a handshake.
func statusOf(t *testing.T, d address, path string) int {
	t.Helper()
	_, resp, err := d.connect(t, path)
	if err != nil {
		require.ErrorIs(t, err, websocket.ErrBadHandshake)
	}
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// R38: a peer's rights come from its token, whatever it claims.
func TestRoleComesFromTheTokenR38(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	opens := map[auth.Role]string{
		auth.RoleProxy: protocol.PathProxy, auth.RoleAgent: protocol.PathAgent, auth.RoleViewer: protocol.PathView, auth.RoleOwner: protocol.PathView,
	}
	for role, token := range tokens {
		for _, path := range []string{protocol.PathProxy, protocol.PathAgent, protocol.PathView} {
			want := http.StatusForbidden
			if opens[role] == path {
				want = http.StatusSwitchingProtocols
			}
			require.Equal(t, want, statusOf(t, bearer(addr, token), path), "%s at %s", role, path)
		}
	}
	agent := bearer(addr, tokens[auth.RoleAgent]).mustConnect(t, protocol.PathAgent)
	frame := `{"type":"terminal.control.decide","requestId":"d","sessionId":"x","grant":true,"by":"user","role":"owner"}`
	require.NoError(t, agent.WriteMessage(websocket.TextMessage, []byte(frame)))
	require.Equal(t, protocol.CodeForbidden, hear[*protocol.Error](t, agent).Code)
	message(t, agent, &protocol.SessionsList{RequestID: "l"})
	hear[*protocol.SessionsListResult](t, agent)
}

// A server without its token file admits no one, and an admitted client may ask another gateway.
func TestAMissingTokenFileRevokesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "tokens")
	store, err := auth.OpenStore(path, nil)
	require.NoError(t, err)
	token, err := store.Create(auth.Token{Name: "a", Role: auth.RoleAgent})
	require.NoError(t, err)
	addr := serveTCP(t, New(Config{Tokens: store}), nil)
	agent := bearer(addr, token).mustConnect(t, protocol.PathAgent)
	require.NoError(t, os.Rename(path, path+".away"))
	require.Equal(t, websocket.CloseTryAgainLater, closeCodeOf(t, agent))
	require.Equal(t, http.StatusInternalServerError, statusOf(t, bearer(addr, token), protocol.PathAgent))
	require.NoError(t, os.Rename(path+".away", path))
	bearer(addr, token).mustConnect(t, protocol.PathAgent)
}

// R39: a frame over the limit closes with 1009, and so does one that claims to be compressed.
func TestOversizeAndBombR39(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	for role, c := range map[auth.Role]struct {
		path  string
		limit int
	}{
		auth.RoleViewer: {protocol.PathView, protocol.MaxAgentMessage}, auth.RoleAgent: {protocol.PathAgent, protocol.MaxAgentMessage}, auth.RoleProxy: {protocol.PathProxy, protocol.MaxMessage},
	} {
		t.Run(string(role), func(t *testing.T) {
			conn := bearer(addr, tokens[role]).mustConnect(t, c.path)
			exact := []byte(`{"type":"` + strings.Repeat("x", c.limit-len(`{"type":""}`)) + `"}`)
			require.NoError(t, conn.WriteMessage(websocket.TextMessage, exact))
			require.Equal(t, "type", hear[*protocol.Error](t, conn).Field, "at the limit it is read")
			require.NoError(t, conn.WriteMessage(websocket.TextMessage, append(exact, ' ')))
			require.Equal(t, websocket.CloseMessageTooBig, closeCodeOf(t, conn))
		})
	}
	t.Run("bomb", func(t *testing.T) {
		d := bearer(addr, tokens[auth.RoleAgent])
		dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, EnableCompression: true}
		conn, resp, err := dialer.DialContext(fake.Within(t), d.base+protocol.PathAgent, d.header)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		defer func() { _ = conn.Close() }()
		require.Empty(t, resp.Header.Get("Sec-WebSocket-Extensions"), "compression is not agreed on")
		// A masked frame with RSV1 set: "compressed", without having agreed on it.
		_, err = conn.NetConn().Write([]byte{0xC1, 0x81, 0, 0, 0, 0, 'x'})
		require.NoError(t, err)
		require.Equal(t, websocket.CloseProtocolError, closeCodeOf(t, conn))
	})
}

// halfOpen makes n connections, all with an incomplete request.
func halfOpen(t *testing.T, d address, n int) {
	t.Helper()
	for range n {
		c, err := d.dial(fake.Within(t))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, "GET /v1/agent HTTP/1.1\r\nHost: ") // an evicted one may fail
	}
}

// R40: a thousand connections with incomplete requests keep no client out, not even from the same
// address, and end no stream.
func TestHalfOpenConnectionsR40(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	d := bearer(addr, tokens[auth.RoleAgent])
	proxy := rawProxy(t, bearer(addr, tokens[auth.RoleProxy]), "vim-1")
	early, stream := d.mustConnect(t, protocol.PathAgent), d.plain(t).request(fake.Within(t), "GET", at+"events", "")
	defer func() { _ = stream.Body.Close() }()
	halfOpen(t, d, 1000)
	late := d.mustConnect(t, protocol.PathAgent)
	for _, conn := range []*websocket.Conn{early, late} {
		message(t, conn, &protocol.SessionsList{RequestID: "l"})
		hear[*protocol.SessionsListResult](t, conn)
	}
	message(t, proxy, &protocol.SessionClose{ID: "c", SessionID: "vim-1"})
	text, err := io.ReadAll(stream.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "event: terminal.session.close")
}

func TestDeadPeerIsNoticedR40(t *testing.T) {
	_, tokens, store := tcp(t, Config{})
	server := New(Config{Tokens: store, Times: ws.Times{Ping: 10 * time.Millisecond, Silence: 100 * time.Millisecond}})
	watcher := server.Switchboard().Join(hub.Member{Role: hub.RoleViewer})
	watcher.Handle(&protocol.SessionsWatch{RequestID: "w"})
	dead := bearer(serveTCP(t, server, nil), tokens[auth.RoleProxy]).mustConnect(t, protocol.PathProxy) // it never reads, so it sends no pongs
	message(t, dead, fake.Opening("vim-1"))
	for state := ""; state != protocol.StateLost; {
		m, err := watcher.Next(nil)
		require.NoError(t, err)
		if changed, ok := m.(*protocol.SessionsChanged); ok && len(changed.Sessions) > 0 {
			state = changed.Sessions[0].State
		}
	}
	watcher.Leave()
}

// R55: nothing unencrypted leaves the machine.
func TestPlaintextOffLoopbackIsRefusedR55(t *testing.T) {
	store, err := auth.OpenStore(t.TempDir()+"/private/tokens", nil)
	require.NoError(t, err)
	s := New(Config{Tokens: store})
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "0.0.0.0:0")
	require.NoError(t, err)
	require.ErrorContains(t, s.ServeTCP(t.Context(), ln, nil), "certificate")
	_, err = ln.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	ln, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorContains(t, New(Config{}).ServeTCP(t.Context(), ln, nil), "token")
	require.NoError(t, s.Close())
}

func TestTLSIsVerifiedR55(t *testing.T) {
	donor := httptest.NewTLSServer(nil) // of a certificate for 127.0.0.1
	defer donor.Close()
	_, tokens, store := tcp(t, Config{})
	addr := serveTCP(t, New(Config{Tokens: store}), &tls.Config{Certificates: donor.TLS.Certificates})
	e, err := endpoint.Parse("wss://" + addr)
	require.NoError(t, err)
	e.Token = tokens[auth.RoleAgent]
	require.ErrorContains(t, sessionsAt(t, e), "certificate")
	e.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	e.TLS.RootCAs.AddCert(donor.Certificate())
	require.NoError(t, sessionsAt(t, e))
}

func TestOtherVersionsAreRefusedWithTheList(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	d := bearer(addr, tokens[auth.RoleAgent])
	for _, offer := range [][]string{nil, {"terminal-proxy.v0"}} {
		dialer := websocket.Dialer{Subprotocols: offer}
		_, resp, err := dialer.DialContext(fake.Within(t), d.base+protocol.PathAgent, d.header)
		require.ErrorIs(t, err, websocket.ErrBadHandshake)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusBadRequest, resp.StatusCode)
		require.Contains(t, string(body), protocol.Version)
	}
	r, err := http.NewRequestWithContext(fake.Within(t), http.MethodGet, "http://"+addr+protocol.PathAgent, nil)
	require.NoError(t, err)
	r.Header = d.header
	r.Close = true
	resp, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusUpgradeRequired, resp.StatusCode)
}

func TestThreeBadFramesInARowCloseTheConnection(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	conn := bearer(addr, tokens[auth.RoleAgent]).mustConnect(t, protocol.PathAgent)
	bad := func(kind int, frame string) {
		require.NoError(t, conn.WriteMessage(kind, []byte(frame)))
		require.NotEmpty(t, hear[*protocol.Error](t, conn).Message)
	}
	bad(websocket.TextMessage, `{"type":"nope"}`)
	bad(websocket.BinaryMessage, `{"type":"sessions.list","requestId":"l"}`)
	message(t, conn, &protocol.SessionsList{RequestID: "l"})
	hear[*protocol.SessionsListResult](t, conn)
	bad(websocket.TextMessage, `[]`)
	bad(websocket.TextMessage, `{"type":"sessions.list"}`)
	bad(websocket.TextMessage, strings.Repeat("[", 100))
	require.Equal(t, websocket.ClosePolicyViolation, closeCodeOf(t, conn))
}
