//go:build linux

package child_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/child"
)

// start starts a shell script, and makes sure that no process of it is left when the test ends.
func start(t *testing.T, script string, change func(*child.Config)) *child.Child {
	t.Helper()
	conf := child.Config{Path: "/bin/sh", Args: []string{"-c", script}, Cols: 80, Rows: 24}
	if change != nil {
		change(&conf)
	}
	c, err := child.Start(conf)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = unix.Kill(-c.Pid(), unix.SIGKILL)
		c.Close()
	})
	return c
}

func write(t *testing.T, c *child.Child, b []byte) {
	t.Helper()
	_, err := c.Write(b)
	require.NoError(t, err)
}

// until reads until words came.
func until(t *testing.T, c *child.Child, words string) (out []byte) {
	t.Helper()
	out, err := readUntil(t, c, says(words))
	require.NoError(t, err)
	return out
}

// readUntil reads the program's output until stop says so, or its end.
func readUntil(t *testing.T, c *child.Child, stop func([]byte) bool) (out []byte, end error) {
	t.Helper()
	late := time.Now().Add(2 * time.Minute)
	buf := make([]byte, 32<<10)
	for !stop(out) {
		n, err := c.Read(buf)
		switch {
		case errors.Is(err, child.ErrAgain):
			require.True(t, time.Now().Before(late), "no more output after %.200q", out)
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(c.Descriptor()), Events: unix.POLLIN}}, 1000)
			require.True(t, err == nil || errors.Is(err, unix.EINTR))
		case err != nil:
			return out, err
		default:
			out = append(out, buf[:n]...)
		}
	}
	return out, nil
}

func never([]byte) bool { return false }

func says(mark string) func([]byte) bool {
	return func(out []byte) bool { return bytes.Contains(out, []byte(mark)) }
}

// output returns everything that a program prints.
func output(t *testing.T, c *child.Child) string {
	t.Helper()
	out, err := readUntil(t, c, never)
	require.ErrorIs(t, err, unix.EIO)
	return string(out)
}

func TestExitStatusR60(t *testing.T) {
	for script, want := range map[string]child.Exit{
		"exit 0":                          {Code: 0},
		"exit 3":                          {Code: 3},
		"kill -TERM $$":                   {Code: 143, Signal: "SIGTERM"},
		"kill -KILL $$":                   {Code: 137, Signal: "SIGKILL"},
		"trap 'exit 7' HUP; kill -HUP $$": {Code: 7},
	} {
		c := start(t, script, nil)
		output(t, c)
		require.Equal(t, want, c.Wait(), script)
	}
}

// inOwnProcess runs the test in a separate process, and reports whether this is it. The first
// leader, or a change of the limit of open files, makes package syscall forget the soft limit with
// which the process was started.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	const own = "TEST_IN_ITS_OWN_PROCESS"
	if os.Getenv(own) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), own+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return false
}

// Whatever part of a start takes the last descriptor, the hint is about descriptors, not terminals.
func TestTooManyOpenFiles(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	var was unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	first, err := os.Open(os.DevNull) // the lowest free descriptor
	require.NoError(t, err)
	next := uint64(first.Fd())
	require.NoError(t, first.Close())
	said := make(map[string]bool)
	for files := next; ; files++ {
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: files, Max: was.Max}))
		c, err := child.Start(child.Config{Path: "/bin/true", Cols: 80, Rows: 24})
		if err == nil {
			c.Wait()
			c.Close()
			break
		}
		refused, ok := errors.AsType[*child.StartError](err)
		require.True(t, ok)
		require.Contains(t, refused.Say, "too many open files")
		require.Contains(t, refused.Hint, "ulimit -n", refused.Say)
		what, _, _ := strings.Cut(refused.Say, ":")
		said[what] = true
	}
	require.Contains(t, said, "open a PTY")
	require.Contains(t, said, "/bin/true")
}

// 200,000 bytes written just before the exit all arrive, even if the program was waited for first.
func TestNoLostByteR60(t *testing.T) {
	c := start(t, "stty -opost; exec head -c 200000 /dev/zero", nil)
	exits := make(chan child.Exit, 1)
	go func() { exits <- c.Wait() }()
	require.Len(t, output(t, c), 200_000)
	require.Zero(t, (<-exits).Code)

	c = start(t, "printf last", nil)
	require.Zero(t, c.Wait().Code)
	require.Equal(t, "last", output(t, c))
}

// While a background process has the terminal open, its output continues.
func TestBackgroundHolderR60(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	c := start(t, "trap '' HUP; (read x < "+fifo+"; echo late) & exit 0", nil)
	require.Zero(t, c.Wait().Code)
	_, err := c.Read(make([]byte, 10))
	require.ErrorIs(t, err, child.ErrAgain, "the end must not come yet")
	require.NoError(t, os.WriteFile(fifo, []byte("now\n"), 0o600))
	require.Contains(t, output(t, c), "late")
}

// TestTerminateR60 goes up the ladder: a program that obeys the hangup or SIGTERM ends by it, and
// one that ignores both is killed.
func TestTerminateR60(t *testing.T) {
	t.Parallel() // the last takes the ladder's five seconds
	for _, c := range []struct {
		name, script string
		want         child.Exit
	}{
		{"hangup", "echo ready; read x", child.Exit{Code: 129, Signal: "SIGHUP"}},
		{"stopped", "echo ready; kill -STOP $$; read x", child.Exit{Code: 129, Signal: "SIGHUP"}},
		{"ignores both", "trap '' HUP TERM; echo ready; while :; do sleep 1; done", child.Exit{Code: 137, Signal: "SIGKILL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, c.script, nil)
			until(t, p, "ready")
			ended := make(chan struct{})
			var exit child.Exit
			go func() { exit = p.Wait(); close(ended) }()
			p.Terminate(ended)
			<-ended
			require.Equal(t, c.want, exit)
			require.ErrorIs(t, unix.Kill(p.Pid(), 0), unix.ESRCH, "no zombie")
		})
	}
}

