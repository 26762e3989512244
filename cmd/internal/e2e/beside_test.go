package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
	"terminalproxy/proxy/chat"
	chatlock "terminalproxy/proxy/chat/lock"
)

// besideClaude is Claude Code in its own interface under proxy --chat. A person at another terminal
// follows the conversation and answers.
type besideClaude struct {
	*chatting
	id     string
	person *terminal
}

func newBesideClaude(t *testing.T) *besideClaude {
	t.Helper()
	clients(t)
	b := besideClaudeIn(newWorld(t))
	b.start(" --permission-mode default")
	return b
}

// besideClaudeIn prepares everything but starts nothing.
func besideClaudeIn(w *world) *besideClaude {
	w.t.Helper()
	b := &besideClaude{chatting: w.newChat(chatAgents[0])}
	b.person = w.owner(100, 50)
	return b
}

// start runs Claude Code with more arguments and waits for its prompt.
func (b *besideClaude) start(args string) {
	b.w.t.Helper()
	b.s.run(b.env + "proxy --chat --grant drive claude" + args)
	b.id = b.w.session()
	b.waitForLog(`"state":"at prompt"`)
}

// exit ends Claude Code at its prompt.
func (b *besideClaude) exit() {
	b.w.t.Helper()
	b.s.typed("/exit")
	b.s.wait("/exit")
	b.s.press("Enter")
	require.Zero(b.w.t, b.s.status())
}

// waitForLog waits until the conversation's log contains words.
func (b *besideClaude) waitForLog(words string) {
	b.w.t.Helper()
	log := ""
	b.w.until(func() bool { log = b.w.mustGateway("chat", "log", b.id, "--json"); return strings.Contains(log, words) }, func() string {
		return words + " is not in\n" + log + b.s.screen()
	})
}

// askForFile lets the model ask to create a file, and waits for the dialog.
func (b *besideClaude) askForFile(file string) {
	b.w.t.Helper()
	b.callShell("touch " + file)
	b.s.see("a dialog for "+file, func(screen string) bool {
		at := strings.LastIndex(screen, "touch "+file)
		return at >= 0 && strings.Contains(screen[at:], "Do you want to proceed")
	})
	b.waitForLog(`"command":"touch ` + file + `"`)
}

// checkHeld checks that even an agent with a full grant cannot type into the dialog.
func (b *besideClaude) checkHeld() {
	b.w.t.Helper()
	got := b.w.gateway("send", b.id, "--text", "1")
	require.NotZero(b.w.t, got.status)
	require.Contains(b.w.t, got.out+got.err, "waits for a person's answer")
}

