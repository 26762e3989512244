//go:build linux

package built_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
)

const (
	patience = 20 * time.Second
	agentKey = "0123456789abcdef0123456789abcdef"
)

var worlds atomic.Int64

// world is an account of its own, with the processes that run in it.
type world struct {
	tb   testing.TB
	dir  string
	env  []string
	pids []int // of those whose processor time counts, with their descendants
}

// newWorld makes an account. What runs in it ends with the benchmark.
func newWorld(tb testing.TB) *world {
	tb.Helper()
	require.NoError(tb, build())
	w := &world{tb: tb, dir: filepath.Join(root, strconv.FormatInt(worlds.Add(1), 10))}
	require.NoError(tb, os.MkdirAll(w.path("state/terminalproxy"), 0o700))
	// the line of the first sessions would be measured
	require.NoError(tb, os.WriteFile(w.path("state/terminalproxy/starts"), []byte("..."), 0o600))
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TERMINALPROXY_DIR=" + w.path("run"), "XDG_STATE_HOME=" + w.path("state"),
		"XDG_RUNTIME_DIR=" + w.path("runtime"), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh", "PS1=$ ",
	}
	return w
}

func needTmux(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		tb.Skip("tmux is not installed: there is nothing to measure beside")
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func binary(name string) string { return filepath.Join(root, "bin", name) }

// command is a process of this world, not yet started.
func (w *world) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	return cmd
}

// output runs a command to its end.
func (w *world) output(name string, args ...string) string {
	w.tb.Helper()
	cmd := w.command(name, args...)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	require.NoError(w.tb, err, "%s %v: %s", name, args, trouble.String())
	return string(out)
}

// runs starts a process, whose processor time counts, and ends it with the benchmark.
func (w *world) runs(cmd *exec.Cmd, start func() error) {
	w.tb.Helper()
	require.NoError(w.tb, start())
	w.pids = append(w.pids, cmd.Process.Pid)
	w.tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait() // it was told to end
	})
}

// sits runs a program on a terminal of a user who looks at it.
func (w *world) sits(name string, args ...string) {
	w.tb.Helper()
	screen := w.screen(name, args...)
	go func() { _, _ = io.Copy(io.Discard, screen) }() // ends with the program's terminal
}

// screen runs a program on a terminal, and is the user's side of that.
func (w *world) screen(name string, args ...string) (screen *os.File) {
	w.tb.Helper()
	cmd := w.command(name, args...)
	w.runs(cmd, func() (err error) {
		screen, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rows})
		if err == nil {
			w.tb.Cleanup(func() { _ = screen.Close() })
		}
		return err
	})
	return screen
}

// talks runs a program with pipes to it.
func (w *world) talks(name string, args ...string) (in io.WriteCloser, out *bufio.Reader) {
	w.tb.Helper()
	cmd := w.command(name, args...)
	in, err := cmd.StdinPipe()
	require.NoError(w.tb, err)
	pipe, err := cmd.StdoutPipe()
	require.NoError(w.tb, err)
	w.runs(cmd, cmd.Start)
	w.tb.Cleanup(func() { _ = in.Close() })
	return in, bufio.NewReaderSize(pipe, 256<<10)
}

// until waits for a fact.
func (w *world) until(what string, fact func() bool) {
	w.tb.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !fact(); <-tick.C {
		require.True(w.tb, time.Now().Before(end), "it did not come to that: %s", what)
	}
}

// orders makes the FIFO through which a marker is told to print.
func (w *world) orders() *os.File {
	w.tb.Helper()
	require.NoError(w.tb, unix.Mkfifo(w.path("orders"), 0o600))
	f, err := os.OpenFile(w.path("orders"), os.O_RDWR, 0)
	require.NoError(w.tb, err)
	w.tb.Cleanup(func() { _ = f.Close() })
	return f
}

// place is a marker with its screen drawn.
type place struct {
	*world
	orders *os.File
	// id is the session's, and at the gateway's address, "" for the account's own.
	id, at, token string
	tmux          string // the server's socket
}

