package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// userShells are the shells that resume jobs, and how each is started without a user's
// configuration.
var userShells = map[string]string{
	"bash": "bash --noprofile --rcfile bashrc -i",
	"zsh":  "PS1='$ ' zsh -f -i",
	"fish": "fish --no-config",
}

// jobs opens a window in which a shell runs. The shell has a pair of functions that print how a job
// ends, with exit statuses as "done=N".
func jobs(w *world.World, shell string) *world.Terminal {
	w.T.Helper()
	s := w.Terminal(100, 24) // wide enough for the longest line, with the proxy's name in front
	if shell != "bash" {
		s.Typed("clear; exec env " + userShells[shell] + "\n")
		if shell == "fish" {
			s.Typed("function fish_prompt; echo -n '$ '; end; echo beg''un\n")
			s.Wait("begun")
		}
	}
	enter(s, "stty -g > before")
	return s
}

// enter types a line, and returns when the shell has run it and reads the next one: what is typed
// before that appears on the screen twice.
func enter(s *world.Terminal, line string) {
	s.W.T.Helper()
	s.Marks++
	s.Typed(fmt.Sprintf("clear; %s; echo m''ark%d\n", line, s.Marks))
	mark := fmt.Sprintf("mark%d\n", s.Marks)
	s.See("the prompt after "+mark, func(screen string) bool {
		return strings.Contains(screen, mark) && strings.HasSuffix(strings.TrimRight(screen, " \n"), "$")
	})
}

// atPrompt waits until the shell waits for a line, with the terminal as it was before the job.
func atPrompt(s *world.Terminal, what string) {
	s.W.T.Helper()
	s.See(what, func(screen string) bool {
		return s.Format(world.Modes) == world.PlainModes && strings.HasSuffix(strings.TrimRight(screen, " \n"), "$")
	})
}

// sequences matches the modes that tmux does not report: bracketed paste, kitty's keyboard,
// modifyOtherKeys, focus reports.
var sequences = regexp.MustCompile(`\x1b\[(?:\?(?:1|25|1000|1002|1003|1004|1006|1049|2004|2026)[hl]|[<>=][\d;]*u|>4;?\d*m)`)

// modesOf returns the modes that a terminal has on after it was sent these bytes.
func modesOf(sent string) map[string]bool {
	on := map[string]bool{}
	for _, seq := range sequences.FindAllString(sent, -1) {
		switch {
		case strings.HasPrefix(seq, "\x1b[?"):
			on[seq[3:len(seq)-1]] = strings.HasSuffix(seq, "h")
		case strings.HasSuffix(seq, "m"):
			on["modifyOtherKeys"] = seq != "\x1b[>4;0m" && seq != "\x1b[>4m"
		case strings.HasPrefix(seq, "\x1b[<"):
			on["kitty"] = false
		default:
			on["kitty"] = true
		}
	}
	for name, is := range on {
		if !is {
			delete(on, name)
		}
	}
	return on
}

// jobPrograms are stopped by Ctrl+Z: how each looks when it runs, and how it is ended.
var jobPrograms = []struct {
	name, line string
	needs      string
	ready, end string
	status     string
	alike      bool // the last screen is the same as without the proxy
}{
	{"vim with modes", "vim -u modes.vim -n notes.txt", "vim", "line 20", ":q\n", "0", true},
	{"less", "less notes.txt", "less", "line 20", "q", "0", true},
	// The proxy exits when the program is killed, so that the shell does not end the line of ^C.
	{"sleep", "sh -c 'echo re''ady; exec sleep 1000'", "", "ready", "\x03", "130", false},
	// Without the proxy, the prompt may come before less has left the alternate screen, because sh
	// stops before less does.
	{"pipeline", "sh -c 'seq 100000 | less'", "less", "\n15\n", "q", "0", false},
}

