package session_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/proxy/terminal/screen"

	"github.com/stretchr/testify/require"
)

// questions are what programs ask their terminal.
var questions = []string{
	"\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[>q", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?15n", "\x1b[?996n", "\x1b[?25$p", "\x1b[?2004$p",
	"\x1b[4$p", "\x1b[?u", "\x1b[?4m", "\x1bP$qm\x1b\\", "\x1bP$qr\x1b\\", "\x1bP$q q\x1b\\", "\x1bP+q544e\x1b\\", "\x1b[18t", "\x1b[14t",
	"\x1b[3;5H\x1b[6n", "\x1b[x", "\x1b[5n",
}

// With a user's terminal, that terminal answers the program; without one, the proxy does; never
// both. The answers are in the order of the questions, and the shell reads none of them.
func TestOneAnswerEachR62(t *testing.T) {
	t.Parallel()
	ask := "\x1b[H\x1b[2J" + strings.Join(questions, "")
	fresh := screen.New(screen.Config{Cols: 80, Rows: 24})
	fresh.Feed([]byte(ask))
	want := string(fresh.TakeReplies())
	require.GreaterOrEqual(t, strings.Count(want, "\x1b[")+strings.Count(want, "\x1bP"), 20)
	for _, flags := range []string{"", "--agent "} {
		t.Run("terminal "+flags, func(t *testing.T) {
			w := world.New(t)
			w.Write("ask", ask)
			w.Write("nothing", "")
			st := w.Stage("proxy " + flags + "asker ask got; asker nothing left")
			st.WaitEnd()
			require.Equal(t, want, w.Content("got"))
			require.Empty(t, w.Content("left"), "typed at the shell")
		})
		t.Run("no terminal "+flags, func(t *testing.T) {
			w := world.New(t)
			w.Write("ask", ask)
			cmd := w.Command("proxy", append(strings.Fields(flags), "--cols", "80", "sh", "-c", "asker ask got < /dev/tty > /dev/tty")...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			require.NoError(t, cmd.Run())
			require.Equal(t, want, w.Content("got"))
		})
	}
}

// The proxy asks where the cursor is. It keeps the answer to itself even if that comes late, while
// the session is ending.
func TestTheProxysOwnQuestionIsNotLeftToTheShellR62(t *testing.T) {
	w := world.New(t)
	w.Write("nothing", "")
	st := w.Stage("read go; proxy --agent sh -c 'echo ready; exec cat'; asker nothing left")
	st.Mu.Lock()
	st.Mute = true
	st.Mu.Unlock()
	st.TypeKeys("\n")
	st.WaitSent("\x1b[6n")
	st.WaitScreen("the proxy goes on without an answer", func(s *screen.Screen) bool {
		return strings.Contains(s.Title(), "sh") && strings.Contains(world.Picture(s), "ready")
	})
	st.TypeKeys("\x04\x1b[?2027;2$y\x1b[7;1R") // the program ends, and the answers come
	st.WaitEnd()
	require.Empty(t, w.Content("left"))
}
