package consent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// canary is what the user types at a password prompt. It must never appear elsewhere.
const canary = "c4narys0ng"

// prompter is a program that asks for a secret.
type prompter struct {
	name, needs string
	line        string // for a shell in the session
	prompt      string // on the user's screen, when it asks
	kind        protocol.SecretPrompt
	after       string // on the screen when it is answered; "" for a program that may ask again
	late        bool   // the prompt is recognised only once keys were answered with signs
}

// nobody runs a command as a user without rights, so that it is asked for a password.
func nobody(command string) string {
	if os.Geteuid() != 0 {
		return command
	}
	return "exec runuser -u nobody -- " + command
}

// hard are the programs whose prompts the line settings show.
var hard = []prompter{
	{"read -s in bash", "bash", `bash -c 'read -s -p "Password: " x; echo; echo length ${#x}'`, "Password:", protocol.SecretHard, "length 10", false},
	{"read -s in zsh", "zsh", `zsh -f -c 'read -s "x?Password: "; echo; echo length ${#x}'`, "Password:", protocol.SecretHard, "length 10", false},
	{"stty -echo in dash", "dash", `dash -c 'stty -echo; printf "Password: "; read x; stty echo; echo; echo length ${#x}'`, "Password:", protocol.SecretHard, "length 10", false},
	{"getpass", "python3", `python3 -c 'import getpass; print("length", len(getpass.getpass()))'`, "Password:", protocol.SecretHard, "length 10", false},
	{"sudo", "sudo", nobody("sudo -k -p 'sudo password: ' true"), "sudo password:", protocol.SecretHard, "", false},
	{"su", "su", nobody("su root"), "Password:", protocol.SecretHard, "", false},
	{"passwd", "passwd", "passwd", "assword:", protocol.SecretHard, "", false},
	{"ssh", "sshd", "ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o PubkeyAuthentication=no -o LogLevel=ERROR -p $(cat port) nobody@127.0.0.1", "password:", protocol.SecretHard, "", false},
	{"ssh-keygen", "ssh-keygen", "ssh-keygen -t ed25519 -f key", "passphrase", protocol.SecretHard, "", false},
	{"openssl passwd", "openssl", "openssl passwd -5", "Password:", protocol.SecretHard, "", false},
	{"psql -W", "psql", "psql -W -h 127.0.0.1 -p 1", "Password:", protocol.SecretHard, "refused", false},
	{"git", "git", `printf 'protocol=https\nhost=x.invalid\nusername=ada\n\n' | git -c credential.helper= -c core.askPass= credential fill > filled; echo done`, "Password for", protocol.SecretHard, "done", false},
}

// readAll asks for everything that an agent can see.
func readAll(o *world.Overheard) *protocol.ReadResult {
	o.W.T.Helper()
	got, err := o.C.Read(o.W.Ctx, &protocol.Read{SessionID: o.ID, Scrollback: protocol.MaxHistory, Attributes: true})
	require.NoError(o.W.T, err)
	o.Note(got)
	text, err := o.C.Read(o.W.Ctx, &protocol.Read{SessionID: o.ID, Text: true})
	require.NoError(o.W.T, err)
	o.Note(text)
	return text
}

// readUntil reads until the answer is as wanted.
func readUntil(o *world.Overheard, why string, wanted func(*protocol.ReadResult) bool) {
	o.W.T.Helper()
	o.W.Until(func() bool { return wanted(readAll(o)) }, func() string { return why + "\n" + o.All() })
}

// runPrompter runs a program under proxy until it asks, with an agent that has the keyboard.
func runPrompter(w *world.World, a prompter) (*world.Terminal, *world.Overheard) {
	w.T.Helper()
	switch {
	case a.needs == "sshd":
		if strings.HasPrefix(a.line, "ssh -t ") {
			w.SshdGivesTerminals()
		}
		w.Sshd()
	case a.needs == "sudo" && os.Geteuid() != 0 && w.Do("sudo", "-n", "true").Status == 0:
		w.T.Skip("sudo asks this user for no password")
	}
	s := w.Terminal(100, 24)
	w.Write("ask.sh", a.line+"\n")
	s.Run("proxy --agent --grant drive --record session.cast bash -c 'read go; . ./ask.sh'")
	id := w.Session()
	o := w.Overhear(id)
	w.RequestGrant(id)
	s.Typed("\n")
	s.Wait(a.prompt)
	return s, o
}

