package chat_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"

	"github.com/stretchr/testify/require"

	chatlock "terminalproxy/proxy/chat/lock"
)

func newBesideClaude(t *testing.T) *world.BesideClaude {
	t.Helper()
	world.Clients(t)
	b := world.BesideClaudeIn(world.New(t))
	b.Start(" --permission-mode default")
	return b
}

// exit ends Claude Code at its prompt.
func exit(b *world.BesideClaude) {
	b.W.T.Helper()
	b.S.Typed("/exit")
	b.S.Wait("/exit")
	b.S.Press("Enter")
	require.Zero(b.W.T, b.S.Status())
}

// checkHeld checks that even an agent with a full grant cannot type into the dialog.
func checkHeld(b *world.BesideClaude) {
	b.W.T.Helper()
	got := b.W.Gateway("send", b.ID, "--text", "1")
	require.NotZero(b.W.T, got.Status)
	require.Contains(b.W.T, got.Out+got.Err, "waits for a person's answer")
}

// waitHooks waits for the hooks by which Claude Code asks about a permission, and returns their
// processes. Its dialog stands before they have begun.
func waitHooks(w *world.World) (pids []string) {
	w.T.Helper()
	w.Until(func() bool {
		for _, p := range w.Processes() {
			if pid, line, _ := strings.Cut(p, " "); strings.Contains(line, "gateway hook PermissionRequest") {
				pids = append(pids, pid)
			}
		}
		return len(pids) > 0
	}, func() string { return strings.Join(w.Processes(), "\n") })
	return pids
}

