package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// Whichever way a session is stopped, the shell has its terminal meanwhile, and `fg` shows the
// program as it was.
func TestSuspendAndResumeR61(t *testing.T) {
	t.Parallel()
	stops := []struct {
		name string
		do   func(w *world, proxy, program string)
		back bool // the terminal is restored: only SIGSTOP leaves no time for that
	}{
		{"the program stops", func(w *world, _, program string) { w.kill(program, syscall.SIGSTOP) }, true},
		{"TSTP to the proxy", func(w *world, proxy, _ string) { w.kill(proxy, syscall.SIGTSTP) }, true},
		{"STOP to the proxy", func(w *world, proxy, _ string) { w.kill(proxy, syscall.SIGSTOP) }, false},
	}
	for _, flags := range []string{"", "--agent "} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := newWorld(t, "vim")
			s := w.terminal(80, 24)
			s.runToEnd("stty -g > before; echo $BASHPID > shell")
			title := s.title()
			w.write("notes.txt", "one\n")
			for _, stop := range stops {
				s.typed("clear; proxy " + flags + "vim -u NONE -n -c 'set mouse=a' notes.txt\n")
				s.wait("\"notes.txt\" 1 line, 4 bytes")
				s.see("the mouse, which vim asks for last", func(string) bool { return strings.HasPrefix(s.format(modes), "alternate 1 cursor 1 mouse 1") })
				shown := strings.Repeat("~\n", 20)                   // vim redraws itself, without its last message
				if flags != "" && stop.name != "TSTP to the proxy" { // it handles that itself
					shown += "~\n\"notes.txt\" 1 line, 4 bytes" // the model draws it as it was
				}
				proxy := childOf(t, strings.TrimSpace(w.content("shell")))
				w.watchdogOf(proxy) // the watchdog has started: no child is about to become one
				_, program := family(proxy)
				for range 2 {
					w.until(func() bool { // SIGCONT would undo a stop that comes before it
						stat, err := os.ReadFile("/proc/" + program + "/stat")
						return err == nil && !strings.Contains(string(stat), ") T ")
					}, func() string { return "the program stays stopped" })
					stop.do(w, proxy, program)
					if stop.back {
						s.see(stop.name, func(string) bool { return s.format(modes) == plainModes })
						s.wait("Stopped")
						require.Equal(t, title, s.title(), stop.name)
						w.write("during", "")
						s.typed("clear; stty -g > during\n")
						w.waitHeard("during", "\n") // text from before says nothing of this time
						require.Equal(t, w.content("before"), w.content("during"), stop.name)
					} else {
						s.wait("Stopped")
					}
					s.typed("fg\n")
					s.see(stop.name+": the program is back", func(screen string) bool {
						return strings.HasPrefix(screen, "one") && strings.Contains(screen, shown) && !strings.Contains(screen, "Stopped") &&
							strings.HasPrefix(s.format(modes), "alternate 1 cursor 1 mouse 1")
					})
				}
				s.typed("otwo")
				s.wait("two")
				s.press("Escape")
				s.typed(":q!\n")
				s.see("the shell", func(screen string) bool {
					return s.format(modes) == plainModes && strings.HasSuffix(strings.TrimSpace(screen), "$")
				})
				require.Equal(t, title, s.title(), stop.name)
				s.typed("clear; stty -g > after; echo done=$?\n")
				s.wait("done=0")
				require.Equal(t, w.content("before"), w.content("after"), stop.name)
			}
		})
	}
}

func TestASuspensionEndsTheAgentsControlR61(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.typed("clear; proxy --agent --grant drive listener heard\n")
	proxy := s.match(`listening proxy=(\d+) `)
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	s.waitTitle("[codex drives]")
	w.kill(proxy, syscall.SIGTSTP)
	s.wait("Stopped")
	s.typed("fg\n")
	s.waitTitle("[observed]")
	w.waitKeyboard(id, "user")
	require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "x").status)
	s.typed("mine\x04")
	s.see("the shell", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
	require.Equal(t, "mine\x04", w.content("heard"))
}

// A terminal that runs the proxy instead of a shell could not resume it, and must not hang.
func TestATerminalWithoutAShellDoesNotHangR61(t *testing.T) {
	w := newWorld(t)
	st := w.stage("exec proxy sh -c 'echo ready; exec cat'")
	st.waitText("ready")
	w.kill(strconv.Itoa(st.cmd.Process.Pid), syscall.SIGTSTP)
	st.typeKeys("still there\r")
	st.waitText("still there\nstill there")
	st.typeKeys("\x04")
	<-st.ended
}

// However often the window changes its size, the program is told at most sixty times a second, and
// the last size in the end.
func TestADraggedWindowR61(t *testing.T) {
	w := newWorld(t)
	st := w.stage("proxy sizes count")
	st.waitText("counting")
	began := time.Now()
	for i := range 500 {
		require.NoError(t, pty.Setsize(st.ptmx, &pty.Winsize{Cols: uint16(81 + i%7), Rows: 30}))
		time.Sleep(time.Millisecond) // the pace of a hand
	}
	require.NoError(t, pty.Setsize(st.ptmx, &pty.Winsize{Cols: 99, Rows: 33}))
	_, program := family(st.proxyOf())
	slave, err := os.Open("/proc/" + program + "/fd/0")
	require.NoError(t, err)
	defer slave.Close()
	w.until(func() bool { rows, cols, err := pty.Getsize(slave); return err == nil && rows == 33 && cols == 99 }, func() string { return "the last size" })
	most := int(time.Since(began)/(time.Second/60)) + 2
	st.typeKeys("x")
	<-st.ended
	var count, cols, rows int
	_, err = fmt.Sscanf(w.content("count"), "%d %dx%d", &count, &cols, &rows)
	require.NoError(t, err)
	require.Equal(t, []int{99, 33}, []int{cols, rows})
	require.LessOrEqual(t, count, most)
	require.Positive(t, count)
}