// R21, R26: the agent's first byte is refused as soon as the question stands.
func TestHardPromptsR21R26_Root(t *testing.T) {
	t.Parallel()
	for _, a := range hard {
		t.Run(a.name, func(t *testing.T) {
			w := world.New(t, strings.ReplaceAll(a.needs, "sshd", "ssh"))
			s, o := runPrompter(w, a)
			checkRefused(o)
			require.NotNil(t, readAll(o).Frame.Blackout)
			seq := readAll(o).Frame.Seq
			s.WaitTitle("[secret")
			s.WaitShown("password prompt: cli's input is blocked")
			answerPrompt(o, s, a, canary)
			require.Equal(t, seq, o.Seq, "keys change nothing that is shown")
			w.WaitHeard("session.cast", "a password is being asked for") // the recording says what it leaves out
		})
	}
}

// checkRefused lets the agent type into the question, and checks that it is refused.
func checkRefused(o *world.Overheard) {
	o.W.T.Helper()
	got := o.W.Gateway("send", o.ID, "--text", "evil")
	require.Equal(o.W.T, 1, got.Status, "the agent's input: %s", got.Err)
	require.Contains(o.W.T, got.Err, "asks the user for a password")
}

// answerPrompt lets the user answer a recognised question, key by key. Agents see the question and
// no movement, and neither they nor any file get the typed text.
func answerPrompt(o *world.Overheard, s *world.Terminal, a prompter, secret string) {
	o.W.T.Helper()
	shown := readAll(o).Frame
	require.Equal(o.W.T, protocol.Hidden{Why: protocol.BlackoutPassword, Secret: a.kind, SinceMs: shown.Blackout.SinceMs}, *shown.Blackout)
	for i := range secret {
		s.Typed(secret[i : i+1])
		now := readAll(o).Frame
		require.Equal(o.W.T, shown.Screen.Cursor, now.Screen.Cursor)
		require.Contains(o.W.T, strings.Join(now.Screen.Lines, "\n"), strings.TrimSuffix(a.prompt, ":"), "the question is shown")
		require.NotContains(o.W.T, strings.Join(now.Screen.Lines, "\n"), "*")
		o.Seq = now.Seq
	}
	endPrompter(s, a)
	checkNowhere(o.W, canary, o, "filled")
	require.NotContains(o.W.T, s.Screen(), "evil")
}

// endPrompter answers the program, or interrupts it, and waits for the end of the session. A
// program that asks again gets no second answer.
func endPrompter(s *world.Terminal, a prompter) {
	s.W.T.Helper()
	if a.after != "" {
		s.Press("Enter")
		s.Wait(a.after)
		s.Status()
		return
	}
	s.Press("C-c")
	pressed := time.Now()
	s.W.Until(func() bool {
		if time.Since(pressed) > 500*time.Millisecond { // no more than a screen holds, or the mark scrolls away
			s.Press("Enter")
			pressed = time.Now()
		}
		return strings.Contains(s.Screen(), s.Marked+"=")
	}, func() string { return s.Screen() })
}

// checkNowhere checks that a text is in nothing that an agent received, and in no file of this
// world except the named ones.
func checkNowhere(w *world.World, text string, o *world.Overheard, but ...string) {
	w.T.Helper()
	require.NotContains(w.T, o.All(), text)
	require.NoError(w.T, filepath.WalkDir(w.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		for _, name := range but {
			if filepath.Base(path) == name {
				return nil
			}
		}
		content, err := os.ReadFile(path)
		require.NotContains(w.T, string(content), text, path)
		return err
	}))
}

// nodeAsks reads a password as programs in Node do: raw, with an asterisk for each key.
const nodeAsks = `
process.stdin.setRawMode(true); process.stdout.write("Password: "); let n = 0
process.stdin.on("data", d => { for (const c of d) { if (c === 10 || c === 13) { console.log("\r\nlength " + n); process.exit() } if (c === 3) process.exit(1); n++; process.stdout.write("*") } })
`

