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

// TestR61ASuspensionEndsTheAgentsControl.
func TestR61ASuspensionEndsTheAgentsControl(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.typed("clear; proxy --agent --grant drive listener heard\n")
	proxy := s.match(`listening proxy=(\d+) `)
	id := w.session()
	w.granted(id, "--as", "codex")
	s.titled("[codex drives]")
	w.kill(proxy, syscall.SIGTSTP)
	s.wait("Stopped")
	s.typed("fg\n")
	s.titled("[observed]")
	w.keyboard(id, "user")
	require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "x").status)
	s.typed("mine\x04")
	s.see("the shell", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
	require.Equal(t, "mine\x04", w.content("heard"))
}

// TestR61NobodyToResume: a terminal that runs the proxy in place of a shell could not resume it, and is not left without
// anything that answers.
func TestR61NobodyToResume(t *testing.T) {
	w := newWorld(t)
	st := w.stage("exec proxy sh -c 'echo ready; exec cat'")
	st.text("ready")
	w.kill(strconv.Itoa(st.cmd.Process.Pid), syscall.SIGTSTP)
	st.types("still there\r")
	st.text("still there\nstill there")
	st.types("\x04")
	<-st.ended
}

// TestR61ADraggedWindow: however often the window changes its size, the program is told at most sixty times a second, and
// the last size in the end.
func TestR61ADraggedWindow(t *testing.T) {
	w := newWorld(t)
	st := w.stage("proxy sizes count")
	st.text("counting")
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
	st.types("x")
	<-st.ended
	var count, cols, rows int
	_, err = fmt.Sscanf(w.content("count"), "%d %dx%d", &count, &cols, &rows)
	require.NoError(t, err)
	require.Equal(t, []int{99, 33}, []int{cols, rows})
	require.LessOrEqual(t, count, most)
	require.Positive(t, count)
}
