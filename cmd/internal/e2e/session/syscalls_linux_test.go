package session_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// startedCall matches a line of strace in which a system call begins: the thread and the call.
var startedCall = regexp.MustCompile(`(?m)^(\d+) +([a-z]\w*)\(`)

// schedulerCalls are those that Go's runtime makes to run goroutines, to wait for descriptors and
// to collect garbage. Their number depends on the load of the machine.
var schedulerCalls = []string{
	"clone", "clone3", "epoll_pwait", "epoll_wait", "futex", "getpid", "gettid", "madvise", "mmap", "munmap",
	"nanosleep", "restart_syscall", "rseq", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_yield",
	"set_robust_list", "sigaltstack", "tgkill",
}

// traced is a process whose system calls strace writes into a file.
type traced struct {
	name, log string
	pid       int
	from      int64 // the size of the file when counting began
}

// count returns how often the process made each system call since counting began.
func (p *traced) count(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(p.log)
	require.NoError(t, err)
	calls := make(map[string]int)
	for _, m := range startedCall.FindAllStringSubmatch(string(data[p.from:]), -1) {
		if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.pid), "task", m[1])); err == nil {
			calls[m[2]]++
		}
	}
	return calls
}

// size returns the size of the file.
func (p *traced) size(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(p.log)
	require.NoError(t, err)
	return info.Size()
}

// waitQuiet waits until the process has made no system call for a while.
func (p *traced) waitQuiet(w *world.World) {
	w.T.Helper()
	const quietFor = 700 * time.Millisecond // longer than any delay of the proxy after an event
	last, since := int64(-1), time.Now()
	w.Until(func() bool {
		if now := p.size(w.T); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > quietFor
	}, func() string { return p.name + " never rests" })
}

// formatCalls formats calls for each event, the most frequent first.
func formatCalls(calls map[string]int, events int) string {
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return calls[b] - calls[a]
	})
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, " %s %.1f", name, float64(calls[name])/float64(events))
	}
	return b.String()
}

// countOwn returns how many of the calls do not depend on the load.
func countOwn(calls map[string]int) (n int) {
	for name, count := range calls {
		if !slices.Contains(schedulerCalls, name) {
			n += count
		}
	}
	return n
}

// tracedScene is a proxy and a serving gateway under strace, with a program that prints each line
// from a FIFO, and a client.
type tracedScene struct {
	*world.World
	st             *world.Stage
	proxy, gateway *traced
	id             string
	client         *client.Client
	orders         *os.File
	printed        int // lines
}

func newTracedScene(t *testing.T) *tracedScene {
	s := &tracedScene{World: world.New(t)}
	const trace = "#!/bin/sh\nprogram=$1 log=$2; shift 2\nexec strace -D -f -o \"$log\" \"$program\" \"$@\"\n"
	s.WriteScript("trace", trace)
	s.gateway = &traced{name: "gateway", log: s.Path("gateway.strace")}
	serving := s.Start(s.Path("trace"), "gateway", s.gateway.log, "serve", "--listen", "127.0.0.1:0")
	s.gateway.pid = serving.Cmd.Process.Pid
	t.Cleanup(func() { _ = serving.Cmd.Process.Signal(os.Interrupt) })
	s.Until(func() bool { return strings.Contains(serving.Out.String(), "listening on") }, serving.Err.String)

	require.NoError(t, unix.Mkfifo(s.Path("orders"), 0o600))
	s.WriteScript("prints", "#!/bin/sh\nexec 3<>orders\necho ready\nwhile read line <&3; do echo \"$line\"; done\n")
	s.proxy = &traced{name: "proxy", log: s.Path("proxy.strace")}
	s.st = s.Stage("exec ./trace proxy " + s.proxy.log + " --agent ./prints")
	s.proxy.pid = s.st.Cmd.Process.Pid
	s.st.WaitText("ready")
	s.id = s.Session()
	var err error
	s.orders, err = os.OpenFile(s.Path("orders"), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.orders.Close() })
	ep, err := endpoint.Parse("unix:" + s.Run() + "/gateway.sock")
	require.NoError(t, err)
	s.client = client.New(client.Config{
		Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: "codex",
	})
	t.Cleanup(func() { _ = s.client.Close() })
	return s
}

// nextLine returns the line that the next printLine prints.
func (s *tracedScene) nextLine() string { return fmt.Sprintf("line %04d", s.printed+1) }

// printLine has the program print a line.
func (s *tracedScene) printLine() {
	s.T.Helper()
	_, err := s.orders.WriteString(s.nextLine() + "\n")
	require.NoError(s.T, err)
	s.printed++
}

// measure counts the system calls of some events, each from rest to rest, and checks the proxy's.
func (s *tracedScene) measure(what string, event func()) {
	s.T.Helper()
	const events = 6
	event() // the first one makes what later ones reuse
	s.proxy.waitQuiet(s.World)
	processes := []*traced{s.proxy, s.gateway}
	for _, p := range processes {
		p.from = p.size(s.T)
	}
	for range events {
		event()
		s.proxy.waitQuiet(s.World)
	}
	for _, p := range processes {
		calls := p.count(s.T)
		own := countOwn(calls)
		s.T.Logf("%s, %s: %.1f calls without the scheduler's; all:%s",
			what, p.name, float64(own)/events, formatCalls(calls, events))
		if p == s.proxy {
			require.LessOrEqual(s.T, own, limits[what]*events, "%s: %s", what, formatCalls(calls, events))
			require.GreaterOrEqual(s.T, own, events, "%s: strace sees the proxy", what)
		}
	}
}

// limits bound a proxy's system calls for one event from rest to rest, the settled snapshot
// included. The goals are 15 for a key, 20 for a look, 60 for a wait and 30 for a line. The limits
// are a third above what was counted on one machine, because another one has other processes to look
// at.
var limits = map[string]int{"key": 35, "look": 30, "wait": 76, "line": 40}

// The system calls of a proxy for each event stay few: for a key that the user types, for a line
// that the program prints while a client subscribes, for a client's look, and for a wait that is
// met.
func TestSystemCallsOfAnEvent_Client(t *testing.T) {
	world.Clients(t)
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), "strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, out)
	}
	s := newTracedScene(t)
	typed := ""
	s.measure("key", func() {
		key := string(rune('a' + len(typed)))
		typed += key
		s.st.TypeKeys(key)
		s.st.WaitText(typed)
	})
	s.measure("look", func() {
		_, err := s.client.Read(t.Context(), &protocol.Read{SessionID: s.id})
		require.NoError(t, err)
	})
	s.measure("wait", func() {
		met := make(chan error, 1)
		until := protocol.Until{Text: s.nextLine()}
		go func() { // ends with the wait
			_, err := s.client.Wait(t.Context(), &protocol.Wait{
				SessionID: s.id, Until: until, TimeoutMs: world.Patience.Milliseconds(),
			})
			met <- err
		}()
		s.proxy.waitQuiet(s.World) // the wait has begun
		s.printLine()
		require.NoError(t, <-met)
	})
	stream, err := s.client.Subscribe(t.Context(), s.id, 0)
	require.NoError(t, err)
	s.measure("line", func() {
		line := s.nextLine()
		s.printLine()
		for m := range stream {
			if shot, ok := m.(*protocol.Snapshot); ok && shot.Screen != nil &&
				slices.ContainsFunc(shot.Screen.Lines, func(row string) bool { return row == line }) {
				return
			}
		}
		require.Fail(t, "the stream ended")
	})
}
