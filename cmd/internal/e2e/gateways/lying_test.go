package gateways_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol/fake"

	"github.com/stretchr/testify/require"
)

// The gateway sends an endless header for as long as the proxy reads. The session continues, its
// user is told, and the proxy's memory does not grow.
func TestALyingGatewayCostsTheProxyNothingR75(t *testing.T) {
	w := world.New(t)
	tried := make(chan struct{}, 1000)
	addr, _ := fake.Server(t, "tcp", func(c net.Conn) {
		tried <- struct{}{}
		fake.Flood(c, "HTTP/1.1 101 Switching Protocols\r\n", "X-Line: "+strings.Repeat("x", 8<<10)+"\r\n")
	})
	s := w.Terminal(100, 24)
	proxy := s.RunListener("--agent --gateway ws://" + addr)
	s.WaitShown("agents cannot see this session")
	for range 4 {
		fake.Receive(t, tried, "a connection of the proxy's")
	}
	status, err := os.ReadFile(filepath.Join("/proc", proxy, "status"))
	require.NoError(t, err)
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(most)[0])
	require.NoError(t, err)
	require.Less(t, kib, 64<<10)
	got := w.Gateway("ls", "--gateway", "ws://"+addr)
	got.MustFail(t, 5, "it is not a gateway")
	s.Typed("mine\x04")
	w.WaitContent("heard", "mine\x04")
}
