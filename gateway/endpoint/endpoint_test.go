package endpoint

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// plain returns an endpoint of this machine, with a token.
func plain(t *testing.T, addr string) Endpoint {
	t.Helper()
	e, err := Parse("ws://" + addr)
	require.NoError(t, err)
	e.Token = "tp_x"
	return e
}

func TestParseEndpointsOfSeveral(t *testing.T) {
	e, err := Parse("wss://a.example, ws://127.0.0.1:7117,wss://b.example:8443/")
	require.NoError(t, err)
	require.Equal(t, "wss://a.example, ws://127.0.0.1:7117, wss://b.example:8443", e.String())
	e.Token = "tp_x"
	var urls, tokens []string
	for _, one := range e.All() {
		require.Len(t, one.All(), 1)
		urls, tokens = append(urls, one.URL("/x")), append(tokens, one.Token+one.Header().Get("Authorization"))
	}
	require.Equal(t, []string{"wss://a.example/x", "ws://127.0.0.1:7117/x", "wss://b.example:8443/x"}, urls)
	require.Equal(t, []string{"tp_xBearer tp_x", "tp_x", "tp_xBearer tp_x"}, tokens)
	for raw, want := range map[string]string{
		"wss://a.example,":                     "number 2 of 2 is empty",
		"wss://a.example,,wss://b.example":     "number 2 of 3 is empty",
		"wss://a.example,b.example":            `number 2 of 2: gateway address "b.example" is not understood`,
		"wss://a.example,ws://b.example":       `number 2 of 2: gateway address "ws://b.example": ws:// is not encrypted`,
		"wss://a.example,unix:/run/x.sock":     `"unix:/run/x.sock", number 2 of 2: a socket of this machine cannot be one of several: write ws:// and wss:// addresses only`,
		"wss://a.example,wss://a.example:443":  `"wss://a.example:443", number 2 of 2: it is listed twice`,
		"wss://a.example,wss://x:secret@b":     `number 2 of 2: gateway address "wss://b": leave out user, query and fragment; a token goes into a file`,
		"ws://[::1],wss://c/?token=secret,x":   `number 2 of 3: gateway address "wss://c": leave out user, query and fragment; a token goes into a file`,
		"a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a":    "17 gateways, the limit is 16",
		"wss://a.example wss://b.example,ws:1": "number 1 of 2: gateway address",
	} {
		_, err := Parse(raw)
		require.ErrorContains(t, err, want, raw)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestParseEndpoint(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         "ws://localhost/v1/agent",
		"unix:/run/x.sock":         "ws://localhost/v1/agent",
		"ws://127.0.0.1:7777":      "ws://127.0.0.1:7777/v1/agent",
		"ws://[::1]:7777/":         "ws://[::1]:7777/v1/agent",
		"ws://LocalHost:1":         "ws://LocalHost:1/v1/agent",
		"wss://box.example":        "wss://box.example/v1/agent",
		"wss://box.example:8443/":  "wss://box.example:8443/v1/agent",
		"wss://198.51.100.7:44300": "wss://198.51.100.7:44300/v1/agent",
	} {
		e, err := Parse(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, e.URL(protocol.PathAgent))
		require.Equal(t, raw == "", e.Local())
		require.Empty(t, e.Header())
		e.Token = "tp_x"
		if e.secure {
			require.Equal(t, "Bearer tp_x", e.Header().Get("Authorization"))
		} else {
			require.Empty(t, e.Header(), "R35: only TLS says who listens before anything is sent")
		}
		require.NotContains(t, e.String(), "tp_x")
	}
	for raw, want := range map[string]string{
		"ws://box.example:80":               "wss://",
		"ws://127.0.0.1.evil.example:80":    "wss://",
		"ws://0.0.0.0:80":                   "wss://",
		"http://127.0.0.1:80":               "not understood",
		"127.0.0.1:80":                      "not understood",
		"unix:run/x.sock":                   "absolute",
		"unix:/" + strings.Repeat("x", 200): "bytes long",
		"wss://box.example/v1/agent":        "path",
		"wss://user:secret@box.example":     "token goes into a file",
		"wss://box.example?token=secret":    "token goes into a file",
		"wss://box.example/#secret":         "token goes into a file",
		"wss://":                            "not understood",
	} {
		_, err := Parse(raw)
		require.ErrorContains(t, err, want, raw)
		require.NotContains(t, err.Error(), "secret")
	}
}

// A socket that the user named is missing: that is another fault than a missing local gateway.
func TestASocketThatNothingServes(t *testing.T) {
	e, err := Parse("unix:" + filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	_, err = e.DialContext(fake.Within(t))
	require.ErrorContains(t, err, "nothing serves the socket "+e.address)
	require.True(t, place.IsVacant(err))
	vacant, ok := errors.AsType[*vacantSocketError](err)
	require.True(t, ok)
	require.Contains(t, vacant.Hint(), "correct --gateway")
}

// R35: the listener has to prove its user before it is told anything.
func TestSocketOfAnotherUserIsNotUsedR35(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ln.Close()) }()
	conn, err := dialSocketAs(fake.Within(t), path, os.Getuid())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	if os.Getuid() == 0 {
		t.Skip("the listener is root's, whom everybody trusts")
	}
	_, err = dialSocketAs(fake.Within(t), path, os.Getuid()+1)
	require.ErrorContains(t, err, "it is not used")
}

// R35: a listener that accepts and says nothing delays the client only for a bounded time.
func TestSilentListenerR35(t *testing.T) {
	ctx, cancel := context.WithCancel(fake.Within(t))
	addr, _ := fake.Server(t, "tcp", func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		cancel()
		_, _ = io.Copy(io.Discard, c) // until the other end gives up
	})
	_, err := plain(t, addr).DialContext(ctx)
	require.Error(t, err)
}

// R75: a peer that lies in the exchange of proofs is given up after 64 KiB.
func TestAnEndlessProofIsBoundedR75(t *testing.T) {
	addr, _ := fake.Server(t, "tcp", func(c net.Conn) { fake.Flood(c, "HTTP/1.1 200 OK\r\n", strings.Repeat("X-Line: y\r\n", 400)) })
	_, err := plain(t, addr).DialContext(fake.Within(t))
	require.Error(t, err)
}

// A door that does not know the name in the request is a gateway all the same.
func TestARefusedClientReadsWhy(t *testing.T) {
	guarded := httptest.NewServer(auth.Guard{}.Handler(http.NotFoundHandler()))
	defer guarded.Close()
	e, err := Parse("ws" + strings.TrimPrefix(guarded.URL, "http"))
	require.NoError(t, err)
	e.host, e.Token = "box.example", "a token"
	_, err = e.DialContext(t.Context())
	require.ErrorContains(t, err, "refused the connection: unknown host name: add it to the allowed hosts")
}
