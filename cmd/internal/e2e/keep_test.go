package e2e_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/keep"
)

// runKept types a line that runs a program under proxy --keep, and returns the session's id.
func (s *terminal) runKept(line, shown string) (id string) {
	s.w.t.Helper()
	s.run("stty -g > before; proxy --keep --agent " + line)
	s.w.endsKept()
	id = s.w.session()
	s.wait(shown)
	return id
}

// endsKept ends what a failed test would leave behind.
func (w *world) endsKept() {
	w.t.Cleanup(func() {
		for _, p := range w.processes() {
			if pid, line, _ := strings.Cut(p, " "); strings.HasPrefix(line, keep.Name) && w.t.Failed() {
				w.kill(pid, syscall.SIGTERM)
			}
		}
	})
}

// detach presses the menu's key to leave, and waits for the shell, with the terminal as it was.
func (s *terminal) detach(id string) {
	s.w.t.Helper()
	s.press(`C-\`)
	s.wait("d detaches")
	s.press("d")
	s.waitDetached(id, "detached; gateway attach "+id+" comes back")
}

// waitDetached waits until the session has released the window.
func (s *terminal) waitDetached(id, say string) {
	s.w.t.Helper()
	s.see(say, func(screen string) bool {
		return strings.Contains(screen, "["+id+": "+say+"]") && strings.Contains(screen, s.marked+"=0") && s.format(modes) == plainModes
	})
	s.runToEnd("stty -g > after")
	require.Equal(s.w.t, s.w.content("before"), s.w.content("after"))
}

// waitAttached waits until the session has a window and shows a text.
func (s *terminal) waitAttached(id, shown string) {
	s.w.t.Helper()
	s.run("stty -g > before; gateway attach " + id)
	s.wait(shown)
}

// waitForWindow waits until the session has a window.
func (w *world) waitForWindow(id string) { w.t.Helper(); w.waitKept(id, false) }

// waitForNoWindow waits until the session has no window.
func (w *world) waitForNoWindow(id string) { w.t.Helper(); w.waitKept(id, true) }

func (w *world) waitKept(id string, isDetached bool) {
	w.t.Helper()
	var list []protocol.SessionInfo
	w.until(func() bool {
		list = w.sessions()
		return len(list) == 1 && list[0].SessionID == id && list[0].Kept && (list[0].DetachedAt != 0) == isDetached
	}, func() string { return fmt.Sprintf("%+v", list) })
}

// The user leaves the session by the menu, and returns to its screen and its history, in a window
// of another size and with the same keys.
func TestASessionOutlivesItsWindow(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(90, 20)
	title := s.title()
	id := s.runKept("bash --noprofile --rcfile bashrc -i", "$")
	s.enter("for i in $(seq 40); do echo row $i of 40; done")
	s.detach(id)
	require.Equal(t, title, s.title())
	w.waitForNoWindow(id)
	require.Regexp(t, id+` .* kept, detached since \d+ \w+ \d\d:\d\d `, w.mustGateway("ls"))
	w.gateway("request", id, "--reason", "to look").mustFail(t, 1, "the user has left this terminal")

	s = w.terminal(100, 30)
	s.waitAttached("", "row 40 of 40")
	w.waitForWindow(id)
	require.Contains(t, s.tmux("capture-pane", "-p", "-S", "-"), "\nrow 1 of 40\n")
	s.enter("stty size")
	s.typed("clear; stty size\n")
	s.wait("30 100")
	s.grantControl(id, "--reason", "to type")
	w.mustGateway("send", id, "--text", "echo by the ag''ent", "--enter")
	s.wait("by the agent")
	s.press(`C-\`)
	w.waitKeyboard(id, "user")
	s.typed("exit 7\n")
	s.wait("[" + id + ": ended with exit status 7]")
	require.Zero(t, s.status())
	require.Equal(t, title, s.title())
}

// A kept session stays where it is when a visitor at its socket brings no terminal.
func TestAKeptSessionStaysWhereItIs(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(90, 20)
	id := s.runKept("--grant drive bash --noprofile --rcfile bashrc -i", "$")
	w.requestGrant(id)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	conn, err := keep.DialDoor(w.run(), id)
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
	w.waitKeyboard(id, "cli (drive)")
	s.press(`C-\`)
	w.waitKeyboard(id, "user")
	s.enter("echo still h''ere")
	s.wait("still here")
	require.NotContains(t, s.screen(), "attached elsewhere")
	s.typed("exit 7\n")
	require.Equal(t, 7, s.status())
}

// However vim loses its window, it is shown again as it was: on the alternate screen, with its
// mouse.
func TestVimOutlivesItsWindow(t *testing.T) {
	w := newWorld(t, "vim")
	w.write("notes.txt", "one\n")
	const vim = "vim -u NONE -n -c 'set mouse=a' notes.txt"
	s := w.terminal(80, 12)
	id := s.runKept(vim, `"notes.txt"`)
	s.typed("otwo")
	s.press("Escape")
	s.wait("two")
	shown := func(s *terminal) {
		s.see("vim", func(screen string) bool {
			return strings.HasPrefix(screen, "one\ntwo\n~\n") && strings.HasPrefix(s.format(modes), "alternate 1 cursor 1 mouse 1")
		})
	}
	shown(s)
	s.detach(id)

	s.waitAttached(id, "two")
	shown(s)
	s.close() // as the user closes a window
	w.waitForNoWindow(id)

	s = w.terminal(80, 12)
	s.waitAttached(id, "two")
	shown(s)
	w.kill(childOf(t, s.shell()), syscall.SIGKILL)
	w.waitForNoWindow(id)
	// The shell may have been faster, and its words went with the alternate screen.
	s.see("a plain terminal", func(string) bool { return s.format(modes) == plainModes })
	s.typed("\n")
	s.runToEnd("clear")

	s.waitAttached(id, "two")
	shown(s)
	other := w.terminal(76, 10)
	other.waitAttached(id, "two")
	shown(other)
	s.waitDetached(id, "attached elsewhere; gateway attach "+id+" takes it back")
	s.waitAttached(id, "two")
	shown(s)
	other.waitDetached(id, "attached elsewhere; gateway attach "+id+" takes it back")

	s.press("C-z")
	s.see("the shell", func(screen string) bool { return strings.Contains(screen, "Stopped") && s.format(modes) == plainModes })
	s.typed("clear; fg\n")
	shown(s)
	s.typed(":wq\n")
	s.wait("[" + id + ": ended with exit status 0]")
	require.Equal(t, "one\ntwo\n", w.content("notes.txt"))
}

// A stopped session, like a stopped job, continues when its window is closed, and in another window
// that takes it.
func TestAStoppedSessionOutlivesItsWindow(t *testing.T) {
	w := newWorld(t, "vim")
	w.write("notes.txt", "one\n")
	s := w.terminal(80, 12)
	id := s.runKept("vim -u NONE -n notes.txt", `"notes.txt"`)
	s.press("C-z")
	s.wait("Stopped")
	other := w.terminal(80, 12)
	other.waitAttached(id, "one")
	other.typed("otwo")
	other.wait("two")
	other.press("Escape", "C-z")
	other.wait("Stopped")
	s.typed("clear; fg\n")
	s.wait("[" + id + ": attached elsewhere")
	other.close()
	w.waitForNoWindow(id)
	s.waitAttached(id, "two")
	s.typed(":q!\n")
	s.wait("ended with exit status 0")
}

// Without a window no person sees what an agent would type, so a grant ends. --grant, too, applies
// only in a terminal that a person sees.
func TestNoGrantOutlivesTheWindow(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(90, 20)
	id := s.runKept("--grant drive bash --noprofile --rcfile bashrc -i", "$")
	s.close()
	w.waitForNoWindow(id)
	w.gateway("request", id, "--reason", "to test").mustFail(t, 1, "the user has left this terminal")

	s = w.terminal(90, 20)
	s.waitAttached(id, "$")
	w.waitForWindow(id)
	w.requestGrant(id)
	s.wait("drives")
	s.close()
	w.waitForNoWindow(id)
	w.gateway("send", id, "--text", "ls").mustFail(t, 4, "the user left this terminal")
	w.gateway("request", id, "--reason", "again").mustFail(t, 1, "the user has left this terminal")

	s = w.terminal(90, 20)
	s.waitAttached(id, "$")
	w.waitForWindow(id)
	s.grantControl(id, "--reason", "to end it")
	w.mustGateway("send", id, "--text", "exit 3", "--enter")
	s.wait("[" + id + ": ended with exit status 3]")
}

// A kept session ends without a window, and its end is told.
func TestAKeptSessionEndsWithoutAWindow(t *testing.T) {
	w := newWorld(t)
	host := w.terminal(80, 10)
	host.runBash("--name host") // serves the gateway
	s := w.terminal(90, 20)
	s.run("proxy --keep --agent --name kept sh -c 'echo rea''dy; until test -e go; do sleep .1; done; echo last words; exit 3'")
	w.ids(2)
	s.wait("ready")
	id := s.window("kept")
	s.press(`C-\`)
	s.wait("d detaches")
	s.press("d")
	s.wait("[" + id + ": detached")
	w.write("go", "")
	var list string
	w.until(func() bool { list = w.mustGateway("ls"); return strings.Contains(list, "exited 3") }, func() string { return list })
	require.Contains(t, w.mustGateway("read", id), "last words")
	s.run("gateway attach " + id)
	s.wait("has ended with exit status 3")
	host.quitProgram("exit\n")
}

// window returns the id of the session of this name.
func (s *terminal) window(name string) string {
	s.w.t.Helper()
	for _, i := range s.w.sessions() {
		if i.Name == name {
			return i.SessionID
		}
	}
	require.FailNow(s.w.t, "no session "+name)
	return ""
}

// If the user never leaves, --keep changes nothing.
func TestKeepIsAsWithoutIt(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 20)
	for line, status := range map[string]int{
		"sh -c 'exit 7'":            7,
		"sh -c 'kill -KILL $$'":     137,
		"does-not-exist-anywhere":   127,
		"--no-such-flag true":       2,
		`--name "$(printf '\t')" x`: 2,
	} {
		plain, without := s.runToEnd("proxy --agent " + line)
		kept, with := s.runToEnd("proxy --agent --keep " + line)
		require.Equal(t, status, with, line)
		require.Equal(t, without, with, line)
		require.Equal(t, plain, strings.Replace(kept, s.marked+"=", fmt.Sprintf("@%d=", s.marks-1), 1), line)
	}
	_, status := s.runToEnd("proxy --agent --keep --status-fd 3 sh -c 'exit 5' 3> status")
	require.Equal(t, 5, status)
	require.Equal(t, "5\n", w.content("status"))
	screen, status := s.runToEnd("proxy --keep true")
	require.Equal(t, 2, status)
	require.Contains(t, screen, "--keep needs --agent")
	w.do("proxy", "--agent", "--keep", "true").mustFail(t, 2, "--keep: standard input or output is not a terminal")
}

// The signals of a kept session reach it through the process that the shell knows.
func TestTheSignalsOfAKeptSession(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 20)
	id := s.runKept("bash --noprofile --rcfile bashrc -i", "$")
	front := childOf(t, s.shell())
	s.resize(70, 15)
	s.enter(`until [ "$(stty size)" = "15 70" ]; do :; done; echo sized > heard`) // the signal takes time to arrive
	require.Equal(t, "sized\n", w.content("heard"))
	s.grantControl(id, "--reason", "to test")
	w.kill(front, syscall.SIGUSR1)
	w.waitKeyboard(id, "user")
	w.kill(front, syscall.SIGTERM)
	require.Equal(t, 128+int(syscall.SIGHUP), s.status())
}

// When the process of a kept session is killed, the terminal is restored all the same.
func TestTheProcessOfAKeptSessionIsKilled(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 20)
	s.runListener("--agent --keep")
	_, behind := family(childOf(t, s.shell()))
	w.watchdogOf(behind)
	w.kill(behind, syscall.SIGKILL)
	require.Equal(t, 137, s.status())
	s.see("a plain terminal", func(string) bool { return s.format(modes) == plainModes })
	s.runToEnd("proxy --agent --keep sleep 0.2") // removes what the session left in the runtime directory
}

// A program that an agent's command starts outlives the window in which the command was typed. From
// there, no one reaches a user's session.
func TestRunKeep(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(90, 20)
	_, status := s.runToEnd("gateway run --keep -- bash --noprofile --norc > id; gateway run --keep --cols -1 -- bash")
	require.Equal(t, 2, status)
	id := w.session()
	require.Equal(t, id, strings.TrimSpace(w.content("id")))
	_, status = s.runToEnd("gateway run --keep -- does-not-exist-anywhere")
	require.Equal(t, 1, status)
	s.close()
	s = w.terminal(90, 20)
	s.run("proxy --keep --agent --name users bash --noprofile --rcfile bashrc -i")
	w.endsKept()
	w.ids(2)
	w.mustGateway("send", id, "--text", "gateway attach users; echo st''atus $?", "--enter")
	w.mustGateway("wait", id, "--text", "status 4")
	require.Contains(t, w.mustGateway("read", id), "belongs to an agent")
	w.mustGateway("close", id)
	s.quitProgram("exit\n")
}
