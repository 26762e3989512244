//go:build linux

package child_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/child"
)

// sleeper is the variable that names what the test binary sleeps in instead of running tests.
const sleeper = "CHILD_TEST_SLEEPER"

func TestMain(m *testing.M) {
	if how := os.Getenv(sleeper); how != "" {
		signal.Ignore(unix.SIGHUP)
		runtime.LockOSThread()
		fmt.Println(how, sleepers[how]())
		os.Exit(1) // unreachable
	}
	os.Exit(m.Run())
}

// sleepers are programs that wait for something, their terminal or not, in every way.
var sleepers = map[string]func() error{
	"read":      func() error { return read(0) },
	"readv":     func() error { _, err := unix.Readv(0, [][]byte{make([]byte, 1)}); return err },
	"read tty":  func() error { return read(openProcess("/dev/tty")) },
	"read pipe": func() error { return read(pipe()) },
	"read pts":  func() error { return read(stranger()) },
	"poll":      func() error { return poll(pipe(), 0) },
	"poll tty":  func() error { return poll(openProcess("/dev/tty")) },
	"poll out": func() error { // the terminal is among them, but not to be read
		_, err := unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLPRI}, {Fd: -1, Events: unix.POLLIN}}, -1)
		return err
	},
	"poll pipe":   func() error { return poll(pipe()) },
	"poll late":   func() error { return again(pollFor(2*time.Second, 0)) }, // as an editor that does something after a while
	"poll soon":   func() error { return again(pollFor(100*time.Millisecond, 0)) },
	"poll both":   func() error { return again(pollFor(time.Minute, 0, pipe())) },
	"select soon": func() error { return again(func() error { return choose(&unix.Timeval{Usec: 400_000}, 0) }) },
	"select late": func() error { return again(func() error { return choose(&unix.Timeval{Sec: 60}, 0) }) },
	"epoll soon": func() error {
		e := watch(pipe(), 0)
		return again(func() error { _, err := unix.EpollWait(e, make([]unix.EpollEvent, 1), 100); return err })
	},
	"epoll alone": func() error { return epoll(watch(0)) },
	"poll none":   func() error { _, err := unix.Poll(nil, 1_000_000); return err },
	"select":      func() error { return choose(nil, pipe(), 0) },
	"select pipe": func() error { return choose(nil, pipe()) },
	"select out":  func() error { return choose(nil) },
	"epoll":       func() error { return epoll(watch(pipe(), 0)) },
	"epoll pipe":  func() error { return epoll(watch(pipe())) },
	"epoll epoll": func() error { return epoll(watch(pipe(), watch(0))) },
	"poll epoll":  func() error { return poll(watch(0)) },
	"wait": func() error {
		cmd := exec.Command("sleep", "1000")
		return cmd.Run()
	},
	"pause": unix.Pause, // a select of no cases would be a deadlock to a runtime without cgo
	"spin": func() error {
		for n := 1; n != 0; n++ {
			runtime.KeepAlive(n)
		}
		return nil
	},
	"thread": func() error { // another thread reads while this one sleeps elsewhere
		go func() { _ = read(0) }()
		return poll(pipe())
	},
	"background": func() error { // a process in another group sleeps in a poll of the terminal
		cmd := helper("poll")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		return cmd.Run()
	},
	"group": func() error { // another process of the same group does
		cmd := helper("poll tty")
		cmd.Stdin = os.Stdin
		return cmd.Run()
	},
}

func helper(how string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), sleeper+"="+how)
	return cmd
}

func read(fd int) error { _, err := unix.Read(fd, make([]byte, 1)); return err }

func openProcess(name string) int {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		panic(err)
	}
	return fd
}

// pipe returns one end of a silent pipe.
func pipe() int {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		panic(err)
	}
	return ends[0]
}

// stranger returns the terminal of another session, not the program's.
func stranger() int {
	master := openProcess("/dev/ptmx")
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		panic(err)
	}
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY)
	if errno != 0 {
		panic(errno)
	}
	return int(slave)
}

func poll(fds ...int) error { return pollFor(-time.Millisecond, fds...)() }

