package mcp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// overHTTP serves f over HTTP until the test ends.
func overHTTP(t *testing.T, f *fake) (*HTTP, *httptest.Server) {
	t.Helper()
	h := NewHTTP(Config{Terminals: f, ProgressEvery: time.Millisecond})
	h.heartbeat = 10 * time.Millisecond
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		s.Client().CloseIdleConnections()
		s.Close()
	})
	return h, s
}

func post(t *testing.T, s *httptest.Server, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := s.Client().Do(r)
	require.NoError(t, err)
	return resp
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// Many clients never say goodbye. The session that was idle for longest ends for a new one, but
// never one in use.
func TestSessionsAreBounded(t *testing.T) {
	_, s := overHTTP(t, newFake())
	begin := func() (id string, status int) {
		resp := post(t, s, initialize)
		_, err := io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.Header.Get(headerSessionID), resp.StatusCode
	}
	listen := func(id string) (status int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set(headerSessionID, id)
		resp, err := s.Client().Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp.StatusCode
	}
	lives := func(id string) bool {
		resp := post(t, s, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, headerSessionID+": "+id)
		defer resp.Body.Close()
		_, err := io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		return resp.StatusCode == http.StatusOK
	}
	var ids []string
	for range maxSessions {
		id, status := begin()
		require.Equal(t, http.StatusOK, status)
		ids = append(ids, id)
	}
	require.Equal(t, http.StatusOK, listen(ids[0]))
	require.True(t, lives(ids[1]), "it is not idle for longest any more")
	_, status := begin()
	require.Equal(t, http.StatusOK, status)
	require.False(t, lives(ids[2]))
	require.True(t, lives(ids[0]))
	require.True(t, lives(ids[1]))
	for _, id := range ids[3:] {
		require.True(t, lives(id))
	}
}

func TestAQuietStreamIsKeptAlive(t *testing.T) {
	_, s := overHTTP(t, newFake())
	resp := post(t, s, initialize)
	_, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	stream, err := s.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = stream.Body.Close() }()
	lines, beats := bufio.NewScanner(stream.Body), 0
	for beats < 3 && lines.Scan() {
		if lines.Text() == ":" {
			beats++
		}
	}
	require.Equal(t, 3, beats)
}

// A call that is cancelled, or whose connection is cut, withdraws its question to the user. A call
// whose time is over does not.
func TestACancelledCallIsGivenUp(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) { inEachEra(t, func(t *testing.T, era string) { givesUp(t, era, false) }) })
	t.Run("cut off", func(t *testing.T) { inEachEra(t, func(t *testing.T, era string) { givesUp(t, era, true) }) })
}

func givesUp(t *testing.T, era string, cuts bool) {
	t.Helper()
	f, asked, given := newFake(), make(chan struct{}), make(chan error, 1)
	f.request = func(ctx context.Context, _ *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
		close(asked)
		<-ctx.Done()
		given <- context.Cause(ctx)
		return nil, nil, context.Cause(ctx)
	}
	h, s := overHTTP(t, f)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "c"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: s.Client()}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // ends with cancel
		_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "terminal_request_control", Arguments: map[string]any{"terminal": "vim-k3f9", "reason": "to test", "timeout_ms": 50000}})
	}()
	<-asked
	if cuts {
		s.CloseClientConnections()
	} else {
		cancel()
	}
	select {
	case why := <-given:
		require.NotErrorIs(t, why, context.DeadlineExceeded)
	case <-time.After(30 * time.Second):
		require.FailNow(t, "the call goes on")
	}
	cancel()
	_ = c.Close()
	h.Close()
}

// eventData returns the data of the answer, which may be the only event of a stream.
func eventData(body io.Reader) io.Reader {
	all, _ := io.ReadAll(body)
	for line := range strings.Lines(string(all)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, `"id":1`) {
			return strings.NewReader(data)
		}
	}
	return strings.NewReader(string(all))
}