// prints has the marker print a mark.
func (p *place) prints(mark string) {
	p.tb.Helper()
	_, err := p.orders.WriteString(mark + "\n")
	require.NoError(p.tb, err)
}

// ofUser is a marker that a user runs under proxy --agent, which is the gateway too.
func ofUser(tb testing.TB) *place {
	w := newWorld(tb)
	p := &place{world: w, orders: w.orders()}
	w.sits(binary("proxy"), "--agent", binary("marker"), w.path("orders"))
	p.found()
	return p
}

// servedWith is another program that draws a screen and takes orders. It has a gateway of its own,
// which all others reach over TCP.
func servedWith(tb testing.TB, program string) *place {
	w := newWorld(tb)
	p := &place{world: w, orders: w.orders()}
	_, out := w.talks(binary("gateway"), "serve", "--listen", "127.0.0.1:0")
	first, err := out.ReadString('\n')
	require.NoError(tb, err)
	p.at = strings.TrimSpace(strings.TrimPrefix(first, "listening on "))
	token := w.output(binary("gateway"), "token", "create", "laptop", "--role", "proxy")
	require.NoError(tb, os.WriteFile(w.path("token"), []byte(token), 0o600))
	p.token = strings.TrimSpace(w.output(binary("gateway"), "token", "create", "agent", "--role", "agent"))
	w.sits(binary("proxy"), "--agent", "--gateway", p.at, "--token-file", w.path("token"), binary(program), w.path("orders"))
	p.found()
	return p
}

// found waits until the marker's screen can be read.
func (p *place) found() {
	p.tb.Helper()
	c := p.client()
	p.until("the marker's screen", func() bool {
		list, err := c.Sessions(context.Background())
		if err != nil || len(list) != 1 {
			return false
		}
		p.id = list[0].SessionID
		got, err := c.Read(context.Background(), &protocol.Read{SessionID: p.id})
		return err == nil && strings.Contains(strings.Join(got.Frame.Screen.Lines, "\n"), drawn)
	})
}

func (p *place) endpoint() endpoint.Endpoint {
	p.tb.Helper()
	at := p.at
	if at == "" {
		at = "unix:" + p.path("run/gateway.sock")
	}
	ep, err := endpoint.Parse(at)
	require.NoError(p.tb, err)
	ep.Token = p.token
	return ep
}

// client is an agent on a WebSocket.
func (p *place) client() *client.Client {
	p.tb.Helper()
	ep := p.endpoint()
	c := client.New(client.Config{
		Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: "bench", Key: agentKey,
	})
	p.tb.Cleanup(func() { _ = c.Close() })
	return c
}

// inTmux is a marker in a window of a tmux server of its own, at which a user sits.
func inTmux(tb testing.TB) *place {
	w := newWorld(tb)
	p := &place{world: w, orders: w.orders(), tmux: w.path("tmux")}
	w.tmuxServer("exec " + binary("marker") + " " + w.path("orders"))
	w.sits("tmux", "-u", "-S", p.tmux, "attach")
	p.until("the marker's screen", func() bool {
		return strings.Contains(w.output("tmux", "-S", p.tmux, "capture-pane", "-p"), drawn)
	})
	return p
}

const tmuxConf = "set -g status off\nset -g default-terminal screen-256color\nset -sg escape-time 0\nset -g default-shell /bin/sh\n"

// tmuxServer starts a server with one window.
func (w *world) tmuxServer(shell string) {
	w.tb.Helper()
	require.NoError(w.tb, os.WriteFile(w.path("tmux.conf"), []byte(tmuxConf), 0o600))
	w.output("tmux", "-u", "-S", w.path("tmux"), "-f", w.path("tmux.conf"), "new-session", "-d", "-s", "s0",
		"-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), shell)
	w.tb.Cleanup(func() { _ = w.command("tmux", "-S", w.path("tmux"), "kill-server").Run() })
	pid, err := strconv.Atoi(strings.TrimSpace(w.output("tmux", "-S", w.path("tmux"), "display-message", "-p", "#{pid}")))
	require.NoError(w.tb, err)
	w.pids = append(w.pids, pid)
}
