package session_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/proxy/detached/keep"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// runKept types a line that runs a program under proxy --keep, and returns the session's id.
func runKept(s *world.Terminal, line, shown string) (id string) {
	s.W.T.Helper()
	s.Run("stty -g > before; proxy --keep --agent " + line)
	s.W.EndsKept()
	id = s.W.Session()
	s.Wait(shown)
	return id
}

// The user leaves the session by the menu, and returns to its screen and its history, in a window
// of another size and with the same keys.
func TestASessionOutlivesItsWindow(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(90, 20)
	title := s.Title()
	id := runKept(s, "bash --noprofile --rcfile bashrc -i", "$")
	enter(s, "for i in $(seq 40); do echo row $i of 40; done")
	s.Detach(id)
	require.Equal(t, title, s.Title())
	w.WaitKept(id, true)
	require.Regexp(t, id+` .* kept, detached since \d+ \w+ \d\d:\d\d `, w.MustGateway("ls"))

	s = w.Terminal(100, 30)
	s.WaitAttached("", "row 40 of 40")
	w.WaitKept(id, false)
	require.Contains(t, s.Tmux("capture-pane", "-p", "-S", "-"), "\nrow 1 of 40\n")
	enter(s, "stty size")
	s.Typed("clear; stty size\n")
	s.Wait("30 100")
	s.GrantControl(id, "--reason", "to type")
	w.MustGateway("send", id, "--text", "echo by the ag''ent", "--enter")
	s.Wait("by the agent")
	s.Press(`C-\`)
	w.WaitKeyboard(id, "user")
	s.Typed("exit 7\n")
	s.Wait("[" + id + ": ended with exit status 7]")
	require.Zero(t, s.Status())
	require.Equal(t, title, s.Title())
}

// A kept session stays where it is when a visitor at its socket brings no terminal.
func TestAKeptSessionStaysWhereItIs(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(90, 20)
	id := runKept(s, "--grant drive bash --noprofile --rcfile bashrc -i", "$")
	w.RequestGrant(id)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	conn, err := keep.DialDoor(w.Run(), id)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	fd := int(null.Fd())
	_, _, err = conn.WriteMsgUnix([]byte(" "), unix.UnixRights(fd, fd), nil)
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, `{"front":{"pid":%d}}`+"\n", os.Getpid())
	require.NoError(t, err)
	said, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(said), "attach: standard input and output must be a terminal")
	w.WaitKeyboard(id, "cli (drive)")
	s.Press(`C-\`)
	w.WaitKeyboard(id, "user")
	enter(s, "echo still h''ere")
	s.Wait("still here")
	require.NotContains(t, s.Screen(), "attached elsewhere")
	s.Typed("exit 7\n")
	require.Equal(t, 7, s.Status())
}

// However vim loses its window, it is shown again as it was: on the alternate screen, with its
// mouse.
func TestVimOutlivesItsWindow(t *testing.T) {
	w := world.New(t, "vim")
	w.Write("notes.txt", "one\n")
	const vim = "vim -u NONE -n -c 'set mouse=a' notes.txt"
	s := w.Terminal(80, 12)
	id := runKept(s, vim, `"notes.txt"`)
	s.Typed("otwo")
	s.Press("Escape")
	s.Wait("two")
	shown := func(s *world.Terminal) {
		s.See("vim", func(screen string) bool {
			return strings.HasPrefix(screen, "one\ntwo\n~\n") && strings.HasPrefix(s.Format(world.Modes), "alternate 1 cursor 1 mouse 1")
		})
	}
	shown(s)
	s.Detach(id)

	s.WaitAttached(id, "two")
	shown(s)
	s.Close() // as the user closes a window
	w.WaitKept(id, true)

	s = w.Terminal(80, 12)
	s.WaitAttached(id, "two")
	shown(s)
	w.Kill(world.ChildOf(t, s.Shell()), syscall.SIGKILL)
	w.WaitKept(id, true)
	// The shell may have been faster, and its words went with the alternate screen.
	s.See("a plain terminal", func(string) bool { return s.Format(world.Modes) == world.PlainModes })
	s.Typed("\n")
	s.RunToEnd("clear")

	s.WaitAttached(id, "two")
	shown(s)
	other := w.Terminal(76, 10)
	other.WaitAttached(id, "two")
	shown(other)
	s.WaitDetached(id, "attached elsewhere; gateway attach "+id+" takes it back")
	s.WaitAttached(id, "two")
	shown(s)
	other.WaitDetached(id, "attached elsewhere; gateway attach "+id+" takes it back")

	s.Press("C-z")
	s.See("the shell", func(screen string) bool {
		return strings.Contains(screen, "Stopped") && s.Format(world.Modes) == world.PlainModes
	})
	s.Typed("clear; fg\n")
	shown(s)
	s.Typed(":wq\n")
	s.Wait("[" + id + ": ended with exit status 0]")
	require.Equal(t, "one\ntwo\n", w.Content("notes.txt"))
}

// A stopped session, like a stopped job, continues when its window is closed, and in another window
// that takes it.
func TestAStoppedSessionOutlivesItsWindow(t *testing.T) {
	w := world.New(t, "vim")
	w.Write("notes.txt", "one\n")
	s := w.Terminal(80, 12)
	id := runKept(s, "vim -u NONE -n notes.txt", `"notes.txt"`)
	s.Press("C-z")
	s.Wait("Stopped")
	other := w.Terminal(80, 12)
	other.WaitAttached(id, "one")
	other.Typed("otwo")
	other.Wait("two")
	other.Press("Escape", "C-z")
	other.Wait("Stopped")
	s.Typed("clear; fg\n")
	s.Wait("[" + id + ": attached elsewhere")
	other.Close()
	w.WaitKept(id, true)
	s.WaitAttached(id, "two")
	s.Typed(":q!\n")
	s.Wait("ended with exit status 0")
}

// Without a window no person sees what an agent would type, so a grant ends. --grant, too, applies
// only in a terminal that a person sees.
func TestNoGrantOutlivesTheWindow(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(90, 20)
	id := runKept(s, "--grant drive bash --noprofile --rcfile bashrc -i", "$")
	s.Close()
	w.WaitKept(id, true)
	w.Gateway("request", id, "--reason", "to test").MustFail(t, 1, "the user has left this terminal")

	s = w.Terminal(90, 20)
	s.WaitAttached(id, "$")
	w.WaitKept(id, false)
	w.RequestGrant(id)
	s.Wait("drives")
	s.Close()
	w.WaitKept(id, true)
	w.Gateway("send", id, "--text", "ls").MustFail(t, 4, "the user left this terminal")
	w.Gateway("request", id, "--reason", "again").MustFail(t, 1, "the user has left this terminal")

	s = w.Terminal(90, 20)
	s.WaitAttached(id, "$")
	w.WaitKept(id, false)
	s.GrantControl(id, "--reason", "to end it")
	w.MustGateway("send", id, "--text", "exit 3", "--enter")
	s.Wait("[" + id + ": ended with exit status 3]")
}

// A kept session ends without a window, and its end is told.
func TestAKeptSessionEndsWithoutAWindow(t *testing.T) {
	w := world.New(t)
	host := w.Terminal(80, 10)
	host.RunBash("--name host") // serves the gateway
	s := w.Terminal(90, 20)
	s.Run("proxy --keep --agent --name kept sh -c 'echo rea''dy; until test -e go; do sleep .1; done; echo last words; exit 3'")
	w.IDs(2)
	s.Wait("ready")
	id := window(s, "kept")
	s.Press(`C-\`)
	s.Wait("d detaches")
	s.Press("d")
	s.Wait("[" + id + ": detached")
	w.Write("go", "")
	w.MustGateway("wait", id, "--exit")
	require.Contains(t, w.MustGateway("ls"), "exited 3")
	world.WaitRead(w, id, "last words")
	s.Run("gateway attach " + id)
	s.Wait("has ended with exit status 3")
	host.QuitProgram("exit\n")
}

// window returns the id of the session of this name.
func window(s *world.Terminal, name string) string {
	s.W.T.Helper()
	for _, i := range s.W.Sessions() {
		if i.Name == name {
			return i.SessionID
		}
	}
	require.FailNow(s.W.T, "no session "+name)
	return ""
}

// If the user never leaves, --keep changes nothing.
func TestKeepIsAsWithoutIt(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 20)
	for line, status := range map[string]int{
		"sh -c 'exit 7'":          7,
		"sh -c 'kill -KILL $$'":   137,
		"does-not-exist-anywhere": 127,
	} {
		plain, without := s.RunToEnd("proxy --agent " + line)
		kept, with := s.RunToEnd("proxy --agent --keep " + line)
		require.Equal(t, status, with, line)
		require.Equal(t, without, with, line)
		require.Equal(t, plain, strings.Replace(kept, s.Marked+"=", fmt.Sprintf("@%d=", s.Marks-1), 1), line)
	}
	_, status := s.RunToEnd("proxy --agent --keep --status-fd 3 sh -c 'exit 5' 3> status")
	require.Equal(t, 5, status)
	require.Equal(t, "5\n", w.Content("status"))
}

// The signals of a kept session reach it through the process that the shell knows.
func TestTheSignalsOfAKeptSession(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 20)
	id := runKept(s, "bash --noprofile --rcfile bashrc -i", "$")
	front := world.ChildOf(t, s.Shell())
	s.Resize(70, 15)
	enter(s, `until [ "$(stty size)" = "15 70" ]; do :; done; echo sized > heard`) // the signal takes time to arrive
	require.Equal(t, "sized\n", w.Content("heard"))
	s.GrantControl(id, "--reason", "to test")
	w.Kill(front, syscall.SIGUSR1)
	w.WaitKeyboard(id, "user")
	w.Kill(front, syscall.SIGTERM)
	require.Equal(t, 128+int(syscall.SIGHUP), s.Status())
}

// When the process of a kept session is killed, the terminal is restored all the same.
func TestTheProcessOfAKeptSessionIsKilled(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 20)
	s.RunListener("--agent --keep")
	_, behind := family(world.ChildOf(t, s.Shell()))
	watchdogOf(w, behind)
	w.Kill(behind, syscall.SIGKILL)
	require.Equal(t, 137, s.Status())
	s.See("a plain terminal", func(string) bool { return s.Format(world.Modes) == world.PlainModes })
	s.RunToEnd("proxy --agent --keep sleep 0.2") // removes what the session left in the runtime directory
}

// A program that an agent's command starts outlives the window in which the command was typed. From
// there, no one reaches a user's session.
func TestRunKeep(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(90, 20)
	_, status := s.RunToEnd("gateway run --keep -- bash --noprofile --norc > id; gateway run --keep --cols -1 -- bash")
	require.Equal(t, 2, status)
	id := w.Session()
	require.Equal(t, id, strings.TrimSpace(w.Content("id")))
	_, status = s.RunToEnd("gateway run --keep -- does-not-exist-anywhere")
	require.Equal(t, 1, status)
	s.Close()
	s = w.Terminal(90, 20)
	s.Run("proxy --keep --agent --name users bash --noprofile --rcfile bashrc -i")
	w.EndsKept()
	w.IDs(2)
	w.MustGateway("send", id, "--text", "gateway attach users; echo st''atus $?", "--enter")
	w.MustGateway("wait", id, "--text", "status 4")
	world.WaitRead(w, id, "belongs to an agent")
	w.MustGateway("close", id)
	s.QuitProgram("exit\n")
}
