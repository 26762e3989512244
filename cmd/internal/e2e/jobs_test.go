package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

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
func (w *world) jobs(shell string) *terminal {
	w.t.Helper()
	s := w.terminal(100, 24) // wide enough for the longest line, with the proxy's name in front
	if shell != "bash" {
		s.typed("clear; exec env " + userShells[shell] + "\n")
		if shell == "fish" {
			s.typed("function fish_prompt; echo -n '$ '; end; echo beg''un\n")
			s.wait("begun")
		}
	}
	s.enter("stty -g > before")
	return s
}

// enter types a line, and returns when the shell has run it and reads the next one: what is typed
// before that appears on the screen twice.
func (s *terminal) enter(line string) {
	s.w.t.Helper()
	s.marks++
	s.typed(fmt.Sprintf("clear; %s; echo m''ark%d\n", line, s.marks))
	mark := fmt.Sprintf("mark%d\n", s.marks)
	s.see("the prompt after "+mark, func(screen string) bool {
		return strings.Contains(screen, mark) && strings.HasSuffix(strings.TrimRight(screen, " \n"), "$")
	})
}

// atPrompt waits until the shell waits for a line, with the terminal as it was before the job.
func (s *terminal) atPrompt(what string) {
	s.w.t.Helper()
	s.see(what, func(screen string) bool {
		return s.format(modes) == plainModes && strings.HasSuffix(strings.TrimRight(screen, " \n"), "$")
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
	{"vim", "vim -u NONE -n notes.txt", "vim", "line 20", ":q\n", "0", true},
	{"vim with modes", "vim -u modes.vim -n notes.txt", "vim", "line 20", ":q\n", "0", true},
	{"less", "less notes.txt", "less", "line 20", "q", "0", true},
	// The proxy exits when the program is killed, so that the shell does not end the line of ^C.
	{"sleep", "sh -c 'echo re''ady; exec sleep 1000'", "", "ready", "\x03", "130", false},
	// Without the proxy, the prompt may come before less has left the alternate screen, because sh
	// stops before less does.
	{"pipeline", "sh -c 'seq 100000 | less'", "less", "\n15\n", "q", "0", false},
}

// stopAndGo runs a program and stops it twice. It returns the last screen and cursor, without the
// typed command's name.
func stopAndGo(t *testing.T, shell, prefix string, which int) (screen, cursor string) {
	p := jobPrograms[which]
	w := newWorld(t)
	var text strings.Builder
	for n := range 40 {
		fmt.Fprintf(&text, "line %d\n", n+1)
	}
	w.write("notes.txt", text.String())
	w.write("modes.vim", `set mouse=a | let &t_BE="\e[?2004h"`+"\n")
	s := w.jobs(shell)
	s.enter("true")
	line := prefix + p.line
	s.typed("clear; " + line + "\n")
	s.wait(p.ready)
	for n := range 2 {
		if n == 0 || prefix == "" {
			s.press("C-z")
		} else {
			w.kill(childOf(t, s.shell()), syscall.SIGTSTP)
		}
		s.atPrompt("stopped")
		require.Regexp(t, `(?i)stopped|suspended`, s.screen())
		if shell == "bash" {
			on := modesOf(w.content(s.recording()))
			delete(on, "2004") // it is bash's own now
			delete(on, "25")
			require.Empty(t, on)
		}
		s.enter("stty -g > during")
		require.Equal(t, w.content("before"), w.content("during"))
		s.typed("fg\n")
		if p.name != "sleep" {
			s.see("it is back", func(screen string) bool {
				return strings.Contains(screen, p.ready) && !strings.Contains(screen, "mark")
			})
		} else {
			w.until(func() bool { return w.inFront("sleep") }, s.screen)
		}
	}
	s.typed(p.end)
	s.atPrompt("it has ended")
	status := "$?"
	if shell == "fish" {
		status = "$status"
	}
	screen, cursor = s.screen(), s.format("#{cursor_x} #{cursor_y}")
	s.typed("echo done=" + status + "\n")
	if shell == "fish" { // the shell's message after fg is not the program's
		s.wait("\ndone=")
	} else {
		s.wait("done=" + p.status)
	}
	s.enter("stty -g > after")
	require.Equal(t, w.content("before"), w.content("after"))
	return strings.ReplaceAll(screen, prefix, ""), cursor
}

// inFront reports whether a program of that name runs in the foreground of its terminal (proc(5),
// stat).
func (w *world) inFront(name string) bool {
	for _, process := range w.processes() {
		pid, _, _ := strings.Cut(process, " ")
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		_, rest, ok := strings.Cut(string(stat), "("+name+") ")
		if f := strings.Fields(rest); ok && len(f) > 5 && f[0] != "T" && f[2] == f[5] {
			return true
		}
	}
	return false
}

// Ctrl+Z and fg work as they do without the proxy, in three shells: the terminal meanwhile, the
// last screen, the cursor, the exit status. So does a stop of the proxy itself (R61). All programs
// are stopped in bash, two of them in the others.
func TestCtrlZR73(t *testing.T) {
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
					w := newWorld(t)
					s := w.terminal(80, 24)
					s.typed("clear; proxy " + flags + "sh -c 'echo proxy=$PPID pid=$$; sleep 1000; true'\n")
					program := s.match(`pid=(\d+)`)
					proxy := aboveLeader(s.match(`proxy=(\d+)`))
					leader := leaderOf(proxy)
					require.NotEmpty(t, leader)
					if stopped {
						s.press("C-z")
						s.atPrompt("stopped")
					}
					switch victim {
					case "proxy":
						require.NoError(t, killed(proxy))
					default:
						require.NoError(t, killed(leader))
					}
					w.waitGone(program)
					w.waitGone(leader)
					if victim == "leader" && stopped {
						s.typed("fg\n")
					}
					w.waitGone(proxy)
					if flags != "" && victim == "proxy" { // the next gateway would have replaced it
						w.forgetSocket()
					}
					s.typed("echo done=$?\n")
					s.wait("done=")
					s.atPrompt("the shell")
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
			w := newWorld(t)
			s := w.terminal(80, 24)
			require.NoError(t, syscall.Mkfifo(w.path("fifo"), 0o600))
			w.write("job", "echo ready; read x < fifo; echo heard $x; read y; echo got $y; exit 3\n")
			s.enter("stty -g > before")
			s.typed("clear; " + prefix + "sh job\n")
			s.wait("ready")
			s.press("C-z")
			s.atPrompt("stopped")
			s.typed("bg\n")
			s.wait("&")
			s.enter("stty -g > during")
			require.Equal(t, w.content("before"), w.content("during"))
			w.write("fifo", "it\n")
			s.wait("heard it")
			w.until(func() bool {
				s.enter("jobs")
				return strings.Contains(s.screen(), "Stopped")
			}, s.screen)
			s.typed("fg\n")
			s.see("it is back", func(screen string) bool { return !strings.HasSuffix(strings.TrimRight(screen, " \n"), "$") })
			s.typed("this\n")
			s.wait("got this")
			s.typed("echo done=$?\n")
			s.wait("done=3")
			s.enter("stty -g > after")
			require.Equal(t, w.content("before"), w.content("after"))
		})
	}
}

