package keep_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/detached/keep"
)

// said records the messages to a process in front.
type said struct{ strings.Builder }

// lent is a terminal that is lent to the session behind a door, and the end of that.
type lent struct {
	end keep.End
	err error
	say said
}

// terminal is a terminal to lend.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
	return master, slave
}

// lendTerminal lets a process in front come to a session.
func lendTerminal(t *testing.T, dir, session string) (done <-chan *lent, master *os.File) {
	t.Helper()
	master, slave := terminal(t)
	conn, err := keep.DialDoor(dir, session)
	require.NoError(t, err)
	over := make(chan *lent, 1)
	go func() {
		l := &lent{}
		l.end, l.err = keep.LendTerminal(conn, slave, slave, &l.say, "Ctrl+Alt+G")
		over <- l
	}()
	return over, master
}

func open(t *testing.T, dir string) *keep.Door {
	t.Helper()
	door, err := keep.OpenDoor(dir, "vim-k3f9")
	require.NoError(t, err)
	t.Cleanup(door.Close)
	return door
}

// The session writes to the terminal, receives its signals, and reports how it ends.
func TestATerminalIsLent(t *testing.T) {
	dir := t.TempDir()
	door := open(t, dir)
	info, err := os.Stat(keep.DoorPath(dir, "vim-k3f9"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	for name, tt := range map[string]struct {
		ends func(w *keep.Window)
		want keep.End
		said string
	}{
		"exit":    {func(w *keep.Window) { w.ShowMessage("last words\n"); w.EndWithStatus(7) }, keep.End{Ended: true, Code: 7}, "last words\n"},
		"release": {func(w *keep.Window) { w.ReturnTerminal("vim-k3f9", keep.Taken) }, keep.End{Release: keep.Taken, Session: "vim-k3f9"}, ""},
		"killed":  {func(w *keep.Window) { w.Close() }, keep.End{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			done, master := lendTerminal(t, dir, "vim-k3f9")
			w := <-door.Windows()
			defer w.Close()
			require.Equal(t, os.Getpid(), w.Pid)
			require.Equal(t, "Ctrl+Alt+G", w.ForCtrlG)
			_, err := w.Out.WriteString("hello")
			require.NoError(t, err)
			w.CloseFiles()
			var b [8]byte
			n, err := master.Read(b[:])
			require.NoError(t, err)
			require.Equal(t, "hello", string(b[:n]))
			heard := make(chan os.Signal, 4)
			w.ForwardSignals(func(sig os.Signal) { heard <- sig })
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGWINCH))
			require.Equal(t, syscall.SIGWINCH, <-heard)
			tt.ends(w)
			got := <-done
			require.NoError(t, got.err)
			require.Equal(t, tt.want, got.end)
			require.Equal(t, tt.said, got.say.String())
			<-w.Done()
		})
	}
}

// A hangup ends the lending; other signals do not.
func TestAHangupEndsTheLending(t *testing.T) {
	dir := t.TempDir()
	door := open(t, dir)
	done, _ := lendTerminal(t, dir, "vim-k3f9")
	w := <-door.Windows()
	defer w.Close()
	defer w.CloseFiles()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Equal(t, keep.End{Hangup: true}, (<-done).end)
	<-w.Done()
}

// A door is found only by its session's name; a door without a process behind it is swept away.
func TestADoor(t *testing.T) {
	dir := t.TempDir()
	stale := keep.DoorPath(dir, "bash-dead")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: stale}))
	require.NoError(t, unix.Close(fd))
	_, err = keep.DialDoor(dir, "bash-dead")
	require.ErrorIs(t, err, fs.ErrNotExist)
	door, err := keep.OpenDoor(dir, "vim-k3f9")
	require.NoError(t, err)
	require.NoFileExists(t, stale)
	_, err = keep.DialDoor(dir, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = keep.DialDoor(dir, "../"+filepath.Base(dir)+"/vim-k3f9")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = keep.OpenDoor(dir, strings.Repeat("x", 100))
	require.ErrorContains(t, err, "too long")
	door.Close()
	require.NoFileExists(t, keep.DoorPath(dir, "vim-k3f9"))
}

// A client without a terminal, or without a message, is sent away.
func TestAClientWithoutATerminalIsSentAway(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	conn, err := keep.DialDoor(dir, "vim-k3f9")
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte(" {}\n"))
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
}
