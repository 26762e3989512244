package gateway

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A reverse proxy with TLS stands before the server, as in docs/remote.md: pages come in under its
// name, and each address counts separately.
func TestBehindAReverseProxy(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	to, err := url.Parse(s.base)
	require.NoError(t, err)
	before := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header["X-Forwarded-For"] = append(r.In.Header["X-Forwarded-For"], "203.0.113.9") // where the browser is
		},
	})
	before.StartTLS()
	defer before.Close()
	pool := x509.NewCertPool()
	pool.AddCert(before.Certificate())
	opener := s.connectOpener(s.tokens[auth.RoleViewer], auth.RoleViewer)
	front := *s
	front.base, front.client = before.URL, before.Client()
	front.dialer.TLSClientConfig = before.Client().Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // a *http.Transport by default
	own := []string{"Host", "desk.example", "Origin", "https://desk.example"}
	status, got := front.request("GET", "/", "", own...)
	require.Equal(t, http.StatusOK, status, got)
	status, _ = front.request("GET", "/", "", "Host", "evil.example", "Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, status)
	v := s.enterPage(opener)
	v.s = &front
	conn, status := front.socket("/v1/page", own...)
	require.NotNil(t, conn, "%d", status)
	require.NoError(t, conn.WriteJSON(map[string]string{"type": "hello", "ticket": s.ticketOf(v)}))
	var welcome struct{ Type string }
	require.NoError(t, conn.ReadJSON(&welcome))
	require.Equal(t, "welcome", welcome.Type)
	message(t, conn, &protocol.SessionsList{RequestID: "l"})
	hear[*protocol.SessionsListResult](t, conn)

	front.silent(connectionsPerPeer, own...)
	status, got = front.request("GET", "/", "", append(own, "X-Forwarded-For", "198.51.100.1")...) // it may claim any address
	require.Equal(t, http.StatusTooManyRequests, status, got)
	status, _ = s.request("GET", "/", "")
	require.Equal(t, http.StatusOK, status, "of another address")
}

// ticketOf gets a ticket for a page here.
func (s *site) ticketOf(v *visitor) string {
	s.t.Helper()
	at := *v
	at.s = s
	return at.ticket()
}