// Claude Code in its own interface can be followed, answered and prompted from another terminal.
func TestClaudeBesideItsInterface_Client(t *testing.T) {
	b := newBesideClaude(t)
	w := b.W
	w.MustGateway("request", b.ID, "--reason", "to look on")

	b.Person.Run("gateway chat send " + b.ID + ` "$(printf 'the first line\nthe second line')"`)
	r := b.Next()
	require.Contains(t, r.Text, "the first line\nthe second line")
	b.AskForFile("made-from-afar")
	checkHeld(b)
	require.NoFileExists(t, w.Path("made-from-afar"))
	b.Person.Run("gateway chat answer " + b.ID + " once")
	b.Person.Wait("allow once?")
	b.Person.Typed("y")
	b.Person.Press("Enter")
	b.Next()
	require.FileExists(t, w.Path("made-from-afar"))

	b.AskForFile("made-at-the-terminal")
	for _, pid := range waitHooks(w) {
		w.KillOne(pid, syscall.SIGKILL)
	}
	b.WaitForLog("its hook ended")
	checkHeld(b)
	require.NoFileExists(t, w.Path("made-at-the-terminal"))
	b.S.Press("1")
	b.Next()
	require.FileExists(t, w.Path("made-at-the-terminal"))

	b.AskForFile("made-never")
	b.S.Press("Escape")
	b.WaitForLog(`"why":"answered at the terminal"`)
	late := w.Gateway("chat", "answer", b.ID, "refuse")
	require.NotZero(t, late.Status)
	b.WaitForLog(`"outcome":"interrupted"`)
	require.NoFileExists(t, w.Path("made-never"))

	b.S.Wait("❯")
	b.S.Typed("half a li")
	b.S.Wait("half a li")
	b.Person.Run("gateway chat send " + b.ID + " 'from afar'")
	require.Zero(t, b.Person.Status())
	b.S.Typed("ne")
	b.S.Press("Enter")
	require.Contains(t, b.Next().Text, "half a line")
	b.Reply(fakemodel.Turn{Say: "THE HALF LINE IS READ"})
	require.Contains(t, b.Next().Text, "from afar")
	b.Reply(fakemodel.Turn{Say: "THE OTHER IS READ"})
	b.WaitForLog("THE OTHER IS READ")

	b.S.Typed("my own words")
	b.S.Wait("my own words")
	b.Person.Run("gateway chat send " + b.ID + " 'never sent'")
	require.Zero(t, b.Person.Status())
	b.S.Press(`C-\`)
	b.WaitForLog("did not read: never sent")
	b.S.Press("C-u")
	b.S.WaitGone("my own words")
	exit(b)
	require.False(t, b.WasAsked("never sent"), "what the user took back")
}

// Any program but a coding agent is refused before anything runs, and so is a second writer of a
// conversation.
func TestChatGoesWithCodingAgents(t *testing.T) {
	w := world.New(t)
	for _, cmd := range [][]string{{"run", "--chat", "--", "vim"}} {
		got := w.Gateway(cmd...)
		got.MustFail(t, 2, "--chat: vim is not a known coding agent: it works with claude")
	}
	s := w.Terminal(80, 24)
	screen, status := s.RunToEnd("proxy --chat vim")
	require.Equal(t, 2, status)
	require.Contains(t, screen, "--chat: vim is not a known coding agent: it works with claude")
	screen, status = s.RunToEnd("proxy --chat claude -p hello")
	require.Equal(t, 125, status)
	require.Contains(t, screen, "-p leaves out")

	id := chat.NewID()
	held := chatlock.New(w.Path("home/state/terminalproxy/chat"), "a test")
	require.NoError(t, held.LockConversation(id))
	defer held.Release()
	screen, status = s.RunToEnd("proxy --chat claude --resume " + id)
	require.Equal(t, 125, status)
	require.Contains(t, screen, "a test (process ")
	require.Contains(t, screen, "hint: go on there, or end it there first")
	got := w.Gateway("run", "--chat", "--", "claude", "--resume", id)
	got.MustFail(t, 1, "hint: go on there, or end it there first")
}

// A command of Claude Code's interface is sent from another terminal, and a conversation continues
// in another session. There a question is answered and a turn interrupted from another terminal,
// and a hook that hangs allows nothing.
func TestClaudeIsResumedBesideItsInterface_Client(t *testing.T) {
	b := newBesideClaude(t)
	w := b.W
	b.Person.Run("gateway chat send " + b.ID + " 'remember the word'")
	require.Contains(t, b.Next().Text, "remember the word")
	b.Reply(fakemodel.Turn{Say: "THE WORD IS KEPT"})
	b.WaitForLog("THE WORD IS KEPT")
	require.Zero(t, b.Person.Status())
	b.Person.Run("gateway chat send " + b.ID + " '/model opus'")
	require.Zero(t, b.Person.Status())
	b.S.Wait("Set model to")
	exit(b)
	id := b.S.Match(`--resume (\S+)`)

	b.S.RunAnew(b.Env + "proxy --chat --grant drive --name again claude --permission-mode default --resume " + id)
	b.ID = w.Session()
	b.WaitForLog(`"state":"at prompt"`)
	b.WaitForLog("remember the word")
	w.MustGateway("request", b.ID, "--reason", "to look on")
	b.Person.Run("gateway chat send " + b.ID + " 'and now'")
	r := b.Next()
	require.Contains(t, r.Text, "remember the word")
	require.Contains(t, r.Text, "and now")
	b.Reply(fakemodel.Turn{Tool: "AskUserQuestion", Args: world.Args{"questions": []world.Args{{
		"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []world.Args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
	}}}})
	b.WaitForLog("Which colour?")
	w.WaitForChat(b.ID, protocol.ChatAsks) // the log names the tool call before its hook asks
	b.Person.Run("gateway chat answer " + b.ID + " --reply 2")
	b.Person.Wait("send this answer?")
	b.Person.Typed("y\n")
	require.Zero(t, b.Person.Status())
	require.Contains(t, b.Next().Result, `"Which colour?"="Blue"`)
	w.MustGateway("chat", "interrupt", b.ID)
	b.WaitForLog(`"outcome":"interrupted"`)
	b.Person.Run("gateway chat send " + b.ID + " 'go on'")
	require.Contains(t, b.Next().Text, "go on")
	b.AskForFile("made-never")
	for _, pid := range waitHooks(w) {
		w.Kill(pid, syscall.SIGSTOP)
		defer w.KillOne(pid, syscall.SIGKILL)
	}
	checkHeld(b)
	b.S.Press("Escape")
	b.WaitForLog(`"why":"answered at the terminal"`)
	b.S.WaitGone("Esc to cancel")
	require.NoFileExists(t, w.Path("made-never"))
	exit(b)
}
