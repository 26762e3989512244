package child

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// startShell starts a script on a terminal of its own whose output is read.
func startShell(t *testing.T, script string) *Child {
	t.Helper()
	if runs, err := os.ReadFile("/proc/self/schedstat"); err != nil || strings.HasPrefix(string(runs), "0 ") {
		t.Skip("this kernel does not count the runs of a process (CONFIG_SCHEDSTATS)")
	}
	c, err := Start(Config{Path: "/bin/bash", Args: []string{"-c", script}, Cols: 80, Rows: 24})
	require.NoError(t, err)
	drained := make(chan struct{})
	go func() { // ends with the program
		defer close(drained)
		for buf := make([]byte, 4096); ; {
			if _, err := c.Read(buf); err != nil && !errors.Is(err, ErrAgain) {
				return
			}
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.Descriptor()), Events: unix.POLLIN}}, 100)
		}
	}()
	t.Cleanup(func() {
		_ = unix.Kill(-c.Pid(), unix.SIGKILL)
		<-drained
		c.Close()
	})
	return c
}

// blockedAfresh is BlockedOn without the look before.
func blockedAfresh(c *Child) Blocked {
	c.files.mu.Lock()
	c.files.still = standstill{}
	c.files.mu.Unlock()
	a, _ := c.BlockedOn()
	return a
}

// withoutAges returns a without what time alone changes.
func withoutAges(a Blocked) Blocked {
	a.Leads, a.Youngest = 0, 0
	return a
}

// A look that uses the one before finds what a look of its own would. The programs never rest for
// long; the foreground changes, and processes come and go, in it and beside it.
func TestALookAfterALookFindsTheSame(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"reads with a limit":     `while :; do read -t .01; done`,
		"pipes":                  `while :; do sleep .01 | cat | cat; done`,
		"background":             `while :; do sleep .02 & read -t .005; wait; done`,
		"programs in the front":  `set -m; while :; do sleep .01; (read -t .01); done`,
		"a background job reads": `set -m; while :; do cat & sleep .01; kill $!; wait; done`,
		"executes itself":        `read -t .01; exec bash -c "$BASH_EXECUTION_STRING"`,
		"stops and goes on":      `(while sleep .01; do kill -STOP $$; sleep .01; kill -CONT $$; done) & while :; do read -t .02; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startShell(t, script)
			const enough = 40
			compared, late := 0, time.Now().Add(patience)
			for compared < enough && time.Now().Before(late) {
				before := blockedAfresh(c)
				got, _ := c.BlockedOn()
				after := blockedAfresh(c)
				if withoutAges(before) == withoutAges(after) && before.Asleep {
					compared++
					require.Equal(t, withoutAges(before), withoutAges(got))
				}
			}
			require.Positive(t, compared)
		})
	}
}

// What a look found no longer holds once a process has been woken, by any means.
func TestALookIsOverWhenAProcessRuns(t *testing.T) {
	t.Parallel()
	reads := func(a Blocked) bool { return a.Reads && a.Asleep }
	for _, p := range []struct {
		name, script string
		at           func(Blocked) bool
		wake         func(t *testing.T, c *Child)
		then         func(Blocked) bool
	}{
		{
			"a line", "read; exec sleep 1000", reads,
			func(t *testing.T, c *Child) {
				_, err := c.Write([]byte("\n"))
				require.NoError(t, err)
			},
			func(a Blocked) bool { return !a.Reads && a.Asleep },
		},
		{
			"a stop", "read", reads,
			func(t *testing.T, c *Child) { require.NoError(t, unix.Kill(c.Pid(), unix.SIGSTOP)) },
			func(a Blocked) bool { return !a.Reads && !a.Asleep },
		},
		{
			"a trap", "trap 'exec sleep 1000' USR1; read", reads,
			func(t *testing.T, c *Child) { require.NoError(t, unix.Kill(c.Pid(), unix.SIGUSR1)) },
			func(a Blocked) bool { return !a.Reads && a.Asleep },
		},
		{
			"the end of a child", "set -m; (read); sleep 1000", reads,
			func(t *testing.T, c *Child) { require.NoError(t, unix.Kill(c.ForegroundGroup(), unix.SIGKILL)) },
			func(a Blocked) bool { return !a.Reads && a.Asleep },
		},
		{
			"the end of one beside the leader", "sleep 1000 | (exec <>/dev/tty; read; exec sleep 1000)", reads,
			func(t *testing.T, c *Child) {
				_, err := c.Write([]byte("\n"))
				require.NoError(t, err)
			},
			func(a Blocked) bool { return !a.Reads && a.Asleep },
		},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := startShell(t, p.script)
			eventually := func(ok func(Blocked) bool) {
				t.Helper()
				var a Blocked
				require.Eventually(t, func() bool {
					a, _ = c.BlockedOn()
					return ok(a)
				}, patience, tick)
			}
			eventually(p.at)
			for range 3 {
				a, known := c.BlockedOn()
				require.True(t, known)
				require.True(t, p.at(a))
			}
			require.NotEmpty(t, c.files.still.processes)
			p.wake(t, c)
			eventually(p.then)
		})
	}
}

// The leader of a group is read anew once it has run.
func TestTheLeaderOfAGroupThatRan(t *testing.T) {
	t.Parallel()
	c := startShell(t, "trap : USR1; sleep 1000 & wait; exec sleep 1000")
	require.Eventually(t, func() bool {
		_, _ = c.BlockedOn()
		l, ok := c.GroupLeader()
		return ok && strings.HasSuffix(l.Exe, "bash") && c.files.still.leader != nil
	}, patience, tick)
	require.NoError(t, unix.Kill(c.Pid(), unix.SIGUSR1))
	require.Eventually(t, func() bool {
		_, _ = c.BlockedOn()
		l, ok := c.GroupLeader()
		return ok && l.Args[0] == "sleep" && strings.HasSuffix(l.Exe, "sleep")
	}, patience, tick)
}
