package gateway

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

	"terminalproxy/gateway/place"
	"terminalproxy/protocol/fake"
)

// A process that has no file descriptor left says so at once, to everybody who comes, and serves again when it has one.
func TestWhoIsFullSaysSo(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	path := filepath.Join(dir, socketName)
	startHelper(t, "few serve", dir)
	ask := func() (conn net.Conn, status int, body string) {
		conn, err := dialUnix(fake.Within(t), path)
		require.NoError(t, err)
		_, err = fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		said, err := io.ReadAll(resp.Body)
		require.NoError(t, errors.Join(err, resp.Body.Close()))
		return conn, resp.StatusCode, string(said)
	}
	var held []net.Conn
	for full := false; !full; {
		conn, status, body := ask()
		held = append(held, conn)
		require.Less(t, len(held), fewFiles)
		if full = status == http.StatusServiceUnavailable; full {
			require.Equal(t, "all 24 file descriptors of this process are in use", body)
		}
	}
	_, err := Endpoint{}.dialLocal(fake.Within(t), path)
	full := new(place.Silent)
	require.ErrorAs(t, err, &full)
	require.ErrorContains(t, err, "which serves the local gateway, has all its 24 file descriptors in use")
	require.Contains(t, full.Hint(), "ulimit -n")
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool {
		conn, status, _ := ask()
		require.NoError(t, conn.Close())
		return status == http.StatusOK
	}, fake.Soon, 10*time.Millisecond)
}

// Who can have only a few files open serves until somebody comes who can have more.
func TestWhoHasFewDescriptorsMakesWay(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	first := startHelper(t, "few serve", dir)
	said, err := helperProcess(t, "few serve", dir).Output()
	require.NoError(t, err)
	require.Equal(t, "failed <nil>\n", string(said), "one that has no more is content with it")
	raw, err := dialUnix(fake.Within(t), filepath.Join(dir, socketName))
	require.NoError(t, err)
	l := newLocal(t, dir)
	dials(t, l)
	require.True(t, l.Serving())
	_, err = raw.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "it has left the place itself")
	require.NoError(t, raw.Close())
	require.NoError(t, first.cmd.Process.Kill())
}
