package world

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	// Patience bounds how long a test waits for a fact. Nothing is expected to take nearly as long.
	Patience = 2 * time.Minute
	// Polls begin Glance apart, and slow down to stare: each runs a process or two.
	Glance, stare = 20 * time.Millisecond, 100 * time.Millisecond
)

var Worlds atomic.Int64

// account is the home of a test's user: files, configurations, waits and signals.
type account struct {
	T   *testing.T
	Dir string
}

// World is a user's account for one test: a new home, runtime directory and environment.
type World struct {
	account
	Env []string
	// Ctx lasts until the cleanup is over, unlike the test's own.
	Ctx context.Context
	// mark is the soft limit RLIMIT_RTTIME of every process of this world, in µs: it is inherited,
	// /proc/PID/limits shows it to every user, and it limits nothing (getrlimit(2)). An ordinary
	// user cannot read the environment of a proxy or gateway, which close it (R51).
	mark string
	Tmux string // socket of this test's own server, "" until it runs
	CLI  string // the command that agents use
	// Cert is the certificate that everything in this world trusts, or nil.
	Cert *tls.Certificate
}

// New makes an account and lets the test run beside others. Any process or socket left at the
// end fails the test.
func New(t *testing.T, programs ...string) *World {
	t.Helper()
	for _, p := range append(programs, "tmux", "bash") {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	t.Parallel()
	return NewSolo(t)
}

// NeedsRoot skips a test that an ordinary user cannot set up.
func NeedsRoot(t *testing.T, purpose string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: " + purpose)
	}
}

// OnDisplays is New for a test that shows terminals under X.
func OnDisplays(t *testing.T, programs ...string) *World {
	t.Helper()
	Clients(t)
	return New(t, append(programs, "Xvfb", "xdotool")...)
}

// NewSolo is New for a test that runs alone.
func NewSolo(t *testing.T) *World {
	t.Helper()
	number := Worlds.Add(1)
	dir := filepath.Join(Root, strconv.FormatInt(number, 10))
	require.NoError(t, os.Mkdir(dir, 0o700))
	home := filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	w := &World{account: account{T: t, Dir: dir}, Ctx: context.WithoutCancel(t.Context()), CLI: "gateway"}
	w.mark = fmt.Sprintf("1%09d%06d", os.Getpid(), number)
	w.Env = []string{
		"PATH=" + filepath.Join(Root, "bin") + ":" + os.Getenv("PATH"),
		"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_RUNTIME_DIR=" + filepath.Join(home, "runtime"),
		"TERMINALPROXY_DIR=" + w.Run(), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash", "INPUTRC=/dev/null",
		"LESS=", "LESSHISTFILE=-", "PAGER=less",
	}
	t.Cleanup(w.nothingIsLeft)
	w.SetStarts("...")
	return w
}

// SetStarts sets how many shared sessions the world's user has begun, a character for each.
func (w *World) SetStarts(count string) {
	dir := filepath.Join(w.Path("home"), "state", "terminalproxy")
	require.NoError(w.T, os.MkdirAll(dir, 0o700))
	require.NoError(w.T, os.WriteFile(filepath.Join(dir, "starts"), []byte(count), 0o600))
}

// Run returns the directory of the local gateway's socket.
func (a *account) Run() string { return a.Path("run") }

// Path returns a path in the world's directory, in which every command starts.
func (a *account) Path(name string) string { return filepath.Join(a.Dir, name) }

func (a *account) Write(name, content string) string {
	a.T.Helper()
	require.NoError(a.T, os.WriteFile(a.Path(name), []byte(content), 0o600))
	return a.Path(name)
}

// WriteScript writes a file that the world's programs can run.
func (a *account) WriteScript(name, content string) string {
	a.T.Helper()
	path := a.Path(name)
	require.NoError(a.T, WriteProgram(path, []byte(content), 0o700))
	return path
}

// WriteProgram writes a file that can be run at once. The lock keeps other tests from forking while
// the file is open: the kernel does not run a file that a child has open for writing (ETXTBSY).
func WriteProgram(path string, content []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // an existing file keeps its mode otherwise
}

func (a *account) Content(name string) string {
	data, err := os.ReadFile(a.Path(name))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(a.T, err)
	}
	return string(data)
}

// Until waits for a fact and fails the test if it does not come. why returns the message of a failure.
func (a *account) Until(fact func() bool, why func() string) {
	a.T.Helper()
	a.UntilWithin(Patience, fact, why)
}

// UntilWithin is Until with another bound, for events that a time limit of the product causes.
func (a *account) UntilWithin(ceiling time.Duration, fact func() bool, why func() string) {
	a.T.Helper()
	pause := Glance
	for end := time.Now().Add(ceiling); !fact(); time.Sleep(pause) {
		if time.Now().After(end) {
			require.FailNow(a.T, "it did not come to that", why())
		}
		pause = min(pause*5/4, stare)
	}
}

