package session_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// moments are the times at which something happens to a session that has just been started: while
// the process begins, around the start of its program, and after. Any time will do: the test waits
// for no fact.
var moments = []time.Duration{0, 1000, 2000, 2500, 3000, 4000, 8000}

// momentary is a starting session in a terminal of 80x24, to which something happens.
type momentary struct {
	t             *testing.T
	cmd           *exec.Cmd
	master, slave *os.File
	before        *term.State
}

// startMomentary starts a session, and lets the moment pass.
func startMomentary(w *world.World, t *testing.T, moment time.Duration, args ...string) *momentary {
	t.Helper()
	m := &momentary{t: t}
	err := error(unix.EIO)
	for range 5 { // seen under load: the kernel had hung up the new terminal before anything ran on it
		if !errors.Is(err, unix.EIO) {
			break
		}
		m.cmd = w.Command("proxy", args...)
		m.master, m.slave, err = pty.Open()
		require.NoError(t, err)
		require.NoError(t, pty.Setsize(m.master, &pty.Winsize{Cols: 80, Rows: 24}))
		m.before, err = term.GetState(int(m.slave.Fd()))
		require.NoError(t, err)
		m.cmd.Stdin, m.cmd.Stdout, m.cmd.Stderr = m.slave, m.slave, m.slave
		m.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		err = m.cmd.Start()
	}
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, m.master) }() // ends with the terminal
	time.Sleep(moment * time.Microsecond)
	return m
}

// waitEnd waits for the session's end, and checks that the terminal is as it was.
func (m *momentary) waitEnd() error {
	m.t.Helper()
	err := m.cmd.Wait()
	after, failed := term.GetState(int(m.slave.Fd()))
	require.NoError(m.t, failed)
	require.Equal(m.t, m.before, after)
	require.NoError(m.t, m.slave.Close())
	require.NoError(m.t, m.master.Close())
	return err
}

// Whenever a signal comes, the session ends, its program with it, and the terminal is as it was.
// Whenever the window's size changes, the program gets the new size.
func TestASignalAtAnyMomentOfTheStart(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--agent"} {
		for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGWINCH} {
			t.Run(strings.TrimSpace(flags+" "+unix.SignalName(sig)), func(t *testing.T) {
				w := world.New(t)
				program := "echo $$ > pid; exec sleep 1000"
				if sig == syscall.SIGWINCH {
					program = `until [ "$(stty size)" = "31 99" ]; do :; done`
				}
				for _, moment := range moments {
					m := startMomentary(w, t, moment, append(strings.Fields(flags), "sh", "-c", program)...)
					if sig == syscall.SIGWINCH {
						require.NoError(t, pty.Setsize(m.slave, &pty.Winsize{Cols: 99, Rows: 31}))
						require.NoError(t, m.waitEnd(), "after %v", moment)
						continue
					}
					require.NoError(t, m.cmd.Process.Signal(sig))
					require.Error(t, m.waitEnd(), "after %v", moment)
					if pid := strings.TrimSpace(w.Content("pid")); pid != "" {
						w.WaitGone(pid)
					}
				}
			})
		}
	}
}
