package httpapi

import (
	"bufio"
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestEventsStream(t *testing.T) {
	v := &caller{role: RoleViewer, stream: make(chan protocol.Message), ended: make(chan struct{})}
	server := serve(t, v)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/sessions/vim-1/events", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer x")
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewScanner(resp.Body)
	next := func() string {
		for lines.Scan() {
			if text := lines.Text(); text != "" && text != ":" {
				return text
			}
		}
		return "the end"
	}
	require.True(t, lines.Scan())
	require.Equal(t, ":", lines.Text(), "the heartbeat of a silent stream")
	v.stream <- &protocol.Snapshot{ID: "s", SessionID: "vim-1", Content: "a\nb", Seq: 9}
	require.Equal(t, "event: terminal.snapshot", next())
	require.Equal(t, "id: 9", next())
	require.Equal(t, `data: {"id":"s","sessionId":"vim-1","content":"a\nb","timestamp":0,"seq":9}`, next())
	v.stream <- &protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3}
	require.Equal(t, "event: terminal.session.close", next())
	require.Contains(t, next(), `"exitCode":3`)
	close(v.stream)
	require.Equal(t, "the end", next())
}

// R37: a stream does not outlive the token that opened it.
func TestTheStreamEndsWithTheTokenR37(t *testing.T) {
	v := &caller{role: RoleViewer, stream: make(chan protocol.Message), ended: make(chan struct{})}
	server := serve(t, v)
	close(v.ended)
	require.Equal(t, http.StatusOK, server.do("GET", "/v1/sessions/vim-1/events", "").status)
}

func TestMetrics(t *testing.T) {
	server := serve(t, &caller{role: RoleOwner, answer: plain})
	server.do("GET", "/v1/sessions", "")
	server.do("GET", "/v1/sessions/vim-1", "")
	server.do("GET", "/v1/sessions/nope", "")
	got := server.do("GET", "/metrics", "")
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", got.header.Get("Content-Type"))
	for _, line := range []string{
		`terminalproxy_sessions{state="lost"} 1`, `terminalproxy_sessions{state="running"} 2`, "# TYPE terminalproxy_sessions gauge",
		"terminalproxy_requests_waiting 4", "terminalproxy_sent_bytes_total 1.23456789e+08", "# TYPE terminalproxy_sent_bytes_total counter", `terminalproxy_http_requests_total{method="GET",path="/v1/sessions/{id}",status="404"} 1`,
		`terminalproxy_http_request_seconds_bucket{method="GET",path="/v1/sessions/{id}",le="+Inf"} 2`,
		`terminalproxy_http_request_seconds_count{method="GET",path="/v1/sessions"} 1`, `terminalproxy_build_info{version="test"} 1`,
	} {
		require.Contains(t, got.body, line+"\n")
	}
	if runtime.GOOS == "linux" {
		require.Regexp(t, `\nprocess_open_fds [1-9]\d*\n`, got.body)
	}
	require.NotContains(t, got.body, "nope", "what callers make up makes no series")
	seen := map[string]bool{}
	for line := range strings.Lines(got.body) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			require.False(t, seen[name], "one family twice: %s", name)
			seen[name] = true
			continue
		}
		require.Regexp(t, `^(# HELP [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)\n$`, line)
	}
}