// prlimit is the program of util-linux, or "" on a system without it. There, the mark finds no
// process.
var prlimit, _ = exec.LookPath("prlimit")

// Command prepares a program in this world. Its process keeps its id when prlimit has set the mark.
func (w *World) Command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(Root, "bin", name)
	if _, err := os.Lstat(path); err != nil {
		path = name
	}
	if prlimit != "" {
		path, args = prlimit, append([]string{"--rttime=" + w.mark + ":", path}, args...)
	}
	cmd := exec.CommandContext(w.Ctx, path, args...)
	cmd.Env, cmd.Dir = w.Env, w.Dir
	return cmd
}

type Result struct {
	Out, Err string
	Status   int
}

// MustFail checks the exit status and a sentence of the error.
func (r Result) MustFail(t *testing.T, status int, say string) {
	t.Helper()
	require.Equal(t, status, r.Status, r.Err)
	require.Contains(t, r.Err, say)
}

// Do runs a command to its end.
func (w *World) Do(name string, args ...string) Result { return w.Start(name, args...).Wait() }

// Running is a command under way.
type Running struct {
	w        *World
	Cmd      *exec.Cmd
	Out, Err output
	Ended    chan struct{}
}

// output is what a command has printed, also while it runs. An unnamed file holds it. This process
// would have to read a pipe, and a busy machine may keep it from that; the command's children would
// keep the pipe open.
type output struct{ file *os.File }

func (a *account) newOutput() output {
	a.T.Helper()
	file, err := os.CreateTemp("", "output")
	require.NoError(a.T, err)
	require.NoError(a.T, os.Remove(file.Name()))
	a.T.Cleanup(func() { _ = file.Close() })
	return output{file}
}

func (o output) String() string {
	data, _ := io.ReadAll(io.NewSectionReader(o.file, 0, math.MaxInt64))
	return string(data)
}

func (w *World) Start(name string, args ...string) *Running {
	w.T.Helper()
	r := w.Prepare(name, args...)
	r.Run()
	return r
}

// Prepare prepares a command; [Running.Run] starts it.
func (w *World) Prepare(name string, args ...string) *Running {
	r := &Running{w: w, Cmd: w.Command(name, args...), Out: w.newOutput(), Err: w.newOutput(), Ended: make(chan struct{})}
	r.Cmd.Stdout, r.Cmd.Stderr = r.Out.file, r.Err.file
	return r
}

func (r *Running) Run() {
	r.w.T.Helper()
	require.NoError(r.w.T, r.Cmd.Start())
	go func() { // ends with the command, which wait bounds
		defer close(r.Ended)
		_ = r.Cmd.Wait() // its status says more
	}()
}

// Wait waits for the command's end. A command with a --timeout may take that long as well.
func (r *Running) Wait() Result {
	r.w.T.Helper()
	select {
	case <-r.Ended:
	case <-time.After(Patience + ownTimeout(r.Cmd.Args)):
		state, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(r.Cmd.Process.Pid), "stat"))
		_ = r.Cmd.Process.Signal(syscall.SIGQUIT) // our commands then print where they hang
		select {
		case <-r.Ended:
		case <-time.After(5 * time.Second):
			_ = r.Cmd.Process.Kill()
			<-r.Ended
		}
		require.FailNow(r.w.T, "a command hangs", "%s\n%s\n%s%s", r.Cmd, state, r.Out.String(), r.Err.String())
	}
	return Result{r.Out.String(), r.Err.String(), r.Cmd.ProcessState.ExitCode()}
}

// ownTimeout returns the value of a command's --timeout, or 0.
func ownTimeout(args []string) time.Duration {
	at := slices.Index(args, "--timeout") + 1
	if at == 0 || at == len(args) {
		return 0
	}
	d, _ := time.ParseDuration(args[at]) // a bad value ends the command at once
	return d
}

// Gateway runs the agent's command to its end.
func (w *World) Gateway(args ...string) Result {
	w.T.Helper()
	return w.Do(w.CLI, args...)
}

// MustGateway runs the agent's command, which must succeed. A wait or an input has as much time as a
// busy machine may need, unless args say otherwise.
func (w *World) MustGateway(args ...string) string {
	w.T.Helper()
	if (args[0] == "wait" || args[0] == "send") && !slices.Contains(args, "--timeout") {
		args = append(slices.Clone(args), "--timeout", Patience.String())
	}
	got := w.Gateway(args...)
	require.Zero(w.T, got.Status, "gateway %s\n%s%s", strings.Join(args, " "), got.Out, got.Err)
	return got.Out
}

