package place

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol/fake"
	"terminalproxy/protocol/handshake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(ctx context.Context, path string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

// taken takes the place and serves healthz there.
func taken(t *testing.T, dir string, instead *SilentOwnerError, force bool) *Place {
	t.Helper()
	p, err := TakePlace(dir, instead, force)
	require.NoError(t, err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}\n") })}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(p.Listener) }()
	t.Cleanup(func() { _ = p.GiveUpName(); _ = s.Close(); <-served })
	return p
}

func TestTheNameDecidesWhoOwnsThePlaceR74(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := taken(t, dir, nil, false)
	require.True(t, first.HoldsName())
	_, err := TakePlace(dir, nil, true)
	require.ErrorIs(t, err, ErrHeld, "force is about the lock, and not about who lives")
	conn, err := DialOwner(fake.Within(t), first.Path(), dial)
	require.NoError(t, err)

	second := taken(t, dir, &SilentOwnerError{at: first.at}, false)
	fake.Receive(t, first.NameLost(), "the first one hears that it lost the place")
	require.False(t, first.HoldsName())
	require.True(t, second.HoldsName())
	require.NoError(t, first.GiveUpName())
	require.FileExists(t, first.Path(), "it removes nobody else's name")
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err, "connections to the first one end")
	require.NoError(t, conn.Close())
	_, err = TakePlace(dir, &SilentOwnerError{at: first.at}, false)
	require.ErrorIs(t, err, ErrHeld, "who did not answer has been replaced already")
	require.NoError(t, second.GiveUpName())
	require.False(t, second.HoldsName())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// It looks by itself, after some time.
func TestAnOwnerLooksBeforeItAnswersR74(t *testing.T) {
	p := taken(t, t.TempDir(), nil, false)
	p.unwatch()
	require.NoError(t, os.Remove(p.Path()))
	require.True(t, p.HoldsName(), "it has just looked")
	p.began = p.began.Add(-checkEvery - time.Second)
	require.False(t, p.HoldsName())
}

// Many goroutines read at once what came in while the process was stopped. None answers on the
// assumption that another one is about to look.
func TestAWokenOwnerLooksBeforeAnyAnswerR74(t *testing.T) {
	for range 300 {
		p := &Place{path: filepath.Join(t.TempDir(), Name), began: time.Now().Add(-checkEvery - time.Second), lost: make(chan struct{})}
		var at, done sync.WaitGroup
		var wrong atomic.Int64
		at.Add(1)
		for range 8 {
			done.Go(func() { // ends at once
				at.Wait()
				if p.HoldsName() {
					wrong.Add(1)
				}
			})
		}
		at.Done()
		done.Wait()
		require.Zero(t, wrong.Load())
	}
}

func TestAStoppedLockHolderDoesNotBlockOthersR74(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lock(dir)
	require.NoError(t, err)
	_, err = TakePlace(dir, nil, false)
	require.ErrorIs(t, err, ErrHeld)
	p := taken(t, dir, nil, true)
	require.True(t, p.HoldsName())
	unlock()
}

// An owner that gives the place up answers its open requests. One that lost the place does not,
// even when it then closes the place.
func TestGivingThePlaceUpAnswersOpenRequests(t *testing.T) {
	dir := t.TempDir()
	p := taken(t, dir, nil, false)
	require.True(t, p.MayAnswer())
	require.NoError(t, p.GiveUpName())
	require.False(t, p.HoldsName())
	require.True(t, p.MayAnswer())

	first := taken(t, dir, nil, false)
	second := taken(t, dir, &SilentOwnerError{at: first.at}, true)
	require.NoError(t, first.GiveUpName())
	require.False(t, first.MayAnswer())
	require.True(t, second.MayAnswer())
}

func TestAnUnresponsiveOwnerIsSilentR74(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), Name)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ln.Close()) }()
	_, err = DialOwner(fake.Within(t), path, dial)
	silent := new(SilentOwnerError)
	require.ErrorAs(t, err, &silent)
	require.Equal(t, os.Getpid(), silent.Process.Pid)
	require.Contains(t, silent.Error(), "place.test")
	require.False(t, silent.Stopped)
	require.NoError(t, silent.RemoveName())
	require.NoFileExists(t, path)
	require.NoError(t, silent.RemoveName(), "twice is once")
	_, err = DialOwner(fake.Within(t), path, dial)
	require.True(t, IsVacant(err), "%v", err)
}

func TestReachEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ln.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = DialOwner(ctx, path, dial)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.FileExists(t, path)
}

// The socket may belong to a process that lies.
func TestTheProbeIsBoundedR75(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]struct {
		say  string
		want error
	}{
		"endless header": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 128<<10), handshake.ErrTooLong},
		"endless lines":  {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 32<<10), handshake.ErrTooLong},
		"half an answer": {"HTTP/1.1 200 OK\r\n", handshake.ErrTooSlow},
		"replaced":       {"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", ErrReplaced},
		"another server": {"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", nil},
		"too much":       {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), Name)
			ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
			require.NoError(t, err)
			var all sync.WaitGroup
			all.Go(func() { // ends when the other end closes
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, lie.say)
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			})
			_, err = DialOwner(fake.Within(t), path, dial)
			require.Error(t, err)
			if lie.want != nil {
				require.ErrorIs(t, err, lie.want)
			} else {
				require.ErrorContains(t, err, "not a gateway")
			}
			all.Wait()
			require.NoError(t, ln.Close())
		})
	}
}

// On systems that report no changes.
func TestNamesArePolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		end := pollNames(func() { told.Add(1) })
		time.Sleep(2*pollEvery + time.Second) // of the test's time
		end()
		end()
		require.EqualValues(t, 2, told.Load())
	})
}

func TestCommandLine(t *testing.T) {
	require.Equal(t, "proxy --agent vim a b", commandLine([]string{"/usr/bin/proxy", "--agent", "vim", "a\x1b\nb"}))
	require.Empty(t, commandLine([]string{""}))
	require.Len(t, []rune(commandLine([]string{"x", strings.Repeat("ü", 100)})), maxProcess)
	require.Equal(t, "process 7", Process{Pid: 7}.String())
	require.Equal(t, "a process", Process{}.String())
}