// soft are programs that read raw keys and show something for each.
var soft = []prompter{
	{"fish read --silent", "fish", `fish --no-config -c 'read --silent -P "Password: " x; echo length (string length $x)'`, "Password:", protocol.SecretSoft, "length 10", false},
	{"pinentry-curses", "pinentry-curses", `printf 'SETPROMPT PIN:\nSETDESC Unlock the key\nGETPIN\n' > say; exec pinentry-curses --ttyname $(tty) --ttytype $TERM < say > filled`, "PIN:", protocol.SecretSoft, "", false},
	{"systemd-ask-password", "systemd-ask-password", "exec systemd-ask-password --timeout=0 'Unlock the disk:' > filled", "Unlock the disk:", protocol.SecretSoft, "", false},
	{"node", "node", "node ask.js", "Password:", protocol.SecretSoft, "length 10", false},
	{"sudo with pwfeedback", "sudo", `exec unshare -m sh -c 'mount --bind sudoers /etc/sudoers && exec runuser -u nobody -- sudo -k -p "sudo password: " true'`, "sudo password:", protocol.SecretSoft, "", false},
	{"another machine", "sshd", `ssh -t -F none -i user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p $(cat port) 127.0.0.1 'python3 -c "import getpass; print(\"length\", len(getpass.getpass()))"'`, "Password:", protocol.SecretSoft, "length 10", false},
	{"like sudo-rs", "stty", "asterisks echonl", "Password:", protocol.SecretHard, "length 10", false},
	{"in pieces", "stty", "asterisks raw pieces", "Password:", protocol.SecretSoft, "length 10", false},
}

// R22, R24, R78: prompts of programs that read raw keys are recognised by their words; in any
// language, by n signs for n keys, and by the forms that programs ask a library to draw.
func TestSoftPromptsR22R24R78_Root(t *testing.T) {
	t.Parallel()
	for _, a := range append(soft, masking...) {
		t.Run(a.name, func(t *testing.T) {
			w := world.New(t, strings.ReplaceAll(a.needs, "sshd", "ssh"))
			w.Write("ask.js", nodeAsks)
			w.Write("mask.js", nodeMasks)
			if strings.Contains(a.line, "unshare") {
				configureAsterisks(w)
			}
			s, o := runPrompter(w, a)
			secret := canary
			if a.late {
				require.Nil(t, readAll(o).Frame.Blackout, "nothing tells it yet")
				s.Typed(canary[:2])
				secret = canary[2:]
			}
			readUntil(o, "the question", func(got *protocol.ReadResult) bool { // it may come in pieces
				return got.Frame.Blackout != nil && got.Frame.Settled && got.Frame.IdleMs >= 100
			})
			checkRefused(o)
			answerPrompt(o, s, a, secret)
			if a.late {
				return // the first signs were shown
			}
			for _, sign := range []string{"*", "•", "●"} {
				require.NotContains(t, o.All(), sign)
				require.NotContains(t, strings.ReplaceAll(w.Content("session.cast"), `\u001b*`, ""), sign, "but to name a set of characters")
			}
		})
	}
}

// configureAsterisks writes a configuration with which sudo shows asterisks, or skips the test if
// it cannot be put in place.
func configureAsterisks(w *world.World) {
	w.T.Helper()
	world.NeedsRoot(w.T, "to give sudo another configuration")
	w.Write("sudoers", "Defaults pwfeedback\nroot ALL=(ALL) ALL\n")
	require.NoError(w.T, os.Chmod(w.Path("sudoers"), 0o440))
	if got := w.Do("unshare", "-m", "sh", "-c", "mount --bind sudoers /etc/sudoers"); got.Status != 0 {
		w.T.Skipf("no mounts of one's own here: %s", got.Err)
	}
}

