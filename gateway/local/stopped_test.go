package local

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol/fake"
)

// other is another process that serves the local gateway.
type other struct {
	t   *testing.T
	cmd *exec.Cmd
}

func startOther(t *testing.T, dir string) *other { return startHelper(t, "serve", dir) }

func startHelper(t *testing.T, what, dir string) *other {
	t.Helper()
	o := &other{t, helperProcess(t, what, dir)}
	out, err := o.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, o.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "serving\n", line)
	t.Cleanup(func() { _, _ = o.cmd.Process.Kill(), o.cmd.Wait() })
	return o
}

func (o *other) stop() {
	o.t.Helper()
	require.NoError(o.t, o.cmd.Process.Signal(syscall.SIGSTOP))
	require.Eventually(o.t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(o.cmd.Process.Pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") T ")
	}, fake.Soon, time.Millisecond)
}

// It does not answer requests from before or during the stop once another process has the name,
// whether the connection is old or new.
func TestAWokenServerAnswersNothingR74(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	path := filepath.Join(dir, place.Name)
	o := startOther(t, dir)
	before, err := endpoint.DialSocket(fake.Within(t), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, before.Close()) }()
	ask := func(conn io.Writer) {
		_, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
	}
	status := func(conn io.Reader) string {
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			return "closed"
		}
		return strings.TrimSpace(line)
	}
	ask(before)
	require.Contains(t, status(before), "200")
	o.stop()
	during, err := endpoint.DialSocket(fake.Within(t), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, during.Close()) }()
	ask(before)
	ask(during)
	l := newLocal(t, dir)
	dials(t, l)
	require.True(t, l.Serving())
	require.NoError(t, o.cmd.Process.Signal(syscall.SIGCONT))
	require.NotContains(t, status(before), "200")
	require.NotContains(t, status(during), "200")
	dials(t, l) // the name is no longer the other's
}

// A process about to stop gives the place up, does not serve while it is away, and is then a client
// of the next one.
func TestAHandOverR74(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	first, second := newLocal(t, dir), New(dir, nil)
	seat, err := first.JoinInProcess()
	require.NoError(t, err)
	first.GiveUpPlace()
	require.NoFileExists(t, filepath.Join(dir, place.Name))
	_, err = seat.Next(nil)
	require.Error(t, err)
	none, err := first.JoinInProcess()
	require.NoError(t, err)
	require.Nil(t, none, "it does not take back what it gave up")
	dials(t, second)
	dials(t, first)
	first.ServeAgain()
	require.False(t, first.Serving())
	require.NoError(t, second.Close())
	again, err := first.JoinInProcess()
	require.NoError(t, err)
	require.NotNil(t, again)
}

// The name goes before the stop, however long the rest takes: here the file of an ended session
// cannot be written. A name that stayed would lead to a server that closes after the stop.
func TestASlowHandOverLeavesNoNameR74(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	l := newLocal(t, dir)
	dials(t, l)
	file := filepath.Join(dir, keptDir, sessionFileName("vim-1")+".new")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	t.Cleanup(func() { // lets the writer go on, and so the server end
		written, err := os.Open(file)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, written)
		require.NoError(t, errors.Join(err, written.Close()))
	})
	ends(l.serving.server.Switchboard(), "vim-1")
	l.GiveUpPlace()
	require.NoFileExists(t, filepath.Join(dir, place.Name))
}

// A process that served does so again when it goes on, before any of its own clients ask, and says
// that sessions may be on their way. One that did not serve does not begin to.
func TestAContinuedServerServesAtOnceR74(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	path := filepath.Join(dir, place.Name)
	first := newLocal(t, dir)
	first.GiveUpPlace()
	first.ServeAgain()
	first.ending.Wait()
	require.NoFileExists(t, path)
	dials(t, first)
	first.GiveUpPlace()
	require.NoFileExists(t, path)
	first.ServeAgain()
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err == nil }, fake.Soon, time.Millisecond)
	conn, status, health := askHealth(t, path)
	require.NoError(t, conn.Close())
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, health, `"gathering":true`)
}

// Another process removes the socket.
func TestAServerRestoresItsRemovedNameR74(t *testing.T) {
	dir := shortDir(t)
	l := newLocal(t, dir)
	for range 2 {
		dials(t, l)
		require.True(t, l.Serving())
		require.NoError(t, os.Remove(filepath.Join(dir, place.Name)))
	}
	dials(t, l)
}

// gateway serve loses its place while it is stopped, and takes it again when the others leave.
func TestAServerKeepsItsPlaceR74(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	end := keepPlace(t, dir, gateway.Config{})
	_, err := TakePlace(dir)
	require.ErrorIs(t, err, place.ErrHeld)
	l := New(dir, nil)
	require.NoError(t, os.Remove(filepath.Join(dir, place.Name)))
	dials(t, l)
	require.True(t, l.Serving())
	require.NoError(t, l.Close())
	second := New(dir, nil)
	require.Eventually(t, func() bool { _, err := os.Lstat(filepath.Join(dir, place.Name)); return err == nil }, fake.Soon, 10*time.Millisecond)
	dials(t, second)
	require.False(t, second.Serving())
	require.NoError(t, second.Close())
	end()
	empty(t, dir)
}