// A program that runs in a shell inside the proxy is that shell's job.
func TestInsideAShellR73(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 24)
	s.typed("clear; proxy --agent bash --noprofile --rcfile bashrc -i\n")
	s.enter("echo outer=$(cat /proc/$PPID/comm)")
	s.typed("sh -c 'echo re''ady; exec sleep 1000'\n")
	s.wait("ready")
	s.press("C-z")
	s.wait("Stopped")
	s.typed("fg\n")
	s.wait("fg\nsh -c")
	s.press("C-c")
	s.enter("jobs; echo inner=$(cat /proc/$PPID/comm)")
	s.wait("inner=proxy-leader")
	s.typed("suspend\n")
	s.wait("Stopped")
	s.enter("echo outer=$(cat /proc/$$/comm); jobs")
	s.wait("proxy --agent bash")
	s.typed("fg\n")
	s.typed("exit 4\n")
	s.see("the outer shell", func(screen string) bool { return strings.HasSuffix(strings.TrimRight(screen, " \n"), "\nexit\n$") })
	s.typed("echo done=$?\n")
	s.wait("done=4")
}

// A program that catches SIGTSTP continues. One that stops later stops the proxy with it.
func TestATrapR73(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 24)
	s.typed("clear; proxy bash -c 'trap \"echo cau\\ght\" TSTP; echo re\"\"ady; while read x; do echo he\"\"ard $x; [ $x = stop ] && kill -STOP $$; done'\n")
	s.wait("ready")
	s.press("C-z")
	s.typed("on\n")
	s.wait("caught")
	s.wait("heard on")
	s.typed("stop\n")
	s.wait("Stopped")
	s.typed("fg\n")
	s.typed("again\n")
	s.wait("heard again")
	s.press("C-d")
	s.atPrompt("the shell")
}