// stopAndGo runs a program and stops it some times. It returns the last screen and cursor, without the
// typed command's name.
func stopAndGo(t *testing.T, shell, prefix string, which int) (screen, cursor string) {
	p := jobPrograms[which]
	w := world.New(t)
	var text strings.Builder
	for n := range 40 {
		fmt.Fprintf(&text, "line %d\n", n+1)
	}
	w.Write("notes.txt", text.String())
	w.Write("modes.vim", `set mouse=a | let &t_BE="\e[?2004h"`+"\n")
	s := jobs(w, shell)
	enter(s, "true")
	line := prefix + p.line
	s.Typed("clear; " + line + "\n")
	s.Wait(p.ready)
	for _, stop := range []string{"C-z", "TSTP to the proxy", "STOP to the program"} {
		if stop == "STOP to the program" && p.needs != "vim" {
			break // less may lose a key as its window seems to change its size
		}
		switch {
		case prefix == "", stop == "C-z":
			s.Press("C-z")
		case stop == "TSTP to the proxy":
			w.Kill(world.ChildOf(t, s.Shell()), syscall.SIGTSTP)
		default:
			w.Kill(programOf(w, world.ChildOf(t, s.Shell())), syscall.SIGSTOP)
		}
		atPrompt(s, "stopped")
		s.Match(`(?i)stopped|suspended`)
		if shell == "bash" {
			w.Until(func() bool { // the film comes a little after the screen
				on := modesOf(w.Content(s.Recording()))
				delete(on, "2004") // it is bash's own now
				delete(on, "25")
				return len(on) == 0
			}, func() string { return fmt.Sprint(modesOf(w.Content(s.Recording()))) })
		}
		enter(s, "stty -g > during")
		require.Equal(t, w.Content("before"), w.Content("during"))
		s.Typed("fg\n")
		if p.name != "sleep" {
			s.See("it is back", func(screen string) bool {
				return strings.Contains(screen, p.ready) && !strings.Contains(screen, "mark")
			})
		} else {
			w.Until(func() bool { return w.InFront("sleep") }, s.Screen)
		}
	}
	s.Typed(p.end)
	atPrompt(s, "it has ended")
	status := "$?"
	if shell == "fish" {
		status = "$status"
	}
	screen, cursor = s.Screen(), s.Format("#{cursor_x} #{cursor_y}")
	s.Typed("echo done=" + status + "\n")
	if shell == "fish" { // the shell's message after fg is not the program's
		s.Wait("\ndone=")
	} else {
		s.Wait("done=" + p.status)
	}
	enter(s, "stty -g > after")
	require.Equal(t, w.Content("before"), w.Content("after"))
	return strings.ReplaceAll(screen, prefix, ""), cursor
}

// Ctrl+Z and fg work as they do without the proxy, in three shells: the terminal meanwhile, the
// last screen, the cursor, the exit status. So does a stop of the program or of the proxy by a
// signal. All programs are stopped in bash, two of them in the others.
func TestStopsAndFgR61R73(t *testing.T) {
	t.Parallel()
	for shell := range userShells {
		for which, p := range jobPrograms {
			if shell != "bash" && p.name != "vim with modes" && p.name != "sleep" {
				continue
			}
			t.Run(shell+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				needs(t, shell)
				if p.needs != "" {
					needs(t, p.needs)
				}
				type end struct{ screen, cursor string }
				ends := make([]end, len(jobPrefixes))
				t.Run("each", func(t *testing.T) { // it is over when all have stopped and continued
					for i, prefix := range jobPrefixes {
						if prefix == "" && !p.alike {
							continue
						}
						t.Run(prefix, func(t *testing.T) { ends[i].screen, ends[i].cursor = stopAndGo(t, shell, prefix, which) })
					}
				})
				for i, prefix := range jobPrefixes[1:] {
					if !p.alike {
						continue
					}
					require.Equal(t, plainRows(ends[0].screen), plainRows(ends[i+1].screen), prefix)
					require.Equal(t, ends[0].cursor, ends[i+1].cursor, prefix)
				}
			})
		}
	}
}

// jobPrefixes are the ways to start a program: without the proxy first.
var jobPrefixes = []string{"", "proxy ", "proxy --agent "}

// plainRows returns the rows of a screen without the shells' padding of a job's name.
func plainRows(screen string) string {
	return regexp.MustCompile(`[ \t]+`).ReplaceAllString(screen, " ")
}

// programOf waits until the program of a proxy runs: SIGCONT would undo a stop that comes before
// it.
func programOf(w *world.World, proxy string) (pid string) {
	w.T.Helper()
	w.Until(func() bool {
		_, pid = family(proxy)
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err == nil && !strings.Contains(string(stat), ") T ")
	}, func() string { return "the program does not run" })
	return pid
}

// needs skips a test for which a program is missing.
func needs(t *testing.T, program string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/bin/" + program)
	if len(found) == 0 {
		t.Skip(program + " is not here")
	}
}

// A killed leader or proxy leaves neither the program nor a stopped process.
func TestAKilledLeaderOrProxyR73(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--agent "} {
		for _, stopped := range []bool{false, true} {
			for _, victim := range []string{"leader", "proxy"} {
				t.Run(fmt.Sprintf("%s %s stopped=%v", victim, flags, stopped), func(t *testing.T) {
					w := world.New(t)
					s := w.Terminal(80, 24)
					s.Typed("clear; proxy " + flags + "sh -c 'echo proxy=$PPID pid=$$; sleep 1000; true'\n")
					program := s.Match(`pid=(\d+)`)
					proxy := world.AboveLeader(s.Match(`proxy=(\d+)`))
					leader := leaderOf(proxy)
					require.NotEmpty(t, leader)
					if stopped {
						s.Press("C-z")
						atPrompt(s, "stopped")
					}
					switch victim {
					case "proxy":
						require.NoError(t, killed(proxy))
					default:
						require.NoError(t, killed(leader))
					}
					w.WaitGone(program)
					w.WaitGone(leader)
					if victim == "leader" && stopped {
						s.Typed("fg\n")
					}
					w.WaitGone(proxy)
					if flags != "" && victim == "proxy" { // the next gateway would have replaced it
						forgetSocket(w)
					}
					s.Typed("echo done=$?\n")
					s.Wait("done=")
					atPrompt(s, "the shell")
				})
			}
		}
	}
}

