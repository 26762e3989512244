package local

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
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

// A dialling process takes over, and connections to the stopped one move. When the stopped one
// continues, it is no longer the gateway, whatever it was sent meanwhile.
func TestAStoppedServerIsReplacedR74(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	o := startOther(t, dir)
	l, second := newLocal(t, dir), newLocal(t, dir)
	p := fake.StartProxy(t, second.Dial, "ws://localhost"+protocol.PathProxy, nil, "vim-1")
	agent := newAgent(t, l, "lasting")
	ctx := fake.Within(t)
	require.Eventually(t, func() bool {
		list, err := agent.Sessions(ctx)
		return err == nil && len(list) == 1
	}, fake.Soon, 10*time.Millisecond)
	require.False(t, l.Serving())
	raw, err := l.Dial(ctx)
	require.NoError(t, err)

	o.stop()
	in, err := agent.Input(ctx, &protocol.Input{RequestID: "one", SessionID: "vim-1", Data: "x"})
	require.NoError(t, err)
	require.Equal(t, protocol.StatusWritten, in.Status)
	<-p.Typed
	require.Empty(t, p.Typed, "typed once")
	require.NotEqual(t, l.Serving(), second.Serving(), "one of them serves")
	_, err = raw.Read(make([]byte, 1))
	require.Error(t, err, "what was connected to the stopped one is not any more")
	_ = raw.Close()

	require.NoError(t, o.cmd.Process.Signal(syscall.SIGCONT))
	list, err := agent.Sessions(ctx)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NotEqual(t, l.Serving(), second.Serving())
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

// A command that only asks takes the name from a stopped process, says whose it was, and finds the
// next one.
func TestACommandTakesAStoppedServersNameR74(t *testing.T) {
	dir := shortDir(t)
	t.Setenv(userdirs.EnvDir, dir)
	o := startOther(t, dir)
	ep, err := endpoint.Parse("")
	require.NoError(t, err)
	told := make(chan string, 1)
	ep.Displaced = func(why string) { told <- why }
	o.stop()

	look := ep
	look.KeepsOwner = true
	_, err = look.DialContext(fake.Within(t))
	silent := new(place.SilentOwnerError)
	require.ErrorAs(t, err, &silent)
	require.FileExists(t, filepath.Join(dir, place.Name), "looking changes nothing")

	_, err = ep.DialContext(fake.Within(t))
	require.ErrorContains(t, err, "and no other process serves it")
	require.ErrorContains(t, err, "process "+strconv.Itoa(o.cmd.Process.Pid))
	require.Contains(t, <-told, "stopped")
	require.NoFileExists(t, filepath.Join(dir, place.Name))
	require.NoError(t, o.cmd.Process.Signal(syscall.SIGCONT))

	l := newLocal(t, dir)
	dials(t, l)
	conn, err := ep.DialContext(fake.Within(t))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
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

// It stops after it answered the probe, and before it upgraded the connection.
func TestStoppedDuringTheHandshakeR74(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	o := startOther(t, dir)
	l := newLocal(t, dir)
	var once sync.Once
	c := client.New(client.Config{
		URL: "ws://localhost" + protocol.PathAgent,
		Dial: func(ctx context.Context) (net.Conn, error) {
			conn, err := l.Dial(ctx)
			once.Do(o.stop)
			return conn, err
		},
	})
	defer func() { require.NoError(t, c.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 3*fake.Soon)
	defer cancel()
	list, err := c.Sessions(ctx)
	require.NoError(t, err)
	require.Empty(t, list)
	require.True(t, l.Serving())
}
