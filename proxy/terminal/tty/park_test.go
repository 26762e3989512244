package tty_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"terminalproxy/proxy/terminal/tty"
)

// The waits of these tests have no end, or one that never comes: a test whose wait is not woken
// hangs. A wait with a near end would look once more then, and hide that.

// TestEveryByteIsHeard passes bytes to and fro through each kind of file, so that a byte comes at
// every moment of a wait.
func TestEveryByteIsHeard(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (read, write *os.File){
		"terminal": func(t *testing.T) (read, write *os.File) {
			master, slave := window(t, 80, 24)
			_, err := term.MakeRaw(int(slave.Fd()))
			require.NoError(t, err)
			return slave, master
		},
		"its program": func(t *testing.T) (read, write *os.File) {
			master, slave := window(t, 80, 24)
			_, err := term.MakeRaw(int(slave.Fd()))
			require.NoError(t, err)
			return master, slave
		},
		"pipe": func(t *testing.T) (read, write *os.File) {
			read, write, err := os.Pipe()
			require.NoError(t, err)
			return read, write
		},
	} {
		for end, timeout := range map[string]time.Duration{"": -1, " until a time": time.Hour} {
			t.Run(name+end, func(t *testing.T) {
				read, write := open(t)
				defer read.Close()
				defer write.Close()
				fd := int(read.Fd()) // which makes it block
				p, err := tty.NewPoller(fd, -1)
				require.NoError(t, err)
				defer p.Close()
				heard := make(chan struct{})
				const fast, slow = 1000, 500
				go func() {
					defer close(heard)
					for i := range fast + slow {
						if i >= fast { // about when a wait in a burst becomes a parked one
							time.Sleep(time.Duration(i%7) * 50 * time.Microsecond)
						}
						_, _ = write.Write([]byte("x"))
						<-heard
					}
				}()
				var b [8]byte
				for range fast + slow {
					got, err := p.Wait(tty.Readable, timeout)
					require.NoError(t, err)
					require.Equal(t, tty.Readable, got)
					n, err := unix.Read(fd, b[:])
					require.NoError(t, err)
					require.Equal(t, 1, n)
					heard <- struct{}{}
				}
				<-heard
				flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
				require.NoError(t, err)
				require.Zero(t, flags&unix.O_NONBLOCK, "others who share the file would notice")
			})
		}
	}
}

// TestAFileWithoutQueueIsReady waits for files that are always ready, which epoll(7) refuses.
func TestAFileWithoutQueueIsReady(t *testing.T) {
	regular := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(regular, nil, 0o600))
	for _, name := range []string{regular, os.DevNull} {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		require.NoError(t, err)
		defer f.Close()
		p, err := tty.NewPoller(int(f.Fd()), int(f.Fd()))
		require.NoError(t, err)
		defer p.Close()
		for _, want := range []tty.Events{tty.Readable, tty.Writable, tty.Readable | tty.Writable} {
			got, err := p.Wait(want, -1)
			require.NoError(t, err)
			require.Equal(t, want, got, name)
		}
		p.Wake()
		got, err := p.Wait(0, -1)
		require.NoError(t, err)
		require.Equal(t, tty.Woken, got, name)
	}
}

// TestOnlyTheWantedIsHeard ends both sides of a poller: that is not to be heard by a wait that does
// not want them, which would return at once for ever.
func TestOnlyTheWantedIsHeard(t *testing.T) {
	read, write := window(t, 80, 24)
	p, err := tty.NewPoller(int(read.Fd()), int(read.Fd()))
	require.NoError(t, err)
	defer p.Close()
	wait := func(want, expected tty.Events) {
		t.Helper()
		got, err := p.Wait(want, -1)
		require.NoError(t, err)
		require.Equal(t, expected, got)
	}
	go p.Wake()
	wait(tty.Readable, tty.Woken)
	wait(tty.Writable, tty.Writable)
	wait(tty.Readable|tty.Writable, tty.Writable)
	require.NoError(t, write.Close())
	go p.Wake()
	wait(0, tty.Woken)
	wait(tty.Readable, tty.Readable)
	got, err := p.Wait(0, 20*time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, got)
	go p.Wake()
	wait(0, tty.Woken)
}

// TestALaterWaitHasNoEnd waits until a time, and then for ever.
func TestALaterWaitHasNoEnd(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	p, err := tty.NewPoller(int(read.Fd()), -1)
	require.NoError(t, err)
	defer p.Close()
	for range 3 {
		got, err := p.Wait(tty.Readable, 6*time.Millisecond)
		require.NoError(t, err)
		require.Zero(t, got)
		written := make(chan error)
		go func() {
			_, err := io.WriteString(write, "x")
			written <- err
		}()
		got, err = p.Wait(tty.Readable, -1)
		require.NoError(t, err)
		require.Equal(t, tty.Readable, got)
		require.NoError(t, <-written)
		_, _ = read.Read(make([]byte, 8))
	}
}
