package e2e_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestR75ALyingGatewayCostsTheProxyNothing: it sends a header without an end for as long as anybody reads. The session goes on,
// its user is told, and the proxy's memory stays what it was.
func TestR75ALyingGatewayCostsTheProxyNothing(t *testing.T) {
	w := newWorld(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	tried := make(chan struct{}, 1000)
	var all sync.WaitGroup
	all.Go(func() { // ends with the listener
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			tried <- struct{}{}
			all.Go(func() { // ends when the proxy closes
				_, err := conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\n"))
				for line := []byte("X-Line: " + strings.Repeat("x", 8<<10) + "\r\n"); err == nil; {
					_, err = conn.Write(line)
				}
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); all.Wait() })
	s := w.terminal(100, 24)
	proxy := s.listen("--agent --gateway ws://" + ln.Addr().String())
	s.wait("agents cannot see this session")
	for range 4 {
		<-tried
	}
	status, err := os.ReadFile(filepath.Join("/proc", proxy, "status"))
	require.NoError(t, err)
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(most)[0])
	require.NoError(t, err)
	require.Less(t, kib, 64<<10)
	got := w.gateway("ls", "--gateway", "ws://"+ln.Addr().String())
	require.Equal(t, 5, got.status)
	require.Contains(t, got.err, "what answers there is not a gateway")
	s.typed("mine\x04")
	w.until(func() bool { return w.content("heard") == "mine\x04" }, func() string { return w.content("heard") })
}
