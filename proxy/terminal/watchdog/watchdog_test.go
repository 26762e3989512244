package watchdog

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if IsCalled(os.Args) {
		os.Exit(Run())
	}
	goleak.VerifyTestMain(m)
}

// guarded is a terminal and its watchdog.
type guarded struct {
	t        *testing.T
	w        *Watchdog
	ptmx     *os.File
	terminal int // descriptor of the terminal
	saved    unix.Termios
	failures chan error
}

func guard(t *testing.T) *guarded {
	t.Helper()
	if Self() == "" {
		t.Skip("this system does not say which program runs")
	}
	ptmx, tty, err := pty.Open()
	require.NoError(t, err)
	terminal, err := unix.Dup(int(tty.Fd()))
	require.NoError(t, err)
	require.NoError(t, tty.Close())
	w, err := New(Config{Path: Self(), Keyboard: terminal, Screen: terminal})
	require.NoError(t, err)
	x := &guarded{t: t, w: w, ptmx: ptmx, terminal: terminal, failures: make(chan error, 1)}
	t.Cleanup(func() {
		w.Close()
		require.NoError(t, unix.Close(terminal))
		require.NoError(t, ptmx.Close())
	})
	x.saved = x.settings()
	raw := x.saved
	raw.Lflag &^= unix.ECHO | unix.ICANON
	x.set(raw)
	w.SetLines(&x.saved, &raw)
	return x
}

func (x *guarded) settings() unix.Termios {
	x.t.Helper()
	now, err := unix.IoctlGetTermios(x.terminal, ioctlGetTermios)
	require.NoError(x.t, err)
	return *now
}

func (x *guarded) set(to unix.Termios) {
	x.t.Helper()
	require.NoError(x.t, unix.IoctlSetTermios(x.terminal, ioctlSetTermiosDrain, &to))
}

// watch starts the watchdog and returns its process id.
func (x *guarded) watch() int {
	x.t.Helper()
	x.w.StartProcess(func(err error) { x.failures <- err })
	return x.another(0)
}

// another waits for a watchdog other than the previous one.
func (x *guarded) another(before int) (pid int) {
	x.t.Helper()
	require.Eventually(x.t, func() bool {
		x.w.mu.Lock()
		defer x.w.mu.Unlock()
		pid = x.w.pid
		return pid != 0 && pid != before
	}, 2*time.Minute, time.Millisecond)
	return pid
}

// die closes what the end of this process would close, and waits for the watchdog's end.
func (x *guarded) die(pid int) {
	x.t.Helper()
	x.w.mu.Lock()
	x.w.closing = true // no other one may follow
	fd := x.w.pipe[1]
	x.w.pipe[1] = -1
	x.w.mu.Unlock()
	require.NoError(x.t, unix.Close(fd))
	<-x.w.ended
	require.ErrorIs(x.t, unix.Kill(pid, 0), unix.ESRCH, "no zombie")
}

// shown returns what was written to the terminal.
func (x *guarded) shown() string {
	x.t.Helper()
	_, err := unix.Write(x.terminal, []byte("END"))
	require.NoError(x.t, err)
	var all []byte
	for buf := make([]byte, 4096); !bytes.HasSuffix(all, []byte("END")); {
		n, err := x.ptmx.Read(buf)
		require.NoError(x.t, err)
		all = append(all, buf[:n]...)
	}
	return strings.TrimSuffix(string(all), "END")
}

func TestTheWillIsExecutedR59(t *testing.T) {
	x := guard(t)
	x.w.SetExit(nil, []byte("an older one"))
	pid := x.watch()
	x.w.SetExit([]byte("line,"), []byte("modes"))
	x.die(pid)
	require.Equal(t, "line,modes", x.shown())
	require.Equal(t, x.saved, x.settings())
}

// Settings that are not the proxy's are left alone.
func TestTheShellWasFasterR59(t *testing.T) {
	x := guard(t)
	pid := x.watch()
	theirs := x.saved
	theirs.Cc[unix.VINTR] = 'X' & 0x1f
	x.set(theirs)
	x.die(pid)
	require.Equal(t, theirs, x.settings())
}

// During a suspension the terminal is the shell's.
func TestNothingDuringASuspensionR61(t *testing.T) {
	x := guard(t)
	x.w.SetExit(nil, []byte("modes"))
	pid := x.watch()
	x.w.SetExit(nil, nil)
	x.w.SetLines(nil, nil)
	before := x.settings()
	x.die(pid)
	require.Empty(t, x.shown())
	require.Equal(t, before, x.settings())
}

func TestClosedWithoutAWordR59(t *testing.T) {
	x := guard(t)
	x.w.SetExit(nil, []byte("modes"))
	before := x.settings()
	pid := x.watch()
	x.w.mu.Lock()
	x.w.closing = true
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	x.w.mu.Unlock()
	<-x.w.ended
	require.Empty(t, x.shown())
	require.Equal(t, before, x.settings())
	require.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH, "no zombie")
}

// Another watchdog follows it, but not for ever.
func TestAKilledWatchdogIsFollowedByAnotherR59(t *testing.T) {
	x := guard(t)
	pid := x.watch()
	for range restarts {
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
		pid = x.another(pid)
	}
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	require.ErrorContains(t, <-x.failures, "killed too often")
}

// Neither those of a closing terminal, nor those that a user sends to the proxy.
func TestSignalsDoNotEndTheWatchdogR59(t *testing.T) {
	x := guard(t)
	x.w.SetExit(nil, []byte("modes"))
	pid := x.watch()
	require.Eventually(t, func() bool { return ignores(pid, unix.SIGUSR2) }, 2*time.Minute, time.Millisecond)
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU} {
		require.NoError(t, unix.Kill(pid, sig))
	}
	x.die(pid)
	require.Equal(t, "modes", x.shown())
}

// ignores reports whether a process ignores a signal (proc(5), status). If that is unknown, it
// reports true: by then the process has had time.
func ignores(pid int, sig unix.Signal) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	_, rest, _ := strings.Cut(string(status), "SigIgn:\t")
	mask, err := strconv.ParseUint(strings.TrimSpace(rest[:min(16, len(rest))]), 16, 64)
	return err == nil && mask&(1<<(sig-1)) != 0
}

// The modes matter most.
func TestALineThatDoesNotFit(t *testing.T) {
	x := guard(t)
	x.w.SetExit(make([]byte, MaxExit), []byte("modes"))
	x.die(x.watch())
	require.Equal(t, "modes", x.shown())
}

func TestAProgramThatCannotBeStarted(t *testing.T) {
	w, err := New(Config{Path: "/nonexistent/proxy", Keyboard: -1, Screen: -1})
	require.NoError(t, err)
	failures := make(chan error, 1)
	w.StartProcess(func(err error) { failures <- err })
	require.ErrorIs(t, <-failures, unix.ENOENT)
	w.Close()
}
