package world

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
)

// Stage is a terminal, with a shell's script in it, that can report every mode, since it is our own
// model.
type Stage struct {
	W     *World
	Cmd   *exec.Cmd
	Ptmx  *os.File
	Ended chan struct{}

	Mu    sync.Mutex
	model *screen.Screen
	Raw   bytes.Buffer
	Mute  bool // it answers no questions
}

// Stage runs a shell script in a terminal.
func (w *World) Stage(script string) *Stage {
	w.T.Helper()
	st := &Stage{W: w, Cmd: w.Command("sh", "-c", script), Ended: make(chan struct{}), model: screen.New(screen.Config{Cols: 80, Rows: 24})}
	var err error
	st.Ptmx, err = pty.StartWithSize(st.Cmd, &pty.Winsize{Cols: 80, Rows: 24})
	require.NoError(w.T, err)
	go st.show() // ends with the PTY
	w.T.Cleanup(func() {
		_ = st.Cmd.Process.Kill()
		_ = st.Cmd.Wait()
		<-st.Ended
		_ = st.Ptmx.Close()
	})
	return st
}

func (st *Stage) show() {
	defer close(st.Ended)
	buf := make([]byte, 4096)
	for {
		n, err := st.Ptmx.Read(buf)
		if err != nil {
			return
		}
		st.Mu.Lock()
		st.Raw.Write(buf[:n])
		st.model.Feed(buf[:n])
		replies := st.model.TakeReplies()
		if st.Mute {
			replies = nil
		}
		st.Mu.Unlock()
		if len(replies) > 0 {
			_, _ = st.Ptmx.Write(replies)
		}
	}
}

// WaitEnd waits until the script, and all that has its terminal, has ended.
func (st *Stage) WaitEnd() {
	st.W.T.Helper()
	select {
	case <-st.Ended:
	case <-time.After(Patience):
		require.FailNow(st.W.T, "the script does not end", "%s\n%s", st.Cmd, st.Sent())
	}
}

// Look checks the model.
func (st *Stage) Look(at func(*screen.Screen) bool) bool {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	return at(st.model)
}

// WaitScreen waits until the model is as wanted.
func (st *Stage) WaitScreen(what string, wanted func(*screen.Screen) bool) {
	st.W.T.Helper()
	st.W.Until(func() bool { return st.Look(wanted) }, func() string {
		st.Mu.Lock()
		defer st.Mu.Unlock()
		raw := st.Raw.Bytes()
		return what + "; the last output:\n" + strconv.Quote(string(raw[max(0, len(raw)-2000):]))
	})
}

// WaitText waits until text stands on the screen.
func (st *Stage) WaitText(text string) {
	st.W.T.Helper()
	st.WaitScreen(text, func(s *screen.Screen) bool { return strings.Contains(Picture(s), text) })
}

func Picture(s *screen.Screen) string {
	_, rows := s.Size()
	var b strings.Builder
	for y := range rows {
		b.WriteString(s.RowText(y))
		b.WriteByte('\n')
	}
	return b.String()
}

// Sent returns everything that the terminal was sent.
func (st *Stage) Sent() string {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	return st.Raw.String()
}

// WaitSent waits until the terminal was sent text.
func (st *Stage) WaitSent(text string) {
	st.W.T.Helper()
	st.W.Until(func() bool { return strings.Contains(st.Sent(), text) }, st.Sent)
}

// TypeKeys writes to the terminal as a user would.
func (st *Stage) TypeKeys(text string) {
	st.W.T.Helper()
	_, err := st.Ptmx.WriteString(text)
	require.NoError(st.W.T, err)
}

// AboveLeader returns the proxy of a program's parent, which may be the leader.
func AboveLeader(pid string) string {
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	if _, rest, ok := strings.Cut(string(status), "Name:\t"+child.LeaderName+"\n"); ok {
		_, rest, _ = strings.Cut(rest, "PPid:\t")
		pid, _, _ = strings.Cut(rest, "\n")
	}
	return pid
}
