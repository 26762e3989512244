package tty_test

import (
	"os"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/tty"
)

// window is a terminal with a user.
func window(t *testing.T, cols, rows uint16) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Cols: cols, Rows: rows}))
	return master, slave
}

// The descriptors stay; at first they mean nothing, then the other terminal.
func TestATerminalIsLeftForAnother(t *testing.T) {
	first, slave := window(t, 80, 24)
	terminal, err := tty.Open(slave, slave)
	require.NoError(t, err)
	defer terminal.Close()
	keyboard, screen := terminal.Descriptors()
	poll, err := tty.NewPoller(keyboard, screen)
	require.NoError(t, err)
	defer poll.Close()

	wake := func() {
		poll.Wake()
		got, err := poll.Wait(tty.Readable, -1)
		require.NoError(t, err)
		require.Equal(t, tty.Woken, got)
	}

	wake() // the poller knows the first terminal now
	require.NoError(t, terminal.EnterRawMode())
	require.NoError(t, terminal.Restore())
	require.NoError(t, terminal.LeaveDevice())
	require.True(t, terminal.IsLeft())
	require.False(t, terminal.HasKeyboard())
	require.False(t, terminal.HasScreen())
	require.Nil(t, terminal.Termios())
	cols, rows, err := terminal.Size()
	require.NoError(t, err)
	require.Equal(t, [2]int{80, 24}, [2]int{cols, rows})
	n, err := terminal.Write([]byte("nobody sees that"))
	require.NoError(t, err)
	require.Equal(t, 16, n)
	_, err = first.WriteString("not for us\n")
	require.NoError(t, err)
	got, err := poll.Wait(tty.Readable, 0)
	require.NoError(t, err)
	require.Zero(t, got, "there is no keyboard")
	wake()

	second, other := window(t, 100, 30)
	next, err := tty.OpenBoth(other, other)
	require.NoError(t, err)
	require.NoError(t, terminal.TakeDevice(next))
	next.Close()
	require.True(t, terminal.HasKeyboard())
	cols, rows, err = terminal.Size()
	require.NoError(t, err)
	require.Equal(t, [2]int{100, 30}, [2]int{cols, rows})
	require.NoError(t, terminal.EnterRawMode())
	var b [8]byte
	for range 100 { // most of these bytes come while the poller waits
		typed := make(chan error)
		go func() {
			_, err := second.WriteString("x")
			typed <- err
		}()
		got, err = poll.Wait(tty.Readable, -1)
		require.NoError(t, err)
		require.Equal(t, tty.Readable, got)
		require.NoError(t, <-typed)
		n, err = terminal.Read(b[:])
		require.NoError(t, err)
		require.Equal(t, "x", string(b[:n]))
	}
	_, err = terminal.Write([]byte("seen"))
	require.NoError(t, err)
	n, err = second.Read(b[:])
	require.NoError(t, err)
	require.Equal(t, "seen", string(b[:n]))
	require.NoError(t, terminal.Restore())
}

// A pair that is not a terminal to read from and to write to is refused before the present one is
// left.
func TestATerminalIsLeftForNothingElse(t *testing.T) {
	_, slave := window(t, 80, 24)
	gone, hungUp := window(t, 80, 24)
	require.NoError(t, gone.Close())
	null := os.NewFile(nowhere(t), "null")
	defer null.Close()
	for name, pair := range map[string][2]*os.File{
		"no keyboard": {null, slave}, "no screen": {slave, null}, "neither": {null, null}, "hung up": {hungUp, hungUp},
	} {
		_, err := tty.OpenBoth(pair[0], pair[1])
		require.ErrorContains(t, err, "must be a terminal", name)
	}
}

func nowhere(t *testing.T) uintptr {
	t.Helper()
	fd, err := unix.Open(os.DevNull, unix.O_RDWR, 0)
	require.NoError(t, err)
	return uintptr(fd)
}