// When a text that contains the word is edited or printed, agents see everything and their input
// arrives.
func TestNoFalsePositivesR22(t *testing.T) {
	w := world.New(t, "vim", "less", "grep")
	s := w.Terminal(80, 24)
	w.Write("config.yml", "user: ada\npassword:\n")
	s.Run("proxy --agent --grant drive --yield 0s bash --noprofile --rcfile bashrc -i")
	id := w.Session()
	s.Wait("$")
	o := w.Overhear(id)
	w.RequestGrant(id)
	shown := func() {
		t.Helper()
		require.Nil(t, readAll(o).Frame.Blackout, s.Screen())
	}
	for _, line := range []string{"grep -r password: config.yml", "echo 'the password:'", "printf 'password:'; printf '\\n'"} {
		w.MustGateway("send", id, "--text", line, "--enter")
		shown()
	}
	w.MustGateway("send", id, "--text", "echo password:")
	shown()
	w.MustGateway("send", id, "ctrl-u")
	w.MustGateway("send", id, "--text", "vim -u NONE -n +2 config.yml", "--enter", "--until", "text=user: ada")
	w.MustGateway("send", id, "--text", "A")
	shown()
	w.MustGateway("send", id, "--text", " hunter2", "esc")
	shown()
	require.Contains(t, strings.Join(readAll(o).Frame.Screen.Lines, "\n"), "password: •••••••", "a secret in a file, and no prompt")
	w.MustGateway("send", id, "--text", ":q!", "enter")
	w.MustGateway("send", id, "--text", "less config.yml", "--enter")
	shown()
	w.MustGateway("send", id, "q")
	shown()
	require.NotContains(t, o.All(), `"blackout"`)
	s.Press(`C-\`)
	s.Typed("exit\n")
	s.Status()
}

// SAFETY R23: the agent is refused, the user answers, the agent goes on.
func TestTheAgentGoesOnAfterwardsR23(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunBash("--grant drive --yield 0s")
	a := w.Agent("claude", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "try"}, "granted")
	a.MustCall("terminal_send", world.Args{"text": `read -s -p "Password: " x; echo; echo got=$x`, "enter": true}, "a password is being asked for")
	a.MustFail("terminal_send", world.Args{"text": "evil", "enter": true}, "asks the user for a password", "terminal_wait")
	a.MustCall("terminal_list", nil, "password prompt", "keyboard: you")
	a.MustCall("terminal_wait", world.Args{"for": "waiting", "timeout_ms": 100}, "no match", "password prompt")
	text := a.StartCall("terminal_wait", world.Args{"for": "text", "value": "got=mine"})
	over := a.StartCall("terminal_wait", world.Args{"for": "waiting"})
	s.Typed("mine\n")
	require.Contains(t, w.WaitAnswer(text).Text, "matched")
	require.Contains(t, w.WaitAnswer(over).Text, "matched")
	s.Wait("got=mine")
	a.MustCall("terminal_send", world.Args{"text": "echo on", "enter": true})
	s.Wait("on\n")
	require.NotContains(t, a.MustCall("terminal_read", world.Args{"view": "history", "lines": 100}, "got=mine", "keyboard: you"), "evil")
	s.Press(`C-\`)
	s.QuitProgram("exit\n")
}

// SAFETY R25: only the user lets the agent answer, and only this once.
func TestTheUserLetsTheAgentAnswerR25(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 12)
	id := s.RunBash("--grant drive --yield 0s")
	w.RequestGrant(id)
	ask := `read -s -p "Password: " x; echo; echo got=$x`
	w.MustGateway("send", id, "--text", "printf '\\n%.0s' {1..12}; "+ask, "--enter")
	require.Equal(t, 1, w.Gateway("send", id, "--text", "evil", "--enter").Status)
	s.See("the line above the prompt", func(screen string) bool {
		first, _, _ := strings.Cut(screen, "\n")
		return strings.Contains(first, "Ctrl+G lets cli answer") && strings.HasPrefix(s.Bottom(), "Password:")
	})
	s.PressWhile("C-g", "Ctrl+G lets")
	w.MustGateway("send", id, "--text", "theirs", "--enter")
	s.Wait("got=theirs")
	w.MustGateway("send", id, "--text", ask, "--enter")
	require.Equal(t, 1, w.Gateway("send", id, "--text", "evil", "--enter").Status, "not the next one")
	s.WaitTitle("[secret")
	s.Typed("\n")
	s.Match(`\ngot=\s`) // the proxy's sign may stand at the end of the row
	s.Press(`C-\`)
	s.QuitProgram("exit\n")
}

func TestTheUserHidesTheScreen(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 12)
	id := s.RunBash("--record s.cast")
	o := w.Overhear(id)
	a := w.Agent("claude", world.Eras[1])
	press := func(menu string) {
		t.Helper()
		s.Press(`C-\`)
		s.Wait(menu)
		<-time.After(400 * time.Millisecond) // a key too soon after the question counts as an accident
		s.Press("h")
	}
	s.Typed("echo before\n")
	s.Wait("before\n$")
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "before")
	press("h hides")
	s.WaitTitle("[hidden]")
	a.MustFail("terminal_read", nil, "the user hid the screen", "ago", "terminal_wait for=changed")
	a.MustFail("terminal_read", world.Args{"view": "history"}, "the user hid the screen")
	a.MustFail("terminal_read", world.Args{"image": true}, "the user hid the screen", "wait with terminal_wait for=changed")
	a.MustCall("terminal_wait", world.Args{"for": "idle", "value": "1ms", "image": true}, "no image: the user hid the screen")
	require.Contains(t, w.Gateway("read", id, "--png", w.Path("none.png")).Err, "the user hid the screen")
	require.Empty(t, w.Content("none.png"))
	a.MustCall("terminal_list", nil, "hidden")
	waiting := a.StartCall("terminal_wait", world.Args{"for": "changed"})
	s.Typed("echo top$((1+1))secret; printf 'row-%d\\n' {1..90}\n")
	s.Wait("row-90\n$")
	a.MustCall("terminal_wait", world.Args{"for": "text", "value": "top2secret", "timeout_ms": 500}, "no match", "hid the screen")
	readAll(o)
	require.NotContains(t, o.All(), "row-")
	press("h shows it")
	s.WaitTitle("[observed]")
	require.Contains(t, w.WaitAnswer(waiting).Text, "matched")
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "row-90", "$")
	s.Typed("printf 'then-%d\\n' {1..20}\n")
	s.Wait("then-20\n$")
	text := a.MustCall("terminal_read", world.Args{"view": "history", "lines": 500}, "before", "row-89", "then-20")
	require.NotContains(t, text, "row-50")
	readUntil(o, "it is shown again", func(r *protocol.ReadResult) bool {
		return r.Frame.Blackout == nil && strings.Contains(r.Text, "then-20")
	})
	require.NotContains(t, o.All(), "top2secret")
	require.NotContains(t, o.All(), "row-50")
	s.QuitProgram("exit\n")
	require.Empty(t, world.Between(t, w.CastEvents("s.cast"), "blackout begins: the user hides the screen", "blackout ends"))
	require.Contains(t, w.MustGateway("render", "s.cast"), "then-20")
	require.NotContains(t, w.Content("s.cast")+w.Content("s.cast.audit.jsonl"), "top2secret")
}

// Hiding the screen needs neither a key nor permission; only the owner shows it again. A grant
// pauses meanwhile.
func TestTheScreenIsHiddenRemotely(t *testing.T) {
	w := world.New(t)
	s, o := w.Terminal(120, 24), w.Owner(120, 24)
	id := s.RunBash("--grant drive --yield 0s")
	w.RequestGrant(id)
	w.MustGateway("send", id, "--text", "echo seen", "--enter")
	require.Contains(t, w.MustGateway("hide", id), "agents do not see it")
	s.WaitTitle("[hidden]")
	s.WaitShown("agents no longer see this screen")
	got := w.Gateway("read", id)
	require.Contains(t, got.Out, "the user hid the screen")
	require.NotContains(t, got.Out, "seen")
	refused := w.Gateway("send", id, "--text", "echo not typed", "--enter")
	require.Equal(t, 1, refused.Status)
	require.Contains(t, refused.Err, "the user hides the screen")
	require.Contains(t, refused.Err, "hint: wait for the user: gateway wait ID --changed")

	o.Run("gateway hide --off " + id)
	o.Wait("show it to agents again")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	world.WaitRead(w, id, "seen")
	w.MustGateway("send", id, "--text", "echo on again", "--enter")
	s.Wait("\non again")
	require.NotContains(t, s.Screen(), "not typed")
	w.MustGateway("reclaim", id)
	s.WaitTitle("[observed]")
	s.QuitProgram("exit\n")
}
