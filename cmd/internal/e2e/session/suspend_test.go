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

// SIGSTOP leaves the proxy no time to give the terminal back. `fg` shows the program as it was.
func TestAStoppedProxyComesBackR61(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(80, 24)
	w.Write("notes.txt", "one\n")
	isBack := func(screen string) bool {
		return strings.HasPrefix(screen, "one\n~\n") && !strings.Contains(screen, "Stopped") &&
			strings.HasPrefix(s.Format(world.Modes), "alternate 1 cursor 1 mouse 1")
	}
	s.Typed("clear; proxy --agent vim -u NONE -n -c 'set mouse=a' notes.txt\n")
	s.See("vim", isBack)
	proxy := world.ChildOf(t, s.Shell())
	watchdogOf(w, proxy) // no child of the proxy is about to become one
	for range 2 {
		w.Kill(proxy, syscall.SIGSTOP)
		s.Wait("Stopped")
		s.Typed("fg\n")
		s.See("vim again", isBack)
	}
	s.Typed(":q!\n")
	atPrompt(s, "the shell")
}

// A suspension ends the agent's control. Once back, the user is asked whether it goes on.
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
	s.Wait("“codex” was stopped when you suspended this: let it drive")
	w.WaitKeyboard(id, "user")
	require.Equal(t, 4, w.Gateway("send", id, "--as", "codex", "--text", "x").Status)
	s.PressWhile("C-g", "was stopped when")
	w.MustGateway("send", id, "--as", "codex", "--text", "theirs")
	s.Typed("\x04")
	s.See("the shell", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
	require.Equal(t, "theirs\x04", w.Content("heard"))
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
