package e2e_test

import (
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
)

// repeats echoes what it reads, and writes it to a file.
const repeats = `bash -c 'seq 100; echo ready; while read -r x; do echo "$x" >> heard; echo "heard: $x"; done'`

// looker watches a session of a remote gateway.
type looker struct {
	mu    sync.Mutex
	rows  []string
	ended bool
}

func (w *world) newLooker(url, token, id string) *looker {
	w.t.Helper()
	ep, err := endpoint.Parse(url)
	require.NoError(w.t, err)
	ep.Token, err = auth.ReadTokenFile(token)
	require.NoError(w.t, err)
	c := client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(protocol.PathView), Header: ep.Header()})
	stream, err := c.View(w.ctx, id, 0)
	require.NoError(w.t, err)
	l, done := new(looker), make(chan struct{})
	go func() { // ends with the client
		defer close(done)
		for m := range stream {
			l.mu.Lock()
			if rows, ok := m.(*protocol.Rows); ok {
				l.rows = rows.Lines
			} else {
				l.ended = true
			}
			l.mu.Unlock()
		}
	}()
	w.t.Cleanup(func() { _ = c.Close(); <-done })
	return l
}

func (l *looker) sees(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.rows, func(row string) bool { return strings.Contains(row, text) })
}

// `systemctl restart` of a server costs no more than the grant: the session is the same, waits and
// views continue, and nothing is typed twice. Control ends with the connection, and both sides are
// told.
func TestAServerRestarts(t *testing.T) {
	w := newWorld(t)
	first := w.serve("gateway")
	proxyToken, viewerToken := w.token("p", "proxy"), w.token("v", "viewer")
	at := func(name string) []string {
		return []string{"--gateway", first.url, "--token-file", w.path(name)}
	}
	for _, name := range []string{"claude", "waiter", "patient"} {
		w.token(name, "agent")
	}
	share := func(line, ready string) *terminal {
		s := w.terminal(100, 24)
		s.run("PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent --gateway " + first.url + " " + line)
		s.wait(ready)
		return s
	}
	s := share(repeats, "ready")
	id := w.session(at("claude")...)
	other := share("listener got", "listening")
	ids := w.ids(2, at("claude")...)
	otherID := ids[1-slices.Index(ids, id)]
	claude, waiter, patient := w.agent("claude", eras[1], at("claude")...), w.agent("waiter", eras[1], at("waiter")...), w.agent("patient", eras[0], at("patient")...)
	given := claude.startCall("terminal_request_control", args{"terminal": id, "reason": "to type"})
	s.answer("C-g")
	require.Contains(t, w.waitAnswer(given).text, "granted")
	look := w.newLooker(first.url, viewerToken, id)
	w.until(func() bool { return look.sees("ready") }, func() string { return "nothing to look at" })

	waits := waiter.startCall("terminal_wait", args{"terminal": id, "for": "text", "value": "heard: late", "timeout_ms": 50_000})
	control := claude.startCall("terminal_wait", args{"terminal": id, "for": "control", "timeout_ms": 50_000})
	line := w.start("gateway", append([]string{"wait", id, "--text", "heard: late", "--timeout", "50s"}, at("waiter")...)...)
	asks := patient.startCall("terminal_request_control", args{"terminal": otherID, "reason": "to help"})
	other.waitQuestion()
	typing := claude.startCall("terminal_send", args{"terminal": id, "text": "one word", "enter": true, "wait_for": "text", "value": "heard: late", "timeout_ms": 50_000})
	s.wait("heard: one word")
	address := strings.TrimPrefix(first.url, "ws://")
	metrics := w.callerAt("tcp", address, address)
	metrics.token = strings.TrimSpace(w.content("v"))
	metrics.waitPending(5)

	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, first.wait().status, first.out.String())
	s.waitGone("drives")
	s.typed("while nobody serves\n")
	s.wait("heard: while nobody serves")
	again := w.serve("gateway", "--listen", address)
	require.Equal(t, first.url, again.url)

	require.Contains(t, w.waitAnswer(control).text, "matched: link")
	require.ElementsMatch(t, ids, w.ids(2, at("claude")...), "the same sessions")
	other.answer("C-g") // the question of the waiting agent is asked anew
	require.Contains(t, w.waitAnswer(asks).text, "granted")
	s.typed("late\n")
	require.Contains(t, w.waitAnswer(waits).text, "matched")
	require.Contains(t, w.waitAnswer(typing).text, "heard: late")
	require.Zero(t, line.wait().status)
	claude.mustFail("terminal_send", args{"terminal": id, "text": "no more"}, "your grant ended when the connection was lost")
	w.until(func() bool { return look.sees("heard: late") }, func() string { return "the viewer is left behind" })
	require.False(t, look.ended)
	claude.mustCall("terminal_read", args{"terminal": id, "view": "history", "start": 1}, "\n42\n")
	require.Equal(t, "one word\nwhile nobody serves\nlate\n", w.content("heard"))
	for _, s := range []*terminal{s, other} {
		s.press("C-d")
		require.Zero(t, s.status())
	}
}
