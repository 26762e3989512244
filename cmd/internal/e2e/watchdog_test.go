package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/watchdog"
)

// stage is a terminal, with a shell's script in it, that can report every mode, since it is our own
// model.
type stage struct {
	w     *world
	cmd   *exec.Cmd
	ptmx  *os.File
	ended chan struct{}

	mu    sync.Mutex
	model *screen.Screen
	raw   bytes.Buffer
	mute  bool // it answers no questions
}

// stage runs a shell script in a terminal.
func (w *world) stage(script string) *stage {
	w.t.Helper()
	st := &stage{w: w, cmd: w.command("sh", "-c", script), ended: make(chan struct{}), model: screen.New(screen.Config{Cols: 80, Rows: 24})}
	var err error
	st.ptmx, err = pty.StartWithSize(st.cmd, &pty.Winsize{Cols: 80, Rows: 24})
	require.NoError(w.t, err)
	go st.show() // ends with the PTY
	w.t.Cleanup(func() {
		_ = st.cmd.Process.Kill()
		_ = st.cmd.Wait()
		<-st.ended
		_ = st.ptmx.Close()
	})
	return st
}

func (st *stage) show() {
	defer close(st.ended)
	buf := make([]byte, 4096)
	for {
		n, err := st.ptmx.Read(buf)
		if err != nil {
			return
		}
		st.mu.Lock()
		st.raw.Write(buf[:n])
		st.model.Feed(buf[:n])
		replies := st.model.TakeReplies()
		if st.mute {
			replies = nil
		}
		st.mu.Unlock()
		if len(replies) > 0 {
			_, _ = st.ptmx.Write(replies)
		}
	}
}

// look checks the model.
func (st *stage) look(at func(*screen.Screen) bool) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return at(st.model)
}

// waitScreen waits until the model is as wanted.
func (st *stage) waitScreen(what string, wanted func(*screen.Screen) bool) {
	st.w.t.Helper()
	st.w.until(func() bool { return st.look(wanted) }, func() string {
		st.mu.Lock()
		defer st.mu.Unlock()
		raw := st.raw.Bytes()
		return what + "; the last output:\n" + strconv.Quote(string(raw[max(0, len(raw)-2000):]))
	})
}

// waitText waits until text stands on the screen.
func (st *stage) waitText(text string) {
	st.w.t.Helper()
	st.waitScreen(text, func(s *screen.Screen) bool { return strings.Contains(picture(s), text) })
}

func picture(s *screen.Screen) string {
	_, rows := s.Size()
	var b strings.Builder
	for y := range rows {
		b.WriteString(s.RowText(y))
		b.WriteByte('\n')
	}
	return b.String()
}

// sent returns everything that the terminal was sent.
func (st *stage) sent() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.raw.String()
}

// typeKeys writes to the terminal as a user would.
func (st *stage) typeKeys(text string) {
	st.w.t.Helper()
	_, err := st.ptmx.WriteString(text)
	require.NoError(st.w.t, err)
}

// calm reports whether every mode is as in a fresh terminal.
func calm(s *screen.Screen) bool {
	fresh := screen.New(screen.Config{Cols: 80, Rows: 24})
	return s.Modes() == fresh.Modes() && !s.Alt() && s.Cursor().Visible && s.Cursor().Shape == 0
}

// proxyOf returns the proxy that the stage's shell runs.
func (st *stage) proxyOf() string {
	st.w.t.Helper()
	return childOf(st.w.t, strconv.Itoa(st.cmd.Process.Pid))
}

// watchdogOf waits until a proxy has a watchdog, and returns the watchdog's process id.
func (w *world) watchdogOf(proxy string) (found string) {
	w.t.Helper()
	w.until(func() bool { found, _ = family(proxy); return found != "" }, func() string { return "no watchdog" })
	return found
}

