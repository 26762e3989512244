package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// tap keeps what clients send through it.
type tap struct {
	mu   sync.Mutex
	sent bytes.Buffer
}

// Write implements io.Writer.
func (t *tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent.Write(p)
}

func (t *tap) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent.String()
}

// forward joins a client to the server at addr until one of them ends.
func (t *tap) forward(ctx context.Context, client net.Conn, addr string) {
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	go func() { // ends with the client's connection
		_, _ = io.Copy(io.MultiWriter(t, server), client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

func plain(t *testing.T, addr, token string) endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Parse("ws://" + addr)
	require.NoError(t, err)
	e.Token = token
	return e
}

func sessionsAt(t *testing.T, e endpoint.Endpoint) error {
	t.Helper()
	c := client.New(client.Config{Dial: e.DialContext, URL: e.URL(protocol.PathAgent), Header: e.Header(), Name: "tester"})
	defer func() { require.NoError(t, c.Close()) }()
	_, err := c.Sessions(fake.Within(t))
	return err
}

// R35: on plain TCP the token is proven and never sent.
func TestTheTokenIsNotOnTheWireR35(t *testing.T) {
	addr, tokens, store := tcp(t, Config{})
	token := tokens[auth.RoleAgent]
	e := plain(t, addr, token)
	require.Empty(t, e.Header())
	require.NoError(t, sessionsAt(t, e))

	tap := &tap{}
	through, _ := fake.Server(t, "tcp", func(c net.Conn) { tap.forward(fake.Within(t), c, addr) })
	socket := address{base: "ws://" + addr, dial: plain(t, through, token).DialContext}.mustConnect(t, protocol.PathAgent)
	message(t, socket, &protocol.SessionsList{RequestID: "l"})
	hear[*protocol.SessionsListResult](t, socket)
	requireNoSecret(t, tap.String(), token)
	require.Contains(t, tap.String(), `"answer"`)

	// The role comes from the token. A revoked token is not valid on a connection that it has
	// proven before.
	require.Equal(t, http.StatusForbidden, statusOf(t, address{base: "ws://" + addr, dial: plain(t, addr, tokens[auth.RoleViewer]).DialContext}, protocol.PathAgent))
	early, err := e.DialContext(fake.Within(t))
	require.NoError(t, err)
	defer func() { _ = early.Close() }()
	require.NoError(t, store.Revoke("the-agent"))
	require.Equal(t, http.StatusUnauthorized, statusOf(t, address{base: "ws://" + addr, dial: func(context.Context) (net.Conn, error) { return early, nil }}, protocol.PathAgent))
	require.ErrorContains(t, sessionsAt(t, e), "the token is not known here, or has expired")
}

// requireNoSecret checks that text does not hold the token, in any form.
func requireNoSecret(t *testing.T, text, token string) {
	t.Helper()
	secret, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "tp_"))
	require.NoError(t, err)
	sum := sha256.Sum256([]byte(token))
	for _, form := range []string{
		strings.TrimPrefix(token, "tp_"), hex.EncodeToString([]byte(token)), hex.EncodeToString(secret), string(secret),
		base64.StdEncoding.EncodeToString([]byte(token)), hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(sum[:]), "Authorization",
	} {
		require.NotContains(t, text, form)
	}
}

