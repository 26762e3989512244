package e2e_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

const (
	// patience bounds how long a test waits for a fact. Nothing is expected to take nearly as long.
	patience = time.Minute
	// The first polls are glance apart, later ones never more than stare: each runs a process or
	// two.
	glance, stare = 20 * time.Millisecond, 100 * time.Millisecond
)

var worlds atomic.Int64

// world is a user's account for one test: a new home, runtime directory and environment.
type world struct {
	t   *testing.T
	dir string
	env []string
	// ctx lasts until the cleanup is over, unlike the test's own.
	ctx context.Context
	// mark is the soft limit RLIMIT_RTTIME of every process of this world, in µs: it is inherited,
	// /proc/PID/limits shows it to every user, and it limits nothing (getrlimit(2)). An ordinary
	// user cannot read the environment of a proxy or gateway, which close it (R51).
	mark string
	tmux string // socket of this test's own server, "" until it runs
	cli  string // the command that agents use
	// cert is the certificate that everything in this world trusts, or nil.
	cert *tls.Certificate
}

// newWorld makes an account and lets the test run beside others. Any process or socket left at the
// end fails the test.
func newWorld(t *testing.T, programs ...string) *world {
	t.Helper()
	for _, p := range append(programs, "tmux", "bash") {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	t.Parallel()
	return newSoloWorld(t)
}

// needsRoot skips a test that an ordinary user cannot set up.
func needsRoot(t *testing.T, purpose string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: " + purpose)
	}
}

// onDisplays is newWorld for a test that shows terminals under X.
func onDisplays(t *testing.T, programs ...string) *world {
	t.Helper()
	clients(t)
	return newWorld(t, append(programs, "Xvfb", "xdotool")...)
}

// newSoloWorld is newWorld for a test that runs alone.
func newSoloWorld(t *testing.T) *world {
	t.Helper()
	number := worlds.Add(1)
	dir := filepath.Join(root, strconv.FormatInt(number, 10))
	require.NoError(t, os.Mkdir(dir, 0o700))
	home := filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	w := &world{t: t, dir: dir, ctx: context.WithoutCancel(t.Context()), cli: "gateway"}
	w.mark = fmt.Sprintf("1%09d%06d", os.Getpid(), number)
	w.env = []string{
		"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"),
		"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_RUNTIME_DIR=" + filepath.Join(home, "runtime"),
		"TERMINALPROXY_DIR=" + w.run(), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash", "INPUTRC=/dev/null",
		"LESS=", "LESSHISTFILE=-", "PAGER=less",
	}
	t.Cleanup(w.nothingIsLeft)
	return w
}

// run returns the directory of the local gateway's socket.
func (w *world) run() string { return w.path("run") }

// path returns a path in the world's directory, in which every command starts.
func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, content string) string {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(content), 0o600))
	return w.path(name)
}

// writeScript writes a file that the world's programs can run.
func (w *world) writeScript(name, content string) string {
	w.t.Helper()
	path := w.write(name, content)
	require.NoError(w.t, os.Chmod(path, 0o700))
	return path
}

func (w *world) content(name string) string {
	data, err := os.ReadFile(w.path(name))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(w.t, err)
	}
	return string(data)
}

// until waits for a fact and fails the test if it does not come. why makes the message, at the end.
func (w *world) until(fact func() bool, why func() string) {
	w.t.Helper()
	w.untilWithin(patience, fact, why)
}

// untilWithin is until with another ceiling, for what a time limit of the product ends.
func (w *world) untilWithin(ceiling time.Duration, fact func() bool, why func() string) {
	w.t.Helper()
	pause := glance
	for end := time.Now().Add(ceiling); !fact(); time.Sleep(pause) {
		if time.Now().After(end) {
			require.FailNow(w.t, "it did not come to that", why())
		}
		pause = min(pause*5/4, stare)
	}
}