// pollFor returns a poll with a limit of time, which a negative one leaves out.
func pollFor(limit time.Duration, fds ...int) func() error {
	var table []unix.PollFd
	for _, fd := range fds {
		table = append(table, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return func() error { _, err := unix.Poll(table, int(limit.Milliseconds())); return err }
}

// again calls over and over.
func again(call func() error) error {
	for {
		if err := call(); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func choose(limit *unix.Timeval, fds ...int) error {
	var set unix.FdSet
	for _, fd := range fds {
		set.Set(fd)
	}
	_, err := unix.Select(1024, &set, nil, nil, limit)
	return err
}

func watch(fds ...int) int {
	e, err := unix.EpollCreate1(0)
	if err != nil {
		panic(err)
	}
	for _, fd := range fds {
		if err := unix.EpollCtl(e, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			panic(err)
		}
	}
	return e
}

func epoll(fd int) error {
	_, err := unix.EpollWait(fd, make([]unix.EpollEvent, 1), -1)
	return err
}

// sleeping starts a sleeper and waits until it sleeps, which its output cannot tell.
func sleeping(t *testing.T, how string) *child.Child {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return drainedInBackground(t, start(t, "", func(c *child.Config) {
		c.Path, c.Args, c.Env = exe, nil, append(os.Environ(), sleeper+"="+how)
	}))
}

// drainedInBackground reads what a program prints for as long as the test runs.
func drainedInBackground(t *testing.T, c *child.Child) *child.Child {
	t.Helper()
	ended := make(chan struct{})
	go func() { // ends with the program
		defer close(ended)
		buf := make([]byte, 4096)
		for {
			_, err := c.Read(buf)
			if errors.Is(err, child.ErrAgain) {
				_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.Descriptor()), Events: unix.POLLIN}}, 100)
			} else if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { // before the descriptor is closed
		c.Kill()
		<-ended
		c.Wait()
	})
	return c
}

func TestBlockedOn(t *testing.T) {
	t.Parallel()
	const nothing, reads, polls, shares, loops = "nothing", "reads", "polls", "shares", "loops"
	for how, want := range map[string]string{
		"read": reads, "readv": reads, "read tty": reads, "thread": reads,
		"read pipe": nothing, "read pts": nothing, "pause": nothing, "spin": nothing, "wait": nothing, "background": nothing,
		"poll tty": polls, "poll epoll": polls, "group": polls, "poll late": polls, "select late": polls, "epoll alone": polls,
		"poll": shares, "poll both": shares, "select": shares, "epoll": shares, "epoll epoll": shares,
		"poll soon": loops, "select soon": loops, "epoll soon": loops,
		"poll out": nothing, "poll pipe": nothing, "poll none": nothing, "select pipe": nothing, "select out": nothing, "epoll pipe": nothing,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := sleeping(t, how)
			var a child.Blocked
			var ran uint64
			still := 0
			require.Eventually(t, func() bool {
				known := false
				a, known = c.BlockedOn()
				if want == loops {
					return a.Loops
				}
				if !known || a.Ran != ran || !a.Asleep {
					ran, still = a.Ran, 0
					return how == "spin" && known && !a.Asleep && a.Ran > 0
				}
				still++
				return still > 5
			}, 2*time.Minute, 10*time.Millisecond)
			got := nothing
			switch {
			case a.Reads:
				got = reads
			case a.Polls:
				got = polls
			case a.Shares:
				got = shares
			case a.Loops:
				got = loops
			}
			require.Equal(t, want, got, "%+v", a)
			require.False(t, a.Unclear, "%+v", a)
			require.Empty(t, a.Relay)
			settings, err := c.Line()
			require.NoError(t, err)
			require.True(t, settings.Canonical)
			require.NotZero(t, a.Group)
		})
	}
}

// A program that was stopped in a poll continues with another call, which is the same poll.
func TestBlockedOnAfterAStop(t *testing.T) {
	c := sleeping(t, "poll")
	polls := func(want bool) func() bool {
		return func() bool { a, _ := c.BlockedOn(); return a.Shares == want }
	}
	require.Eventually(t, polls(true), 2*time.Minute, 10*time.Millisecond)
	require.NoError(t, unix.Kill(c.Pid(), unix.SIGSTOP))
	require.Eventually(t, polls(false), 2*time.Minute, 10*time.Millisecond)
	require.NoError(t, unix.Kill(c.Pid(), unix.SIGCONT))
	require.Eventually(t, polls(true), 2*time.Minute, 10*time.Millisecond)
}

func enter(t *testing.T, c *child.Child, text string) {
	t.Helper()
	n, err := c.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}

func TestHasOutput(t *testing.T) {
	c := start(t, "read x; printf answer; sleep 1000", nil)
	require.False(t, c.HasOutput())
	enter(t, c, "\n")
	require.Eventually(t, c.HasOutput, 2*time.Minute, time.Millisecond)
	until(t, c, "answer")
	require.False(t, c.HasOutput())
}

// A relay between the terminal and another one never counts as waiting: it is always ready.
func TestBlockedOnOfRelays(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	for command, want := range map[string]string{
		"script -qc cat /dev/null":                    "script",
		"tmux -S " + socket + " -f /dev/null new cat": "tmux: client",
	} {
		words := strings.Fields(command)
		if _, err := exec.LookPath(words[0]); err != nil {
			continue
		}
		c := drainedInBackground(t, start(t, "", func(conf *child.Config) {
			conf.Path, conf.Args, conf.Env = words[0], words[1:], append(os.Environ(), "TERM=xterm-256color", "TMUX=")
		}))
		var a child.Blocked
		require.Eventually(t, func() bool {
			a, _ = c.BlockedOn()
			return a.Relay == want && a.Asleep
		}, 2*time.Minute, 10*time.Millisecond, command)
		require.False(t, a.Reads || a.Polls || a.Unclear, "%s: %+v", command, a)
	}
	if _, err := exec.LookPath("tmux"); err == nil {
		require.Eventually(t, func() bool { // one that is just beginning does not hear it yet
			return exec.CommandContext(t.Context(), "tmux", "-S", socket, "kill-server").Run() == nil
		}, 2*time.Minute, 10*time.Millisecond, "the server ends")
	}
}
