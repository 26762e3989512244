package e2e_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay is a network between a proxy and its gateway. A test can cut its connections.
type relay struct {
	url string

	mu    sync.Mutex
	conns []net.Conn
}

func (w *world) relayTo(url string) *relay {
	w.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	r := &relay{url: "ws://" + ln.Addr().String()}
	w.t.Cleanup(func() { _ = ln.Close(); r.cut() })
	go func() { // ends with the listener
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", strings.TrimPrefix(url, "ws://"))
			if err != nil {
				_ = near.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, near, far)
			r.mu.Unlock()
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }() // both end with the connections
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		}
	}()
	return r
}

// cut cuts all open connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

// The connection to a remote gateway is cut while an agent types. The agent is told exactly what
// the program has read.
func TestReceiptsOutlastALostConnection(t *testing.T) {
	w := newWorld(t)
	server := w.serve("gateway")
	proxyToken, agentToken := w.token("p", "proxy"), w.token("a", "agent")
	network := w.relayTo(server.url)
	s := w.terminal(100, 24)
	s.run("PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent --gateway " + network.url + " ledger heard")
	s.wait("ready")
	id := w.session("--gateway", server.url, "--token-file", agentToken)
	a := w.agent("claude", eras[1], "--gateway", server.url, "--token-file", agentToken)
	for i := range 6 {
		a.obtainGrant(s, "to type")
		word := fmt.Sprintf("[word.%d]", i)
		typing := a.startCall("terminal_send", args{"terminal": id, "text": word, "enter": i%2 == 0})
		if i%3 > 0 {
			w.until(func() bool { return i%3 == 1 || strings.Contains(w.content("heard"), word) }, func() string { return word })
		}
		network.cut()
		got := w.waitAnswer(typing)
		require.NotContains(t, got.text, "unknown whether", "the session came back")
		read := strings.Count(w.content("heard"), word)
		switch {
		case !got.fails, strings.Contains(got.text, "\ntyped: text"):
			w.until(func() bool { return strings.Count(w.content("heard"), word) == 1 }, func() string { return word + ": " + got.text })
		default:
			require.Zero(t, read, got.text)
		}
	}
	s.close()
}