// prlimit is the program of util-linux, or "" on a system without it. There, the mark finds no
// process.
var prlimit, _ = exec.LookPath("prlimit")

// command prepares a program in this world. Its process keeps its id when prlimit has set the mark.
func (w *world) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(root, "bin", name)
	if _, err := os.Lstat(path); err != nil {
		path = name
	}
	if prlimit != "" {
		path, args = prlimit, append([]string{"--rttime=" + w.mark + ":", path}, args...)
	}
	cmd := exec.CommandContext(w.ctx, path, args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	return cmd
}

type result struct {
	out, err string
	status   int
}

// mustFail checks the exit status and a sentence of the error.
func (r result) mustFail(t *testing.T, status int, say string) {
	t.Helper()
	require.Equal(t, status, r.status, r.err)
	require.Contains(t, r.err, say)
}

// do runs a command to its end.
func (w *world) do(name string, args ...string) result { return w.start(name, args...).wait() }

// running is a command under way.
type running struct {
	w        *world
	cmd      *exec.Cmd
	out, err output
	ended    chan struct{}
}

// output is what a command has printed, also while it runs. An unnamed file holds it. This process
// would have to read a pipe, and a busy machine may keep it from that; the command's children would
// keep the pipe open.
type output struct{ file *os.File }

func (w *world) newOutput() output {
	w.t.Helper()
	file, err := os.CreateTemp("", "output")
	require.NoError(w.t, err)
	require.NoError(w.t, os.Remove(file.Name()))
	w.t.Cleanup(func() { _ = file.Close() })
	return output{file}
}

func (o output) String() string {
	data, _ := io.ReadAll(io.NewSectionReader(o.file, 0, math.MaxInt64))
	return string(data)
}

func (w *world) start(name string, args ...string) *running {
	w.t.Helper()
	r := w.prepare(name, args...)
	r.run()
	return r
}

// prepare is start without the start.
func (w *world) prepare(name string, args ...string) *running {
	r := &running{w: w, cmd: w.command(name, args...), out: w.newOutput(), err: w.newOutput(), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = r.out.file, r.err.file
	return r
}

func (r *running) run() {
	r.w.t.Helper()
	require.NoError(r.w.t, r.cmd.Start())
	go func() { // ends with the command, which wait bounds
		defer close(r.ended)
		_ = r.cmd.Wait() // its status says more
	}()
}

func (r *running) wait() result {
	r.w.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		state, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(r.cmd.Process.Pid), "stat"))
		_ = r.cmd.Process.Signal(syscall.SIGQUIT) // our commands then print where they hang
		select {
		case <-r.ended:
		case <-time.After(5 * time.Second):
			_ = r.cmd.Process.Kill()
			<-r.ended
		}
		require.FailNow(r.w.t, "a command hangs", "%s\n%s\n%s%s", r.cmd, state, r.out.String(), r.err.String())
	}
	return result{r.out.String(), r.err.String(), r.cmd.ProcessState.ExitCode()}
}

// gateway runs the agent's command to its end.
func (w *world) gateway(args ...string) result {
	w.t.Helper()
	return w.do(w.cli, args...)
}

// mustGateway runs the agent's command, which must succeed.
func (w *world) mustGateway(args ...string) string {
	w.t.Helper()
	got := w.gateway(args...)
	require.Zero(w.t, got.status, "gateway %s\n%s%s", strings.Join(args, " "), got.out, got.err)
	return got.out
}

// sessions returns the sessions that the gateway lists; it is empty while there is no gateway.
func (w *world) sessions(more ...string) []protocol.SessionInfo {
	got := w.gateway(append([]string{"ls", "--json"}, more...)...)
	if got.status != 0 {
		return nil
	}
	var list struct {
		Sessions []protocol.SessionInfo `json:"sessions"`
	}
	require.NoError(w.t, json.Unmarshal([]byte(got.out), &list))
	return list.Sessions
}