// R35: another process that listens on the gateway's port learns nothing, whatever it answers.
func TestRogueListenerLearnsNothingR35(t *testing.T) {
	store, err := auth.OpenStore(t.TempDir()+"/private/tokens", nil)
	require.NoError(t, err)
	token, err := store.Create(auth.Token{Name: "a", Role: auth.RoleOwner})
	require.NoError(t, err)
	reply := func(w http.ResponseWriter, p protocol.Proof) { _ = json.NewEncoder(w).Encode(p) }
	for name, rogue := range map[string]func(w http.ResponseWriter, ask protocol.Proof){
		"says yes": func(w http.ResponseWriter, _ protocol.Proof) { reply(w, protocol.Proof{}) },
		"guesses": func(w http.ResponseWriter, _ protocol.Proof) {
			reply(w, protocol.Proof{Nonce: auth.Nonce(), Answer: make([]byte, 32)})
		},
		"gives it back": func(w http.ResponseWriter, ask protocol.Proof) { reply(w, ask) },
		"knows the name": func(w http.ResponseWriter, ask protocol.Proof) {
			reply(w, protocol.Proof{Nonce: ask.Nonce, Answer: []byte(ask.Token)})
		},
		"is something else": func(w http.ResponseWriter, _ protocol.Proof) { http.NotFound(w, nil) },
		"asks for it": func(w http.ResponseWriter, _ protocol.Proof) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "", http.StatusUnauthorized)
		},
		"sends elsewhere": func(w http.ResponseWriter, _ protocol.Proof) {
			w.Header().Set("Location", "/v1/agent")
			w.WriteHeader(http.StatusFound)
		},
		"is broken": func(w http.ResponseWriter, _ protocol.Proof) { http.Error(w, "", http.StatusInternalServerError) },
		"talks on":  func(w http.ResponseWriter, _ protocol.Proof) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var heard bytes.Buffer
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				_ = r.Write(&heard)
				var ask protocol.Proof
				_, body, _ := bytes.Cut(heard.Bytes(), []byte("\r\n\r\n"))
				_ = json.Unmarshal(body, &ask)
				rogue(w, ask)
			}))
			_, err = plain(t, server.Listener.Addr().String(), token).DialContext(fake.Within(t))
			require.Error(t, err)
			require.NotContains(t, err.Error(), token)
			server.Close()
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, 1, strings.Count(heard.String(), "POST "), heard.String())
			requireNoSecret(t, heard.String(), token)
			require.NotContains(t, heard.String(), `"answer"`)
		})
	}
}

// The server's side: proofs out of order, of others and of long ago do not count.
func TestProofsOutOfOrder(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	token := tokens[auth.RoleAgent]
	ref := auth.Ref(token)
	transport := &http.Transport{MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	post := func(body string) (int, protocol.Proof) {
		req, err := http.NewRequestWithContext(fake.Within(t), http.MethodPost, "http://"+addr+protocol.PathProof, strings.NewReader(body))
		require.NoError(t, err)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		defer func() { require.NoError(t, resp.Body.Close()) }()
		var got protocol.Proof
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		if resp.StatusCode == http.StatusOK {
			require.NoError(t, json.Unmarshal(answer, &got))
		}
		return resp.StatusCode, got
	}
	send := func(p protocol.Proof) (int, protocol.Proof) {
		body, err := json.Marshal(p)
		require.NoError(t, err)
		return post(string(body))
	}
	for _, body := range []string{"", "x", "{}", `{"token":"` + ref + `"}`, `{"token":"` + ref + `","nonce":"zz"}`, `{"nonce":"` + auth.Nonce() + `"}`, strings.Repeat(" ", 5<<10)} {
		status, _ := post(body)
		require.Equal(t, http.StatusBadRequest, status, "%.40q", body)
	}
	c := auth.Challenge{Ref: ref, ClientNonce: auth.Nonce(), ServerNonce: auth.Nonce()}
	status, _ := send(protocol.Proof{Token: ref, Answer: c.Answer(token)})
	require.Equal(t, http.StatusUnauthorized, status, "an answer that was not asked for")
	status, _ = send(protocol.Proof{Token: "0123456789abcdef", Nonce: c.ClientNonce})
	require.Equal(t, http.StatusUnauthorized, status, "a name that is nobody's")

	open := func() {
		status, got := send(protocol.Proof{Token: ref, Nonce: c.ClientNonce})
		require.Equal(t, http.StatusOK, status)
		c.ServerNonce = got.Nonce
		require.True(t, c.ServerKnows(token, got.Answer))
	}
	open()
	status, _ = send(protocol.Proof{Token: auth.Ref(tokens[auth.RoleOwner]), Answer: c.Answer(tokens[auth.RoleOwner])})
	require.Equal(t, http.StatusUnauthorized, status, "another token's")
	status, _ = send(protocol.Proof{Token: ref, Answer: c.Answer(token)})
	require.Equal(t, http.StatusUnauthorized, status, "a challenge is good for one answer")
	open()
	status, got := send(protocol.Proof{Token: ref, Answer: c.Answer(token)})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, protocol.Proof{Token: ref, Role: "agent", Name: "the-agent"}, got)
}
