package gateways_test

import (
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// repeats echoes what it reads, and writes it to a file.
const repeats = `bash -c 'seq 100; echo ready; while read -r x; do echo "$x" >> heard; echo "heard: $x"; done'`

// looker watches a session of a remote gateway.
type looker struct {
	mu    sync.Mutex
	rows  []string
	ended bool
}

func newLooker(w *world.World, url, token, id string) *looker {
	w.T.Helper()
	ep, err := endpoint.Parse(url)
	require.NoError(w.T, err)
	ep.Token, err = auth.ReadTokenFile(token)
	require.NoError(w.T, err)
	c := client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(protocol.PathView), Header: ep.Header()})
	stream, err := c.View(w.Ctx, id, 0)
	require.NoError(w.T, err)
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
	w.T.Cleanup(func() { _ = c.Close(); <-done })
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
	w := world.New(t)
	first := w.Serve("gateway")
	proxyToken, viewerToken := w.Token("p", "proxy"), w.Token("v", "viewer")
	at := func(name string) []string {
		return []string{"--gateway", first.URL, "--token-file", w.Path(name)}
	}
	for _, name := range []string{"claude", "waiter", "patient"} {
		w.Token(name, "agent")
	}
	share := func(line, ready string) *world.Terminal {
		s := w.Terminal(100, 24)
		s.Run("PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent --gateway " + first.URL + " " + line)
		s.Wait(ready)
		return s
	}
	s := share(repeats, "ready")
	id := w.Session(at("claude")...)
	other := share("listener got", "listening")
	ids := w.IDs(2, at("claude")...)
	otherID := ids[1-slices.Index(ids, id)]
	claude, waiter, patient := w.Agent(world.Extends, world.Eras[1], at("claude")...), w.Agent(world.Extends, world.Eras[1], at("waiter")...), w.Agent("patient", world.Eras[0], at("patient")...)
	given := claude.StartCall("terminal_request_control", world.Args{"terminal": id, "reason": "to type"})
	s.Answer("C-g")
	require.Contains(t, w.WaitAnswer(given).Text, "granted")
	look := newLooker(w, first.URL, viewerToken, id)
	w.Until(func() bool { return look.sees("ready") }, func() string { return "nothing to look at" })

	waits := waiter.StartCall("terminal_wait", world.Args{"terminal": id, "for": "text", "value": "heard: late", "timeout_ms": 240_000})
	control := claude.StartCall("terminal_wait", world.Args{"terminal": id, "for": "control", "timeout_ms": 240_000})
	line := w.Start("gateway", append([]string{"wait", id, "--text", "heard: late", "--timeout", "5m"}, at("waiter")...)...)
	asks := patient.StartCall("terminal_request_control", world.Args{"terminal": otherID, "reason": "to help"})
	other.WaitQuestion()
	typing := claude.StartCall("terminal_send", world.Args{"terminal": id, "text": "one word", "enter": true, "wait_for": "text", "value": "heard: late", "timeout_ms": 240_000})
	s.Wait("heard: one word")
	address := strings.TrimPrefix(first.URL, "ws://")
	metrics := w.CallerAt("tcp", address, address)
	metrics.Token = strings.TrimSpace(w.Content("v"))
	metrics.WaitPending(5)

	require.NoError(t, first.Cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, first.Wait().Status, first.Out.String())
	s.WaitGone("drives")
	s.Typed("while nobody serves\n")
	s.Wait("heard: while nobody serves")
	again := w.Serve("gateway", "--listen", address)
	require.Equal(t, first.URL, again.URL)

	require.Contains(t, w.WaitAnswer(control).Text, "matched: link")
	require.ElementsMatch(t, ids, w.IDs(2, at("claude")...), "the same sessions")
	other.Answer("C-g") // the question of the waiting agent is asked anew
	require.Contains(t, w.WaitAnswer(asks).Text, "granted")
	s.Typed("late\n")
	require.Contains(t, w.WaitAnswer(waits).Text, "matched")
	require.Contains(t, w.WaitAnswer(typing).Text, "heard: late")
	require.Zero(t, line.Wait().Status)
	claude.MustFail("terminal_send", world.Args{"terminal": id, "text": "no more"}, "your grant ended when the connection was lost")
	w.Until(func() bool { return look.sees("heard: late") }, func() string { return "the viewer is left behind" })
	require.False(t, look.ended)
	claude.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "start": 1}, "\n42\n")
	require.Equal(t, "one word\nwhile nobody serves\nlate\n", w.Content("heard"))
	for _, s := range []*world.Terminal{s, other} {
		s.Press("C-d")
		require.Zero(t, s.Status())
	}
}