// session waits until exactly one session is listed, with more flags of gateway ls, and runs, and
// returns its id.
func (w *world) session(more ...string) string {
	w.t.Helper()
	return w.ids(1, more...)[0]
}

// ids waits until exactly n sessions are listed and run, and returns their ids.
func (w *world) ids(n int, more ...string) []string {
	w.t.Helper()
	var ids []string
	w.until(func() bool {
		ids = nil
		for _, s := range w.sessions(more...) {
			if s.State == protocol.StateRunning {
				ids = append(ids, s.SessionID)
			}
		}
		return len(ids) == n
	}, func() string { return "sessions: " + strings.Join(ids, ", ") })
	return ids
}

// waitKeyboard waits until the session's keyboard is in the wanted state.
func (w *world) waitKeyboard(id, want string) {
	w.t.Helper()
	var got result
	w.until(func() bool {
		got = w.gateway("read", id)
		header, _, _ := strings.Cut(got.out, "\n")
		return strings.Contains(header, "keyboard: "+want)
	}, func() string { return got.out + got.err })
}

// requestGrant asks for the keyboard as the agent cli, which the session grants without asking.
func (w *world) requestGrant(id string, more ...string) {
	w.t.Helper()
	require.Contains(w.t, w.mustGateway(append([]string{"request", id, "--reason", "to test"}, more...)...), "granted")
}

// waitHeard waits until the listener's file matches.
func (w *world) waitHeard(name, pattern string) string {
	w.t.Helper()
	match := regexp.MustCompile(pattern)
	got := ""
	w.until(func() bool { got = w.content(name); return match.MatchString(got) },
		func() string { return strconv.Quote(got) + " does not match " + pattern })
	return got
}

// nothingIsLeft ends the user's terminals, and checks that every process of the test ends too and
// no socket stays.
func (w *world) nothingIsLeft() {
	if w.tmux != "" {
		if out, err := w.command("tmux", "-S", w.tmux, "display-message", "-p", "#{pid}").Output(); err == nil {
			w.kill(strings.TrimSpace(string(out)), syscall.SIGTERM)
		}
	}
	var left []string
	w.until(func() bool { left = w.processes(); return len(left) == 0 },
		func() string { return "left behind:\n" + strings.Join(left, "\n") })
	entries, err := os.ReadDir(w.run())
	if err == nil {
		for _, e := range entries {
			require.Failf(w.t, "left behind", "%s in the runtime directory", e.Name())
		}
	}
}

// processes returns the processes that carry this world's mark or, if a login has reset the limits,
// its environment.
func (w *world) processes() []string {
	var found []string
	variable := []byte("TERMINALPROXY_DIR=" + w.run() + "\x00")
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		limits, _ := os.ReadFile(filepath.Join(dir, "limits"))
		if !bytes.Contains(limits, []byte(w.mark)) {
			env, _ := os.ReadFile(filepath.Join(dir, "environ"))
			if !bytes.Contains(append(env, 0), variable) {
				continue
			}
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// kill sends a signal to a process that the test started.
func (w *world) kill(pid string, sig syscall.Signal) {
	w.t.Helper()
	require.NoError(w.t, w.signal(pid, sig))
}

// killOne is kill for one of several processes, which may end when another one does.
func (w *world) killOne(pid string, sig syscall.Signal) {
	w.t.Helper()
	if err := w.signal(pid, sig); !errors.Is(err, syscall.ESRCH) {
		require.NoError(w.t, err)
	}
}

func (w *world) signal(pid string, sig syscall.Signal) error {
	w.t.Helper()
	n, err := strconv.Atoi(pid)
	require.NoError(w.t, err)
	require.Greater(w.t, n, 1)
	return syscall.Kill(n, sig)
}

// waitGone waits until a process has ended.
func (w *world) waitGone(pid string) {
	w.t.Helper()
	w.until(func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, func() string { return "process " + pid + " is still there" })
}
