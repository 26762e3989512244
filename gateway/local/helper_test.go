package local

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol/fake"
)

// helperEnv makes the test binary a helper program: it serves, or dials, in the directory that the
// variable names.
const helperEnv = "GATEWAY_TEST_HELPER"

// fewFiles and someFiles limit the open files of a helper whose name begins with few or some.
const (
	fewFiles  = 24
	someFiles = 300
)

func TestMain(m *testing.M) {
	if what := os.Getenv(helperEnv); what != "" {
		helper(what)
		return
	}
	goleak.VerifyTestMain(m, fake.Lingering())
}

// shortDir makes a directory of mode 0700 whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw") //nolint:usetesting // t.TempDir's path is too long
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// newLocal makes the local gateway's part of a user's process, until the test ends.
func newLocal(t *testing.T, dir string) *Gateway {
	t.Helper()
	l := New(dir, nil)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// dials makes a connection and gives it up.
func dials(t *testing.T, l *Gateway) {
	t.Helper()
	conn, err := l.Dial(fake.Within(t))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

// empty checks that a directory is empty.
func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// keepPlace holds the place at dir, as gateway serve does, until end or the end of the test.
func keepPlace(t *testing.T, dir string, cfg gateway.Config) (end func()) {
	t.Helper()
	taken, err := TakePlace(dir)
	require.NoError(t, err)
	s, served := gateway.New(cfg), make(chan error, 1)
	go func() { served <- KeepPlace(context.Background(), s, taken) }() // ends with Close
	end = sync.OnceFunc(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-served)
	})
	t.Cleanup(end)
	return end
}

func helper(what string) {
	ctx, cancel := context.WithTimeout(context.Background(), fake.Soon)
	defer cancel()
	dir := os.Getenv(userdirs.EnvDir)
	for word, files := range map[string]uint64{"few ": fewFiles, "some ": someFiles} {
		rest, ok := strings.CutPrefix(what, word)
		if !ok {
			continue
		}
		what = rest
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files}); err != nil {
			fmt.Println("failed", err)
			return
		}
	}
	switch what {
	case "serve":
		l := New(dir, nil)
		if _, err := l.Dial(ctx); err != nil || !l.Serving() {
			fmt.Println("failed", err)
			return
		}
		fmt.Println("serving")
		<-ctx.Done() // killed before
	case "dial":
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, place.Name))
		if err != nil {
			fmt.Println("refused at connect")
			return
		}
		if _, err := fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err == nil {
			if n, _ := conn.Read(make([]byte, 1)); n == 1 {
				fmt.Println("answered")
				return
			}
		}
		fmt.Println("refused by credentials")
	}
}

// Serving reports whether this process is the gateway now.
func (l *Gateway) Serving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving != nil
}