// Sessions returns the sessions that the gateway lists; it is empty while there is no gateway.
func (w *World) Sessions(more ...string) []protocol.SessionInfo {
	got := w.Gateway(append([]string{"ls", "--json"}, more...)...)
	if got.Status != 0 {
		return nil
	}
	var list struct {
		Sessions []protocol.SessionInfo `json:"sessions"`
	}
	require.NoError(w.T, json.Unmarshal([]byte(got.Out), &list))
	return list.Sessions
}

// Session waits until exactly one session is listed, with more flags of gateway ls, and runs, and
// returns its id.
func (w *World) Session(more ...string) string {
	w.T.Helper()
	return w.IDs(1, more...)[0]
}

// IDs waits until exactly n sessions are listed and run, and returns their ids.
func (w *World) IDs(n int, more ...string) []string {
	w.T.Helper()
	var ids []string
	w.Until(func() bool {
		ids = nil
		for _, s := range w.Sessions(more...) {
			if s.State == protocol.StateRunning {
				ids = append(ids, s.SessionID)
			}
		}
		return len(ids) == n
	}, func() string { return "sessions: " + strings.Join(ids, ", ") })
	return ids
}

// WaitKeyboard waits until the session's keyboard is in the wanted state.
func (w *World) WaitKeyboard(id, want string) {
	w.T.Helper()
	var got Result
	w.Until(func() bool {
		got = w.Gateway("read", id)
		header, _, _ := strings.Cut(got.Out, "\n")
		return strings.Contains(header, "keyboard: "+want)
	}, func() string { return got.Out + got.Err })
}

// RequestGrant asks for the keyboard as the agent cli, which the session grants without asking.
func (w *World) RequestGrant(id string, more ...string) {
	w.T.Helper()
	require.Contains(w.T, w.MustGateway(append([]string{"request", id, "--reason", "to test"}, more...)...), "granted")
}

// WaitRead waits until the agent that reads a session gets text.
func WaitRead(w *World, id, text string) {
	w.T.Helper()
	var got Result
	w.Until(func() bool { got = w.Gateway("read", id); return strings.Contains(got.Out, text) },
		func() string { return text + " is not in:\n" + got.Out + got.Err })
}

// WaitContent waits until a file holds exactly this. A receipt says what a program's terminal has
// got; the program then needs time to write it to a file.
func (a *account) WaitContent(name, want string) {
	a.T.Helper()
	a.Until(func() bool { return a.Content(name) == want },
		func() string { return fmt.Sprintf("%s holds %q, not %q", name, a.Content(name), want) })
}

// WaitHeard waits until the listener's file matches.
func (a *account) WaitHeard(name, pattern string) string {
	a.T.Helper()
	match := regexp.MustCompile(pattern)
	got := ""
	a.Until(func() bool { got = a.Content(name); return match.MatchString(got) },
		func() string { return strconv.Quote(got) + " does not match " + pattern })
	return got
}

// nothingIsLeft ends the user's terminals, and checks that every process of the test ends too and
// no socket stays.
func (w *World) nothingIsLeft() {
	if w.Tmux != "" {
		if out, err := w.Command("tmux", "-S", w.Tmux, "display-message", "-p", "#{pid}").Output(); err == nil {
			w.Kill(strings.TrimSpace(string(out)), syscall.SIGTERM)
		}
	}
	var left []string
	w.Until(func() bool { left = w.Processes(); return len(left) == 0 },
		func() string { return "left behind:\n" + strings.Join(left, "\n") })
	entries, err := os.ReadDir(w.Run())
	if err == nil {
		for _, e := range entries {
			require.Failf(w.T, "left behind", "%s in the runtime directory", e.Name())
		}
	}
}

// Processes returns the processes that carry this world's mark or, if a login has reset the limits,
// its environment.
func (w *World) Processes() []string {
	var found []string
	variable := []byte("TERMINALPROXY_DIR=" + w.Run() + "\x00")
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

// Kill sends a signal to a process that the test started.
func (a *account) Kill(pid string, sig syscall.Signal) {
	a.T.Helper()
	require.NoError(a.T, a.signal(pid, sig))
}

// KillOne is Kill for one of several processes, which may end when another one does.
func (a *account) KillOne(pid string, sig syscall.Signal) {
	a.T.Helper()
	if err := a.signal(pid, sig); !errors.Is(err, syscall.ESRCH) {
		require.NoError(a.T, err)
	}
}

func (a *account) signal(pid string, sig syscall.Signal) error {
	a.T.Helper()
	n, err := strconv.Atoi(pid)
	require.NoError(a.T, err)
	require.Greater(a.T, n, 1)
	return syscall.Kill(n, sig)
}

// WaitGone waits until a process has ended.
func (a *account) WaitGone(pid string) {
	a.T.Helper()
	a.Until(func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, func() string { return "process " + pid + " is still there" })
}

// Files returns the names of all files in the world.
func (a *account) Files() []string {
	var names []string
	require.NoError(a.T, filepath.WalkDir(a.Dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}
