package clitest

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/protocol/fake"
)

// Program prepares the gateway command as a separate process.
func Program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 9*fake.Soon)
	t.Cleanup(cancel)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), AsProgram+"=1")
	return cmd
}

// ServeTCP serves a gateway of this process on a free port until the test ends.
func ServeTCP(t *testing.T, server *gateway.Server) (url string) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { // ends with Close
		defer close(ended)
		_ = server.ServeTCP(context.WithoutCancel(t.Context()), ln, nil)
	}()
	t.Cleanup(func() { require.NoError(t, server.Close()); <-ended })
	return "ws://" + ln.Addr().String()
}

// DialTCP dials the gateway at a URL of [ServeTCP] or [Serve].
func DialTCP(url string) fake.Dialer {
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(url, "ws://"))
	}
}

// Serving is a running `gateway serve`.
type Serving struct {
	Cmd       *exec.Cmd
	URL, Said string
	Stderr    *strings.Builder
}

// Serve runs `gateway serve` until the test ends.
func Serve(t *testing.T, args ...string) *Serving {
	t.Helper()
	s := &Serving{
		Cmd:    Program(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...),
		Stderr: new(strings.Builder),
	}
	s.Cmd.Stderr = s.Stderr
	out, err := s.Cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.Cmd.Start())
	t.Cleanup(func() { _ = s.Cmd.Process.Kill(); _ = s.Cmd.Wait() })
	lines := bufio.NewScanner(out)
	for !strings.HasPrefix(s.Said, "tokens: ") && lines.Scan() {
		s.Said = lines.Text()
		if url, ok := strings.CutPrefix(s.Said, "listening on ws"); ok {
			s.URL = "ws" + url
		}
	}
	require.NotEmpty(t, s.URL, s.Stderr)
	return s
}
