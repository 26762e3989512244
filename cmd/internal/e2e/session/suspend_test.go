package session_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// Whichever way a session is stopped, the shell has its terminal meanwhile, and `fg` shows the
// program as it was.
func TestSuspendAndResumeR61(t *testing.T) {
	t.Parallel()
	stops := []struct {
		name string
		do   func(w *world.World, proxy, program string)
		back bool // the terminal is restored: only SIGSTOP leaves no time for that
	}{
		{"the program stops", func(w *world.World, _, program string) { w.Kill(program, syscall.SIGSTOP) }, true},
		{"TSTP to the proxy", func(w *world.World, proxy, _ string) { w.Kill(proxy, syscall.SIGTSTP) }, true},
		{"STOP to the proxy", func(w *world.World, proxy, _ string) { w.Kill(proxy, syscall.SIGSTOP) }, false},
	}
	for _, flags := range []string{"", "--agent "} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := world.New(t, "vim")
			s := w.Terminal(80, 24)
			s.RunToEnd("stty -g > before; echo $BASHPID > shell")
			title := s.Title()
			w.Write("notes.txt", "one\n")
			for _, stop := range stops {
				s.Typed("clear; proxy " + flags + "vim -u NONE -n -c 'set mouse=a' notes.txt\n")
				s.Wait("\"notes.txt\" 1 line, 4 bytes")
				s.See("the mouse, which vim asks for last", func(string) bool { return strings.HasPrefix(s.Format(world.Modes), "alternate 1 cursor 1 mouse 1") })
				shown := strings.Repeat("~\n", 20)                   // vim redraws itself, without its last message
				if flags != "" && stop.name != "TSTP to the proxy" { // it handles that itself
					shown += "~\n\"notes.txt\" 1 line, 4 bytes" // the model draws it as it was
				}
				proxy := world.ChildOf(t, strings.TrimSpace(w.Content("shell")))
				watchdogOf(w, proxy) // the watchdog has started: no child is about to become one
				_, program := family(proxy)
				for range 2 {
					w.Until(func() bool { // SIGCONT would undo a stop that comes before it
						stat, err := os.ReadFile("/proc/" + program + "/stat")
						return err == nil && !strings.Contains(string(stat), ") T ")
					}, func() string { return "the program stays stopped" })
					stop.do(w, proxy, program)
					if stop.back {
						s.See(stop.name, func(string) bool { return s.Format(world.Modes) == world.PlainModes })
						s.Wait("Stopped")
						require.Equal(t, title, s.Title(), stop.name)
						w.Write("during", "")
						s.Typed("clear; stty -g > during\n")
						w.WaitHeard("during", "\n") // text from before says nothing of this time
						require.Equal(t, w.Content("before"), w.Content("during"), stop.name)
					} else {
						s.Wait("Stopped")
					}
					s.Typed("fg\n")
					s.See(stop.name+": the program is back", func(screen string) bool {
						return strings.HasPrefix(screen, "one") && strings.Contains(screen, shown) && !strings.Contains(screen, "Stopped") &&
							strings.HasPrefix(s.Format(world.Modes), "alternate 1 cursor 1 mouse 1")
					})
				}
				s.Typed("otwo")
				s.Wait("two")
				s.Press("Escape")
				s.Typed(":q!\n")
				s.See("the shell", func(screen string) bool {
					return s.Format(world.Modes) == world.PlainModes && strings.HasSuffix(strings.TrimSpace(screen), "$")
				})
				require.Equal(t, title, s.Title(), stop.name)
				s.Typed("clear; stty -g > after; echo done=$?\n")
				s.Wait("done=0")
				require.Equal(t, w.Content("before"), w.Content("after"), stop.name)
			}
		})
	}
}

func TestASuspensionEndsTheAgentsControlR61(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Typed("clear; proxy --agent --grant drive listener heard\n")
	proxy := s.Match(`listening proxy=(\d+) `)
	id := w.Session()
	w.RequestGrant(id, "--as", "codex")
	s.WaitTitle("[codex drives]")
	w.Kill(proxy, syscall.SIGTSTP)
	s.Wait("Stopped")
	s.Typed("fg\n")
	s.WaitTitle("[observed]")
	w.WaitKeyboard(id, "user")
	require.Equal(t, 4, w.Gateway("send", id, "--as", "codex", "--text", "x").Status)
	s.Typed("mine\x04")
	s.See("the shell", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
	require.Equal(t, "mine\x04", w.Content("heard"))
}

// A terminal that runs the proxy instead of a shell could not resume it, and must not hang.
func TestATerminalWithoutAShellDoesNotHangR61(t *testing.T) {
	w := world.New(t)
	st := w.Stage("exec proxy sh -c 'echo ready; exec cat'")
	st.WaitText("ready")
	w.Kill(strconv.Itoa(st.Cmd.Process.Pid), syscall.SIGTSTP)
	st.TypeKeys("still there\r")
	st.WaitText("still there\nstill there")
	st.TypeKeys("\x04")
	st.WaitEnd()
}

// However often the window changes its size, the program is told at most sixty times a second, and
// the last size in the end.
func TestADraggedWindowR61(t *testing.T) {
	w := world.New(t)
	st := w.Stage("proxy sizes count")
	st.WaitText("counting")
	began := time.Now()
	for i := range 500 {
		require.NoError(t, pty.Setsize(st.Ptmx, &pty.Winsize{Cols: uint16(81 + i%7), Rows: 30}))
		time.Sleep(time.Millisecond) // the pace of a hand
	}
	require.NoError(t, pty.Setsize(st.Ptmx, &pty.Winsize{Cols: 99, Rows: 33}))
	_, program := family(proxyOf(st))
	slave, err := os.Open("/proc/" + program + "/fd/0")
	require.NoError(t, err)
	defer slave.Close()
	w.Until(func() bool { rows, cols, err := pty.Getsize(slave); return err == nil && rows == 33 && cols == 99 }, func() string { return "the last size" })
	most := int(time.Since(began)/(time.Second/60)) + 2
	st.TypeKeys("x")
	st.WaitEnd()
	var count, cols, rows int
	_, err = fmt.Sscanf(w.Content("count"), "%d %dx%d", &count, &cols, &rows)
	require.NoError(t, err)
	require.Equal(t, []int{99, 33}, []int{cols, rows})
	require.LessOrEqual(t, count, most)
	require.Positive(t, count)
}
