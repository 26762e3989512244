package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol/fake"
)

// askHealth asks the server at path for its health, and keeps the connection.
func askHealth(t *testing.T, path string) (conn net.Conn, status int, body string) {
	t.Helper()
	conn, err := endpoint.DialSocket(fake.Within(t), path)
	require.NoError(t, err)
	_, err = fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	said, err := io.ReadAll(resp.Body)
	require.NoError(t, errors.Join(err, resp.Body.Close()))
	return conn, resp.StatusCode, string(said)
}

// fill connects to the server at path until all its files are in use.
func fill(t *testing.T, path string, files int) (held []net.Conn) {
	t.Helper()
	for {
		conn, status, body := askHealth(t, path)
		held = append(held, conn)
		require.Less(t, len(held), files)
		if status == http.StatusServiceUnavailable {
			require.Equal(t, fmt.Sprintf("all %d file descriptors of this process are in use", files), body)
			return held
		}
	}
}

// A process without a free file descriptor says so at once to every client, and serves again once
// it has one.
func TestAServerWithoutFreeFilesSaysSo(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	path := filepath.Join(dir, place.Name)
	startHelper(t, "few serve", dir)
	held := fill(t, path, fewFiles)
	_, err := place.DialOwner(fake.Within(t), path, endpoint.DialSocket)
	full := new(place.SilentOwnerError)
	require.ErrorAs(t, err, &full)
	require.ErrorContains(t, err, "which serves the local gateway, has all its 24 file descriptors in use")
	require.Contains(t, full.Hint(), "ulimit -n")
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool {
		conn, status, _ := askHealth(t, path)
		require.NoError(t, conn.Close())
		return status == http.StatusOK
	}, fake.Soon, 10*time.Millisecond)
}

// A server whose files are all in use serves until a process comes that can open more, however many
// the server has.
func TestAFullServerMakesWay(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	first := startHelper(t, "some serve", dir)
	held := fill(t, filepath.Join(dir, place.Name), someFiles)
	said, err := helperProcess(t, "some serve", dir).Output()
	require.NoError(t, err)
	require.Contains(t, string(said), "has all its 300 file descriptors in use", "one that has no more cannot help")
	l := newLocal(t, dir)
	dials(t, l)
	require.True(t, l.Serving())
	_, err = held[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "it has left the place itself")
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	require.NoError(t, first.cmd.Process.Kill())
}
