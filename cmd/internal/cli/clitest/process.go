package clitest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