// family returns the processes that any thread of a proxy started.
func family(proxy string) (guard, program string) {
	lists, _ := filepath.Glob("/proc/" + proxy + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(children)) {
			if line, _ := os.ReadFile("/proc/" + pid + "/cmdline"); string(line) == watchdog.Name+"\x00" {
				guard = pid
			} else {
				program = pid
			}
		}
	}
	if comm, _ := os.ReadFile("/proc/" + program + "/comm"); strings.TrimSpace(string(comm)) == child.LeaderName {
		led, _ := os.ReadFile("/proc/" + program + "/task/" + program + "/children")
		program = strings.TrimSpace(string(led))
	}
	return guard, program
}

// leaderOf returns the process between a proxy and its program, or "".
func leaderOf(proxy string) string {
	lists, _ := filepath.Glob("/proc/" + proxy + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(children)) {
			if comm, _ := os.ReadFile("/proc/" + pid + "/comm"); strings.TrimSpace(string(comm)) == child.LeaderName {
				return pid
			}
		}
	}
	return ""
}

// aboveLeader returns the proxy of a program's parent, which may be the leader.
func aboveLeader(pid string) string {
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	if _, rest, ok := strings.Cut(string(status), "Name:\t"+child.LeaderName+"\n"); ok {
		_, rest, _ = strings.Cut(rest, "PPid:\t")
		pid, _, _ = strings.Cut(rest, "\n")
	}
	return pid
}

// ends lists the ways in which a session ends, and the exit status that the shell sees.
var ends = []struct {
	name   string
	do     func(st *stage, proxy, guard, child string)
	status map[string]string // by program
	plain  bool              // not with --agent
}{
	{"exit", func(st *stage, _, _, _ string) { st.typeKeys("\x04:q!\r") }, map[string]string{"modal": "0", "vim": "0"}, false},
	{"crash", signalled(syscall.SIGABRT), map[string]string{"modal": "2", "vim": "2"}, false},
	{"TERM", signalled(syscall.SIGTERM), map[string]string{"modal": "129", "vim": "129"}, false},
	{"HUP", signalled(syscall.SIGHUP), map[string]string{"modal": "129", "vim": "129"}, false},
	{"INT", signalled(syscall.SIGINT), map[string]string{"modal": "129", "vim": "129"}, false},
	{"QUIT", signalled(syscall.SIGQUIT), map[string]string{"modal": "129", "vim": "129"}, true}, // with --agent it reclaims the keyboard
	{"KILL of the proxy", signalled(syscall.SIGKILL), map[string]string{"modal": "137", "vim": "137"}, false},
	{"KILL of the watchdog", func(st *stage, proxy, guard, _ string) {
		st.w.kill(guard, syscall.SIGKILL)
		st.w.waitGone(guard)
		another := st.w.watchdogOf(proxy)
		require.NotEqual(st.w.t, guard, another)
		st.typeKeys("\x04:q!\r")
	}, map[string]string{"modal": "0", "vim": "0"}, false},
	{"KILL of the watchdog, then of the proxy", func(st *stage, proxy, guard, _ string) {
		st.w.kill(guard, syscall.SIGKILL)
		st.w.waitGone(guard)
		st.w.watchdogOf(proxy)
		st.w.kill(proxy, syscall.SIGKILL)
	}, map[string]string{"modal": "137", "vim": "137"}, false},
	{
		"KILL of the program", func(st *stage, _, _, child string) { st.w.kill(child, syscall.SIGKILL) },
		map[string]string{"modal": "137", "vim": "137"},
		false,
	},
}

func signalled(sig syscall.Signal) func(*stage, string, string, string) {
	return func(st *stage, proxy, _, _ string) { st.w.kill(proxy, sig) }
}

// programs lists programs from which the terminal must be taken back, and the text that shows that
// they have it.
var programs = map[string]struct {
	line  string
	ready func(*screen.Screen) bool
}{
	"modal": {"modal", func(s *screen.Screen) bool { return s.Modes().Sync && s.Alt() }},
	"vim": {"vim -u NONE -n -c 'set mouse=a' notes.txt", func(s *screen.Screen) bool {
		return s.Alt() && s.Modes().MouseProtocol != 0 && strings.Contains(picture(s), "notes.txt")
	}},
}

