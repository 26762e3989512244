package session_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/watchdog"

	"github.com/stretchr/testify/require"
)

// calm reports whether every mode is as in a fresh terminal.
func calm(s *screen.Screen) bool {
	fresh := screen.New(screen.Config{Cols: 80, Rows: 24})
	return s.Modes() == fresh.Modes() && !s.Alt() && s.Cursor().Visible && s.Cursor().Shape == 0
}

// proxyOf returns the proxy that the stage's shell runs.
func proxyOf(st *world.Stage) string {
	st.W.T.Helper()
	return world.ChildOf(st.W.T, strconv.Itoa(st.Cmd.Process.Pid))
}

// watchdogOf waits until a proxy has a watchdog, and returns the watchdog's process id.
func watchdogOf(w *world.World, proxy string) (found string) {
	w.T.Helper()
	w.Until(func() bool { found, _ = family(proxy); return found != "" }, func() string { return "no watchdog" })
	return found
}

// family returns the processes that any thread of a proxy started. Between a proxy and its program
// there may be a leader.
func family(proxy string) (guard, program string) {
	guard, _, program = members(proxy)
	return guard, program
}

// leaderOf returns the process between a proxy and its program, or "".
func leaderOf(proxy string) (leader string) { _, leader, _ = members(proxy); return leader }

func members(proxy string) (guard, leader, program string) {
	lists, _ := filepath.Glob("/proc/" + proxy + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			comm, _ := os.ReadFile("/proc/" + pid + "/comm")
			switch {
			case string(line) == watchdog.Name+"\x00":
				guard = pid
			case string(comm) == child.LeaderName+"\n":
				led, _ := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
				leader, program = pid, strings.TrimSpace(string(led))
			default:
				program = pid
			}
		}
	}
	return guard, leader, program
}

// ends lists the ways in which a session ends, and the exit status that the shell sees.
var ends = []struct {
	name   string
	do     func(st *world.Stage, proxy, guard, child string)
	status string
	plain  bool // not with --agent
}{
	{"exit", func(st *world.Stage, _, _, _ string) { st.TypeKeys("\x04:q!\r") }, "0", false},
	{"KILL of the proxy", signalled(syscall.SIGKILL), "137", false},
	{"TERM", signalled(syscall.SIGTERM), "129", false},
	{"crash", signalled(syscall.SIGABRT), "2", false},
	{"HUP", signalled(syscall.SIGHUP), "129", false},
	{"INT", signalled(syscall.SIGINT), "129", false},
	{"QUIT", signalled(syscall.SIGQUIT), "129", true}, // with --agent it reclaims the keyboard
	{"KILL of the watchdog", func(st *world.Stage, proxy, guard, _ string) {
		replaceWatchdog(st.W, proxy, guard)
		st.TypeKeys("\x04:q!\r")
	}, "0", false},
	{"KILL of the watchdog, then of the proxy", func(st *world.Stage, proxy, guard, _ string) {
		replaceWatchdog(st.W, proxy, guard)
		st.W.Kill(proxy, syscall.SIGKILL)
	}, "137", false},
	{"KILL of the program", func(st *world.Stage, _, _, child string) { st.W.Kill(child, syscall.SIGKILL) }, "137", false},
}

func signalled(sig syscall.Signal) func(*world.Stage, string, string, string) {
	return func(st *world.Stage, proxy, _, _ string) { st.W.Kill(proxy, sig) }
}

// replaceWatchdog kills a proxy's watchdog, and waits for the next one.
func replaceWatchdog(w *world.World, proxy, guard string) {
	w.T.Helper()
	w.Kill(guard, syscall.SIGKILL)
	w.WaitGone(guard)
	require.NotEqual(w.T, guard, watchdogOf(w, proxy))
}

// Whatever ends the session, the terminal's modes and line settings are restored, and nothing of
// the proxy is left. Vim meets the first three ways.
func TestTheTerminalIsGivenBackR59(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--agent "} {
		t.Run("modal "+flags, func(t *testing.T) {
			endAll(t, flags+"modal", len(ends), func(s *screen.Screen) bool { return s.Modes().Sync && s.Alt() })
		})
		t.Run("vim "+flags, func(t *testing.T) {
			endAll(t, flags+"vim -u NONE -n -c 'set mouse=a' notes.txt", 3, func(s *screen.Screen) bool {
				return s.Alt() && s.Modes().MouseProtocol != 0 && strings.Contains(world.Picture(s), "notes.txt")
			})
		})
	}
}

