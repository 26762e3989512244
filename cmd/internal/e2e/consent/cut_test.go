package consent_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// relay is a network between a proxy and its gateway. A test can cut its connections.
type relay struct {
	url string

	mu    sync.Mutex
	conns []net.Conn
}

func relayTo(w *world.World, url string) *relay {
	w.T.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.T, err)
	r := &relay{url: "ws://" + ln.Addr().String()}
	w.T.Cleanup(func() { _ = ln.Close(); r.cut() })
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
	w := world.New(t)
	server := w.Serve("gateway")
	proxyToken, agentToken := w.Token("p", "proxy"), w.Token("a", "agent")
	network := relayTo(w, server.URL)
	s := w.Terminal(100, 24)
	s.Run("PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent --gateway " + network.url + " ledger heard")
	s.Wait("ready")
	id := w.Session("--gateway", server.URL, "--token-file", agentToken)
	a := w.Agent("claude", world.Eras[1], "--gateway", server.URL, "--token-file", agentToken)
	for i := range 3 {
		a.ObtainGrant(s, "to type")
		word := fmt.Sprintf("[word.%d]", i)
		typing := a.StartCall("terminal_send", world.Args{"terminal": id, "text": word, "enter": i%2 == 0})
		if i%3 > 0 {
			w.Until(func() bool { return i%3 == 1 || strings.Contains(w.Content("heard"), word) }, func() string { return word })
		}
		network.cut()
		got := w.WaitAnswer(typing)
		require.NotContains(t, got.Text, "unknown whether", "the session came back")
		read := strings.Count(w.Content("heard"), word)
		switch {
		case !got.Fails, strings.Contains(got.Text, "\ntyped: text"):
			w.Until(func() bool { return strings.Count(w.Content("heard"), word) == 1 }, func() string { return word + ": " + got.Text })
		default:
			require.Zero(t, read, got.Text)
		}
	}
	s.Close()
}