func TestSizeAndEnvironmentR61(t *testing.T) {
	c := start(t, "stty size; echo \"<$WHO>\"; pwd; ls -l /proc/self/fd | grep -c ptmx; ps -o pid=,sid=,tpgid= -p $$", func(conf *child.Config) {
		conf.Cols, conf.Rows = 97, 31
		conf.Dir = "/"
		conf.Env = []string{"WHO=me", "PATH=" + os.Getenv("PATH")}
	})
	lines := strings.Split(strings.ReplaceAll(output(t, c), "\r", ""), "\n")
	require.Equal(t, []string{"31 97", "<me>", "/"}, lines[:3])
	require.Equal(t, "0", lines[3], "the program has no descriptor of the master's side")
	if ids := strings.Fields(lines[4]); len(ids) == 3 { // there is a ps
		require.Equal(t, ids[0], ids[1], "it leads its session")
		require.Equal(t, ids[0], ids[2], "it has the terminal")
	}
	c.Wait()
}

// A stop is reported, even one that the program does to itself, and visible while it lasts.
func TestStopAndContinueR61(t *testing.T) {
	stopped := make(chan struct{}, 2)
	c := start(t, "echo ready; kill -STOP $$; read x", func(conf *child.Config) { conf.Stopped = func(unix.Signal) { stopped <- struct{}{} } })
	ended := make(chan child.Exit, 1)
	go func() { ended <- c.Wait() }()
	until(t, c, "ready")
	<-stopped
	require.True(t, c.IsStopped())
	c.Continue()
	require.Eventually(t, func() bool { return !c.IsStopped() }, 2*time.Minute, time.Millisecond)
	c.Stop()
	<-stopped
	require.True(t, c.IsStopped())
	c.Continue()
	write(t, c, []byte("\n"))
	require.Zero(t, (<-ended).Code)
}

func TestResizeR61(t *testing.T) {
	c := start(t, "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done", nil)
	until(t, c, "ready")
	require.NoError(t, c.Resize(120, 40, 1200, 800))
	require.Contains(t, output(t, c), "40 120")
	size, err := unix.IoctlGetWinsize(c.Descriptor(), unix.TIOCGWINSZ)
	require.NoError(t, err)
	require.Equal(t, unix.Winsize{Row: 40, Col: 120, Xpixel: 1200, Ypixel: 800}, *size)
	c.Wait()
}

func TestTermios(t *testing.T) {
	first := start(t, "read x", nil)
	settings, err := unix.IoctlGetTermios(first.Descriptor(), unix.TCGETS)
	require.NoError(t, err)
	settings.Cc[unix.VERASE] = 'H' & 0x1f
	settings.Cc[unix.VEOF] = 'E' & 0x1f
	c := start(t, "stty -a; read x", func(conf *child.Config) { conf.Termios = settings })
	out := until(t, c, "eof = ^E")
	require.Contains(t, string(out), "erase = ^H", "stty names it before the other")
}

// What a program has not read is taken back, the kernel's buffers on the way included; what is
// typed afterwards arrives. It is counted, which only Linux does.
func TestFlushInputR16(t *testing.T) {
	for _, size := range []int{1, 6000, 1 << 20} {
		c := start(t, "stty raw -echo; echo ready; kill -STOP $$; exec head -c 4", nil)
		until(t, c, "ready")
		written := 0
		for block := bytes.Repeat([]byte("A"), min(size, 4096)); written < size; {
			n, err := c.Write(block)
			if errors.Is(err, child.ErrAgain) {
				break
			}
			require.NoError(t, err)
			written += n
		}
		unread, err := c.FlushInput()
		require.NoError(t, err)
		require.Equal(t, written, unread, "what was taken back is counted (R80)")
		n, err := c.Write([]byte("user"))
		require.NoError(t, err)
		require.Equal(t, 4, n)
		require.Eventually(t, func() bool { return state(c.Pid()) == 'T' }, 2*time.Minute, time.Millisecond)
		require.NoError(t, unix.Kill(c.Pid(), unix.SIGCONT))
		out := output(t, c)
		require.NotContains(t, out, "A", "%d bytes were written", written)
		require.Contains(t, out, "user")
		c.Wait()
	}
}

// state returns the process's state letter (proc(5)), or 0 if it does not exist.
func state(pid int) byte {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	at := bytes.LastIndexByte(b, ')')
	if err != nil || at < 0 || at+2 >= len(b) {
		return 0
	}
	return b[at+2]
}

// TestWriteNeverBlocks fills the terminal of a program that does not read.
func TestWriteNeverBlocks(t *testing.T) {
	c := start(t, "stty raw -echo; echo ready; sleep 100", nil)
	until(t, c, "ready")
	block := make([]byte, 4096)
	var err error
	for range 1000 {
		if _, err = c.Write(block); err != nil {
			break
		}
		require.NoError(t, c.Resize(80, 24, 0, 0), "a resize leaves the master non-blocking")
	}
	require.ErrorIs(t, err, child.ErrAgain)
}