// Claude Code in its own interface can be followed, answered and prompted from another terminal.
func TestClaudeBesideItsInterface(t *testing.T) {
	b := newBesideClaude(t)
	w := b.w
	w.mustGateway("request", b.id, "--reason", "to look on")

	b.person.run("gateway chat send " + b.id + ` "$(printf 'the first line\nthe second line')"`)
	r := b.next()
	require.Contains(t, r.Text, "the first line\nthe second line")
	b.askForFile("made-from-afar")
	b.checkHeld()
	require.NoFileExists(t, w.path("made-from-afar"))
	b.person.run("gateway chat answer " + b.id + " once")
	b.person.wait("allow once?")
	b.person.typed("y")
	b.person.press("Enter")
	b.next()
	require.FileExists(t, w.path("made-from-afar"))

	b.askForFile("made-at-the-terminal")
	killed := 0
	for _, p := range w.processes() {
		if pid, line, _ := strings.Cut(p, " "); strings.Contains(line, "gateway hook PermissionRequest") {
			w.killOne(pid, syscall.SIGKILL)
			killed++
		}
	}
	require.Positive(t, killed)
	b.waitForLog("its hook ended")
	b.checkHeld()
	require.NoFileExists(t, w.path("made-at-the-terminal"))
	b.s.press("1")
	b.next()
	require.FileExists(t, w.path("made-at-the-terminal"))

	b.askForFile("made-never")
	b.s.press("Escape")
	b.waitForLog(`"why":"answered at the terminal"`)
	late := w.gateway("chat", "answer", b.id, "refuse")
	require.NotZero(t, late.status)
	b.waitForLog(`"outcome":"interrupted"`)
	require.NoFileExists(t, w.path("made-never"))

	b.s.wait("❯")
	b.s.typed("half a li")
	b.s.wait("half a li")
	b.person.run("gateway chat send " + b.id + " 'from afar'")
	require.Zero(t, b.person.status())
	b.s.typed("ne")
	b.s.press("Enter")
	require.Contains(t, b.next().Text, "half a line")
	b.reply(fakemodel.Turn{Say: "THE HALF LINE IS READ"})
	require.Contains(t, b.next().Text, "from afar")
	b.reply(fakemodel.Turn{Say: "THE OTHER IS READ"})
	b.waitForLog("THE OTHER IS READ")

	b.s.typed("my own words")
	b.s.wait("my own words")
	b.person.run("gateway chat send " + b.id + " 'never sent'")
	require.Zero(t, b.person.status())
	b.s.press(`C-\`)
	b.waitForLog("did not read: never sent")
	b.s.press("C-u")
	b.s.waitGone("my own words")
	b.exit()
	require.False(t, b.wasAsked("never sent"), "what the user took back")
}

// Any program but a coding agent is refused before anything runs, and so is a second writer of a
// conversation.
func TestChatGoesWithCodingAgents(t *testing.T) {
	w := newWorld(t)
	for _, cmd := range [][]string{{"run", "--chat", "--", "vim"}} {
		got := w.gateway(cmd...)
		got.mustFail(t, 2, "--chat: vim is not a known coding agent: it works with claude")
	}
	s := w.terminal(80, 24)
	screen, status := s.runToEnd("proxy --chat vim")
	require.Equal(t, 2, status)
	require.Contains(t, screen, "--chat: vim is not a known coding agent: it works with claude")
	screen, status = s.runToEnd("proxy --chat claude -p hello")
	require.Equal(t, 125, status)
	require.Contains(t, screen, "-p leaves out")

	id := chat.NewID()
	held := chatlock.New(w.path("home/state/terminalproxy/chat"), "a test")
	require.NoError(t, held.LockConversation(id))
	defer held.Release()
	screen, status = s.runToEnd("proxy --chat claude --resume " + id)
	require.Equal(t, 125, status)
	require.Contains(t, screen, "a test (process ")
	require.Contains(t, screen, "hint: go on there, or end it there first")
	got := w.gateway("run", "--chat", "--", "claude", "--resume", id)
	got.mustFail(t, 1, "hint: go on there, or end it there first")
}

// A command of Claude Code's interface is sent from another terminal, and a conversation continues
// in another session. There a question is answered and a turn interrupted from another terminal,
// and a hook that hangs allows nothing.
func TestClaudeIsResumedBesideItsInterface(t *testing.T) {
	b := newBesideClaude(t)
	w := b.w
	b.person.run("gateway chat send " + b.id + " 'remember the word'")
	require.Contains(t, b.next().Text, "remember the word")
	b.reply(fakemodel.Turn{Say: "THE WORD IS KEPT"})
	b.waitForLog("THE WORD IS KEPT")
	require.Zero(t, b.person.status())
	b.person.run("gateway chat send " + b.id + " '/model opus'")
	require.Zero(t, b.person.status())
	b.s.wait("Set model to")
	b.exit()
	id := b.s.match(`--resume (\S+)`)

	b.s.runAnew(b.env + "proxy --chat --grant drive --name again claude --permission-mode default --resume " + id)
	b.id = w.session()
	b.waitForLog(`"state":"at prompt"`)
	b.waitForLog("remember the word")
	w.mustGateway("request", b.id, "--reason", "to look on")
	b.person.run("gateway chat send " + b.id + " 'and now'")
	r := b.next()
	require.Contains(t, r.Text, "remember the word")
	require.Contains(t, r.Text, "and now")
	b.reply(fakemodel.Turn{Tool: "AskUserQuestion", Args: args{"questions": []args{{
		"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
	}}}})
	b.waitForLog("Which colour?")
	b.person.run("gateway chat answer " + b.id + " --reply 2")
	b.person.wait("send this answer?")
	b.person.typed("y\n")
	require.Zero(t, b.person.status())
	require.Contains(t, b.next().Result, `"Which colour?"="Blue"`)
	w.mustGateway("chat", "interrupt", b.id)
	b.waitForLog(`"outcome":"interrupted"`)
	b.person.run("gateway chat send " + b.id + " 'go on'")
	require.Contains(t, b.next().Text, "go on")
	b.askForFile("made-never")
	for _, p := range w.processes() {
		if pid, line, _ := strings.Cut(p, " "); strings.Contains(line, "gateway hook PermissionRequest") {
			w.kill(pid, syscall.SIGSTOP)
			defer w.killOne(pid, syscall.SIGKILL)
		}
	}
	b.checkHeld()
	b.s.press("Escape")
	b.waitForLog(`"why":"answered at the terminal"`)
	b.s.waitGone("Esc to cancel")
	require.NoFileExists(t, w.path("made-never"))
	b.exit()
}
