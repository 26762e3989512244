//go:build linux && (amd64 || arm64)

package child_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/child"
)

func withLeader(conf *child.Config) { conf.JobControl = true }

// leaderOf returns the leader beside a program.
func leaderOf(t *testing.T, c *child.Child) int {
	t.Helper()
	require.True(t, c.HasLeader())
	sid, err := unix.Getsid(c.Pid())
	require.NoError(t, err)
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(sid) + "/comm")
	require.NoError(t, err)
	require.Equal(t, child.LeaderName, strings.TrimSpace(string(comm)))
	return sid
}

// The program has what it has without a leader: its own foreground group, and its signals,
// descriptors and limits as they were. The leader is never taken for the program.
func TestTheProgramUnderALeaderR73(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	const script = "grep ^Sig[BI] /proc/self/status; ulimit -Sn; ls /proc/self/fd | wc -l; tty >/dev/null && echo ready; read x; exit 7"
	seen := map[bool]string{}
	for _, led := range []bool{false, true} {
		c := start(t, script, func(conf *child.Config) { conf.JobControl = led })
		out := until(t, c, "ready\r\n")
		seen[led] = string(out)
		require.Equal(t, c.Pid(), c.ForegroundGroup())
		require.Equal(t, "sh", c.Foreground())
		group, ok := c.GroupLeader()
		require.True(t, ok)
		require.Equal(t, "/bin/sh", group.Args[0])
		require.False(t, group.Crowd)
		if led {
			require.NotEqual(t, c.Pid(), leaderOf(t, c))
			require.Equal(t, leaderOf(t, c), c.Identity().Pid)
		}
		write(t, c, []byte("\n"))
		require.Equal(t, child.Exit{Code: 7}, c.Wait())
	}
	require.Equal(t, seen[false], seen[true])
}

// Ctrl+Z stops the program, as often as it is pressed, and the program continues where it was.
func TestStopsAtTheKeyR73(t *testing.T) {
	stops := make(chan unix.Signal, 2)
	c := start(t, "echo ready; while read x; do echo heard $x; done; exit 3", func(conf *child.Config) {
		withLeader(conf)
		conf.Stopped = func(sig unix.Signal) { stops <- sig }
	})
	ended := make(chan child.Exit, 1)
	go func() { ended <- c.Wait() }()
	until(t, c, "ready")
	for _, word := range []string{"one", "two"} {
		write(t, c, []byte{0x1a})
		require.Equal(t, unix.SIGTSTP, <-stops)
		require.True(t, c.IsStopped())
		c.Continue()
		write(t, c, []byte(word+"\n"))
		until(t, c, "heard "+word)
	}
	write(t, c, []byte{4})
	require.Equal(t, child.Exit{Code: 3}, <-ended)
}

// The terminal's foreground goes to the leader and comes back.
func TestBackgroundAndFrontR73(t *testing.T) {
	stops := make(chan unix.Signal, 1)
	c := start(t, "echo ready; read go < fifo; read x; echo heard $x", func(conf *child.Config) {
		withLeader(conf)
		conf.Dir = t.TempDir()
		require.NoError(t, unix.Mkfifo(conf.Dir+"/fifo", 0o600))
		conf.Stopped = func(sig unix.Signal) { stops <- sig }
	})
	dir, err := os.Readlink("/proc/" + strconv.Itoa(c.Pid()) + "/cwd")
	require.NoError(t, err)
	ended := make(chan child.Exit, 1)
	go func() { ended <- c.Wait() }()
	until(t, c, "ready")
	c.TakeForeground()
	require.Equal(t, leaderOf(t, c), c.ForegroundGroup())
	require.NoError(t, os.WriteFile(dir+"/fifo", []byte("\n"), 0o600))
	require.Equal(t, unix.SIGTTIN, <-stops, "it reads behind the shell")
	c.ReturnForeground()
	require.Equal(t, c.Pid(), c.ForegroundGroup())
	c.Continue()
	write(t, c, []byte("this\n"))
	until(t, c, "heard this")
	require.Equal(t, child.Exit{}, <-ended)
}

// A program that cannot be started fails as without a leader, and signals are the program's.
func TestStatusesUnderALeaderR73(t *testing.T) {
	file := t.TempDir() + "/file"
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o700))
	for _, path := range []string{"/no/such", "/etc/passwd", "/", file} {
		_, want := child.Start(child.Config{Path: path, Cols: 80, Rows: 24})
		require.Error(t, want)
		_, err := child.Start(child.Config{Path: path, Cols: 80, Rows: 24, JobControl: true})
		require.Equal(t, want, err, path)
	}
	for sig, name := range map[unix.Signal]string{unix.SIGTERM: "SIGTERM", unix.SIGKILL: "SIGKILL"} {
		c := start(t, "kill -"+strconv.Itoa(int(sig))+" $$", withLeader)
		require.Equal(t, child.Exit{Code: 128 + int(sig), Signal: name}, c.Wait())
	}
}

// When the leader is killed, the program goes with it, even a stopped one that ignores what it may.
func TestNothingOutlivesTheLeaderR73(t *testing.T) {
	t.Parallel()
	c := start(t, "trap '' HUP TERM; echo ready; while :; do read x; done", withLeader)
	until(t, c, "ready")
	require.NoError(t, unix.Kill(c.Pid(), unix.SIGSTOP))
	require.NoError(t, unix.Kill(leaderOf(t, c), unix.SIGKILL))
	require.Equal(t, child.Exit{Code: 137, Signal: "SIGKILL"}, c.Wait())
	gone(t, c.Pid())
}

// The program ends although the leader was stopped.
func TestKillUnderALeaderR73(t *testing.T) {
	c := start(t, "echo ready; while :; do read x; done", withLeader)
	until(t, c, "ready")
	led := leaderOf(t, c)
	require.NoError(t, unix.Kill(led, unix.SIGSTOP))
	c.Kill()
	require.Equal(t, 137, c.Wait().Code)
	gone(t, c.Pid())
	gone(t, led)
}

// gone waits until a process has ended; an orphan may stay as a zombie of a parent that does not
// wait for it.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 2*time.Minute, 10*time.Millisecond)
}
