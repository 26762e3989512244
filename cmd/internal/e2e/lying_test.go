package e2e_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/fake"
)

// The gateway sends an endless header for as long as the proxy reads. The session continues, its
// user is told, and the proxy's memory does not grow.
func TestALyingGatewayCostsTheProxyNothingR75(t *testing.T) {
	w := newWorld(t)
	tried := make(chan struct{}, 1000)
	addr, _ := fake.Server(t, "tcp", func(c net.Conn) {
		tried <- struct{}{}
		fake.Flood(c, "HTTP/1.1 101 Switching Protocols\r\n", "X-Line: "+strings.Repeat("x", 8<<10)+"\r\n")
	})
	s := w.terminal(100, 24)
	proxy := s.runListener("--agent --gateway ws://" + addr)
	s.wait("agents cannot see this session")
	for range 4 {
		fake.Receive(t, tried, "a connection of the proxy's")
	}
	status, err := os.ReadFile(filepath.Join("/proc", proxy, "status"))
	require.NoError(t, err)
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(most)[0])
	require.NoError(t, err)
	require.Less(t, kib, 64<<10)
	got := w.gateway("ls", "--gateway", "ws://"+addr)
	got.mustFail(t, 5, "it is not a gateway")
	s.typed("mine\x04")
	w.until(func() bool { return w.content("heard") == "mine\x04" }, func() string { return w.content("heard") })
}