// Whatever ends the session, the terminal's modes and line settings are restored, and nothing of
// the proxy is left.
func TestTheTerminalIsGivenBackR59(t *testing.T) {
	t.Parallel()
	for name, program := range programs {
		for _, flags := range []string{"", "--agent "} {
			t.Run(name+" "+flags, func(t *testing.T) {
				w := newWorld(t, "vim", "stty")
				defer w.forgetSocket()
				for _, end := range ends {
					if end.plain && flags != "" {
						continue
					}
					_ = os.Remove(w.path("status"))
					st := w.stage("stty -g > before; proxy " + flags + program.line + "; echo $? > status; read go; stty -g > after")
					st.waitScreen(end.name+": the program is ready", program.ready)
					proxy := st.proxyOf()
					guard := w.watchdogOf(proxy)
					_, child := family(proxy)
					end.do(st, proxy, guard, child)
					w.until(func() bool { return strings.HasSuffix(w.content("status"), "\n") }, func() string { return end.name + ": no end" })
					require.Equal(t, end.status[name]+"\n", w.content("status"), end.name)
					st.waitScreen(end.name+": calm", calm)
					w.waitGone(guard)
					st.typeKeys("\n")
					<-st.ended
					require.Equal(t, w.content("before"), w.content("after"), end.name)
					require.NotContains(t, st.raw.String(), "\x1bc", "never a hard reset")
					title := ""
					st.look(func(s *screen.Screen) bool { title = s.Title(); return true })
					require.NotContains(t, title, "[observed]", end.name)
				}
			})
		}
	}
}

// forgetSocket removes the socket that a killed proxy could not; the next one would replace it.
func (w *world) forgetSocket() { _ = os.Remove(filepath.Join(w.run(), "gateway.sock")) }

// TestTheLineGoesWithTheProxyR59 kills a proxy whose question stands over the program.
func TestTheLineGoesWithTheProxyR59(t *testing.T) {
	w := newWorld(t)
	defer w.forgetSocket()
	// The shell prints nothing: its output before the watchdog acts could scroll the line away from
	// its row.
	st := w.stage("exec 2> /dev/null; printf '\\033]2;mine\\007'; proxy --agent cat; echo $? > status; read go")
	id := w.session()
	for range 30 {
		st.typeKeys("line\r")
	}
	w.start("gateway", "request", id, "--reason", "drive")
	st.waitText("Ctrl+G allows")
	st.waitScreen("title", func(s *screen.Screen) bool { return strings.Contains(s.Title(), "asks") })
	proxy := st.proxyOf()
	w.watchdogOf(proxy)
	w.kill(proxy, syscall.SIGKILL)
	st.waitScreen("the line is gone", func(s *screen.Screen) bool {
		return !strings.Contains(picture(s), "Ctrl+G allows") && s.Title() == "mine"
	})
	st.look(func(s *screen.Screen) bool {
		require.True(t, calm(s))
		require.Contains(t, picture(s), "line\nline\n")
		return true
	})
	st.typeKeys("\n")
	<-st.ended
	require.Equal(t, "137\n", w.content("status"))
}

// Whether the shell or the watchdog is faster after a SIGKILL, the next command finds the terminal
// restored. Bash sets the terminal at its prompt and then restores it; dash does not. (If zsh is
// faster, it keeps a part of what the killed process left, with or without a watchdog.)
func TestUnderAShellR59(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash --noprofile --norc -i", "dash -i"} {
		name, _, _ := strings.Cut(shell, " ")
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, name)
			s := w.terminal(80, 24)
			s.typed("clear; export PS1='> '; exec " + shell + "\n")
			s.wait(">")
			s.typed("clear; stty -g > before; echo shell=$$\n")
			pid := s.match(`shell=(\d+)`)
			s.typed("clear; proxy modal\n")
			s.see("the program", func(string) bool { return s.format("#{alternate_on}#{mouse_all_flag}") == "11" })
			proxy := childOf(t, pid)
			guard := w.watchdogOf(proxy)
			w.kill(proxy, syscall.SIGKILL)
			w.waitGone(guard)
			s.typed("stty -g > after; echo now $((40+2))\n")
			s.wait("now 42")
			require.Equal(t, w.content("before"), w.content("after"))
			require.Equal(t, plainModes, s.format(modes))
		})
	}
}