func killed(pid string) error {
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil || n <= 1 {
		return fmt.Errorf("no process id: %q", pid)
	}
	return syscall.Kill(n, syscall.SIGKILL)
}

// A background job writes to the terminal, and stops when it reads, as without the proxy.
func TestBackgroundR73(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "proxy ", "proxy --agent "} {
		t.Run(prefix, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(80, 24)
			require.NoError(t, syscall.Mkfifo(w.Path("fifo"), 0o600))
			w.Write("job", "echo ready; read x < fifo; echo heard $x; read y; echo got $y; exit 3\n")
			enter(s, "stty -g > before")
			s.Typed("clear; " + prefix + "sh job\n")
			s.Wait("ready")
			s.Press("C-z")
			atPrompt(s, "stopped")
			s.Typed("bg\n")
			s.Wait("&")
			enter(s, "stty -g > during")
			require.Equal(t, w.Content("before"), w.Content("during"))
			w.Write("fifo", "it\n")
			s.Wait("heard it")
			w.Until(func() bool {
				enter(s, "jobs")
				return strings.Contains(s.Screen(), "Stopped")
			}, s.Screen)
			s.Typed("fg\n")
			s.See("it is back", func(screen string) bool { return !strings.HasSuffix(strings.TrimRight(screen, " \n"), "$") })
			s.Typed("this\n")
			s.Wait("got this")
			s.Typed("echo done=$?\n")
			s.Wait("done=3")
			enter(s, "stty -g > after")
			require.Equal(t, w.Content("before"), w.Content("after"))
		})
	}
}

// A program that runs in a shell inside the proxy is that shell's job.
func TestInsideAShellR73(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 24)
	s.Typed("clear; proxy --agent bash --noprofile --rcfile bashrc -i\n")
	enter(s, "echo outer=$(cat /proc/$PPID/comm)")
	s.Typed("sh -c 'echo re''ady; exec sleep 1000'\n")
	s.Wait("ready")
	s.Press("C-z")
	s.Wait("Stopped")
	s.Typed("fg\n")
	s.Wait("fg\nsh -c") // the shell says so before it puts the job in front
	w.Until(func() bool { return w.InFront("sleep") }, s.Screen)
	s.Press("C-c")
	enter(s, "jobs; echo inner=$(cat /proc/$PPID/comm)")
	s.Wait("inner=proxy-leader")
	s.Typed("suspend\n")
	s.Wait("Stopped")
	enter(s, "echo outer=$(cat /proc/$$/comm); jobs")
	s.Wait("proxy --agent bash")
	s.Typed("fg\n")
	s.Typed("exit 4\n")
	s.See("the outer shell", func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, " \n"), "\nexit\n$") })
	s.Typed("echo done=$?\n")
	s.Wait("done=4")
}

// A program that catches SIGTSTP continues. One that stops later stops the proxy with it.
func TestATrapR73(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 24)
	s.Typed("clear; proxy bash -c 'trap \"echo cau\\ght\" TSTP; echo re\"\"ady; while read x; do echo he\"\"ard $x; [ $x = stop ] && kill -STOP $$; done'\n")
	s.Wait("ready")
	s.Press("C-z")
	s.Typed("on\n")
	s.Wait("caught")
	s.Wait("heard on")
	s.Typed("stop\n")
	s.Wait("Stopped")
	s.Typed("fg\n")
	s.Typed("again\n")
	s.Wait("heard again")
	s.Press("C-d")
	atPrompt(s, "the shell")
}

// While the user's shell has a shared session in the background, an agent's input is answered at
// once. In front again, the session takes input as before.
func TestNoInputHangsInTheBackgroundR73(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 24)
	require.NoError(t, syscall.Mkfifo(w.Path("fifo"), 0o600))
	w.Write("job", "echo ready; read x < fifo; while read y; do echo got $y; done\n")
	s.Typed("clear; proxy --agent --grant drive sh job\n")
	s.Wait("ready")
	id := w.Session()
	s.Press("C-z")
	atPrompt(s, "stopped")
	s.Typed("bg\n")
	s.Wait("&")
	w.WaitListed(id) // a stopped proxy has given the gateway up
	got := w.Gateway("send", id, "--as", "codex", "--text", "x", "--enter")
	require.Equal(t, 4, got.Status, got.Err)
	require.Contains(t, got.Err, "in the background")
	s.Typed("fg\n")
	// A job that wants the terminal before the shell has put it in front is stopped.
	w.Until(func() bool { return w.InFront("proxy") }, s.Screen)
	w.Write("fifo", "on\n")
	w.MustGateway("request", id, "--as", "codex", "--reason", "to test")
	w.Until(func() bool { // it sees a moment after the shell that it is in front
		got = w.Gateway("send", id, "--as", "codex", "--text", "this", "--enter")
		return got.Status != 4 || !strings.Contains(got.Err, "in the background")
	}, s.Screen)
	require.Zero(t, got.Status, got.Err)
	s.Wait("got this")
}