// endAll runs a program under proxy once for each of the first n ends. ready tells that the program
// has the terminal.
func endAll(t *testing.T, line string, n int, ready func(*screen.Screen) bool) {
	t.Helper()
	w := world.New(t, "vim", "stty")
	defer forgetSocket(w)
	for _, end := range ends[:n] {
		if end.plain && strings.HasPrefix(line, "--agent") {
			continue
		}
		_ = os.Remove(w.Path("status"))
		st := w.Stage("stty -g > before; proxy " + line + "; echo $? > status; read go; stty -g > after")
		st.WaitScreen(end.name+": the program is ready", ready)
		proxy := proxyOf(st)
		guard := watchdogOf(w, proxy)
		_, child := family(proxy)
		end.do(st, proxy, guard, child)
		require.Equal(t, end.status+"\n", w.WaitHeard("status", "\n$"), end.name)
		st.WaitScreen(end.name+": calm", calm)
		w.WaitGone(guard)
		st.TypeKeys("\n")
		st.WaitEnd()
		require.Equal(t, w.Content("before"), w.Content("after"), end.name)
		require.NotContains(t, st.Raw.String(), "\x1bc", "never a hard reset")
		title := ""
		st.Look(func(s *screen.Screen) bool { title = s.Title(); return true })
		require.NotContains(t, title, "[observed]", end.name)
	}
}

// forgetSocket removes the socket that a killed proxy could not; the next one would replace it.
func forgetSocket(w *world.World) { _ = os.Remove(filepath.Join(w.Run(), "gateway.sock")) }

// TestTheLineGoesWithTheProxyR59 kills a proxy whose question stands over the program.
func TestTheLineGoesWithTheProxyR59(t *testing.T) {
	w := world.New(t)
	defer forgetSocket(w)
	// The shell prints nothing: its output before the watchdog acts could scroll the line away from
	// its row.
	st := w.Stage("exec 2> /dev/null; printf '\\033]2;mine\\007'; proxy --agent cat; echo $? > status; read go")
	id := w.Session()
	for range 30 {
		st.TypeKeys("line\r")
	}
	w.Start("gateway", "request", id, "--reason", "drive")
	st.WaitText("Ctrl+G allows")
	st.WaitScreen("title", func(s *screen.Screen) bool { return strings.Contains(s.Title(), "asks") })
	proxy := proxyOf(st)
	watchdogOf(w, proxy)
	w.Kill(proxy, syscall.SIGKILL)
	st.WaitScreen("the line is gone", func(s *screen.Screen) bool {
		picture := world.Picture(s)
		return !strings.Contains(picture, "Ctrl+G allows") && strings.Contains(picture, "line\nline\n") && s.Title() == "mine" && calm(s)
	})
	st.TypeKeys("\n")
	st.WaitEnd()
	require.Equal(t, "137\n", w.Content("status"))
}

// Whether the shell or the watchdog is faster after a SIGKILL, the next command finds the terminal
// restored. Bash sets the terminal at its prompt and then restores it; dash does not. (If zsh is
// faster, it keeps a part of what the killed process left, with or without a watchdog.)
func TestUnderAShellR59(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash --noprofile --norc -i", "dash -i"} {
		name, _, _ := strings.Cut(shell, " ")
		t.Run(name, func(t *testing.T) {
			w := world.New(t, name)
			s := w.Terminal(80, 24)
			s.Typed("clear; export PS1='> '; exec " + shell + "\n")
			s.Wait(">")
			s.Typed("clear; stty -g > before; echo shell=$$\n")
			pid := s.Match(`shell=(\d+)`)
			s.Typed("clear; proxy modal\n")
			s.See("the program", func(string) bool { return s.Format("#{alternate_on}#{mouse_all_flag}") == "11" })
			proxy := world.ChildOf(t, pid)
			guard := watchdogOf(w, proxy)
			w.Kill(proxy, syscall.SIGKILL)
			w.WaitGone(guard)
			s.Typed("stty -g > after; echo now $((40+2))\n")
			s.Wait("now 42")
			require.Equal(t, w.Content("before"), w.Content("after"))
			require.Equal(t, world.PlainModes, s.Format(world.Modes))
		})
	}
}
