package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
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

// overheard records every frame of the wire that reaches an agent that subscribes and reads.
type overheard struct {
	w   *world
	c   *client.Client
	id  string
	seq uint64 // of the last read while a secret was typed

	mu    sync.Mutex
	heard strings.Builder
}

func (w *world) overhear(id string) *overheard {
	w.t.Helper()
	ep, err := endpoint.Parse("unix:" + filepath.Join(w.run(), "gateway.sock"))
	require.NoError(w.t, err)
	o := &overheard{w: w, id: id, c: client.New(client.Config{
		Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: "listener", Key: strings.Repeat("k", 32),
	})}
	stream, err := o.c.Subscribe(w.ctx, id, 0)
	require.NoError(w.t, err)
	ended := make(chan struct{})
	go func() { // ends with the client
		defer close(ended)
		for m := range stream {
			o.note(m)
		}
	}()
	w.t.Cleanup(func() { _ = o.c.Close(); <-ended })
	return o
}

func (o *overheard) note(m protocol.Message) {
	frame, err := json.Marshal(m)
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.heard, "%s %s %v\n", protocol.KindOf(m), frame, err)
}

// readAll asks for everything that an agent can see.
func (o *overheard) readAll() *protocol.ReadResult {
	o.w.t.Helper()
	got, err := o.c.Read(o.w.ctx, &protocol.Read{SessionID: o.id, Scrollback: protocol.MaxHistory, Attributes: true})
	require.NoError(o.w.t, err)
	o.note(got)
	text, err := o.c.Read(o.w.ctx, &protocol.Read{SessionID: o.id, Text: true})
	require.NoError(o.w.t, err)
	o.note(text)
	return text
}

// readUntil reads until the answer is as wanted.
func (o *overheard) readUntil(why string, wanted func(*protocol.ReadResult) bool) {
	o.w.t.Helper()
	o.w.until(func() bool { return wanted(o.readAll()) }, func() string { return why + "\n" + o.all() })
}

func (o *overheard) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.heard.String()
}

// runPrompter runs a program under proxy until it asks, with an agent that has the keyboard.
func (w *world) runPrompter(a prompter) (*terminal, *overheard) {
	w.t.Helper()
	switch {
	case a.needs == "sshd":
		if strings.HasPrefix(a.line, "ssh -t ") {
			w.sshdGivesTerminals()
		}
		w.sshd()
	case a.needs == "sudo" && os.Geteuid() != 0 && w.do("sudo", "-n", "true").status == 0:
		w.t.Skip("sudo asks this user for no password")
	}
	s := w.terminal(100, 24)
	w.write("ask.sh", a.line+"\n")
	s.run("proxy --agent --grant drive --record session.cast bash -c 'read go; . ./ask.sh'")
	id := w.session()
	o := w.overhear(id)
	w.requestGrant(id)
	s.typed("\n")
	s.wait(a.prompt)
	return s, o
}

// R21, R26: the agent's first byte is refused as soon as the question stands.
func TestHardPromptsR21R26(t *testing.T) {
	t.Parallel()
	for _, a := range hard {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t, strings.ReplaceAll(a.needs, "sshd", "ssh"))
			s, o := w.runPrompter(a)
			o.checkRefused()
			require.NotNil(t, o.readAll().Frame.Blackout)
			seq := o.readAll().Frame.Seq
			s.waitTitle("[secret")
			s.waitShown("password prompt: cli's input is blocked")
			o.answerPrompt(s, a, canary)
			require.Equal(t, seq, o.seq, "keys change nothing that is shown")
			require.Contains(t, w.content("session.cast"), "a password is being asked for", "the recording says what it leaves out")
		})
	}
}

// checkRefused lets the agent type into the question, and checks that it is refused.
func (o *overheard) checkRefused() {
	o.w.t.Helper()
	got := o.w.gateway("send", o.id, "--text", "evil")
	require.Equal(o.w.t, 1, got.status, "the agent's input: %s", got.err)
	require.Contains(o.w.t, got.err, "asks the user for a password")
}

// answerPrompt lets the user answer a recognised question, key by key. Agents see the question and
// no movement, and neither they nor any file get the typed text.
func (o *overheard) answerPrompt(s *terminal, a prompter, secret string) {
	o.w.t.Helper()
	shown := o.readAll().Frame
	require.Equal(o.w.t, protocol.Hidden{Why: protocol.BlackoutPassword, Secret: a.kind, SinceMs: shown.Blackout.SinceMs}, *shown.Blackout)
	for i := range secret {
		s.typed(secret[i : i+1])
		now := o.readAll().Frame
		require.Equal(o.w.t, shown.Screen.Cursor, now.Screen.Cursor)
		require.Contains(o.w.t, strings.Join(now.Screen.Lines, "\n"), strings.TrimSuffix(a.prompt, ":"), "the question is shown")
		require.NotContains(o.w.t, strings.Join(now.Screen.Lines, "\n"), "*")
		o.seq = now.Seq
	}
	s.endPrompter(a)
	o.w.checkNowhere(canary, o, "filled")
	require.NotContains(o.w.t, s.screen(), "evil")
}

// endPrompter answers the program, or interrupts it, and waits for the end of the session. A
// program that asks again gets no second answer.
func (s *terminal) endPrompter(a prompter) {
	s.w.t.Helper()
	if a.after != "" {
		s.press("Enter")
		s.wait(a.after)
		s.status()
		return
	}
	s.press("C-c")
	pressed := time.Now()
	s.w.until(func() bool {
		if time.Since(pressed) > 500*time.Millisecond { // no more than a screen holds, or the mark scrolls away
			s.press("Enter")
			pressed = time.Now()
		}
		return strings.Contains(s.screen(), s.marked+"=")
	}, func() string { return s.screen() })
}

// checkNowhere checks that a text is in nothing that an agent received, and in no file of this
// world except the named ones.
func (w *world) checkNowhere(text string, o *overheard, but ...string) {
	w.t.Helper()
	require.NotContains(w.t, o.all(), text)
	require.NoError(w.t, filepath.WalkDir(w.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		for _, name := range but {
			if filepath.Base(path) == name {
				return nil
			}
		}
		content, err := os.ReadFile(path)
		require.NotContains(w.t, string(content), text, path)
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
func TestSoftPromptsR22R24R78(t *testing.T) {
	t.Parallel()
	for _, a := range append(soft, masking...) {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t, strings.ReplaceAll(a.needs, "sshd", "ssh"))
			w.write("ask.js", nodeAsks)
			w.write("mask.js", nodeMasks)
			if strings.Contains(a.line, "unshare") {
				w.configureAsterisks()
			}
			s, o := w.runPrompter(a)
			secret := canary
			if a.late {
				require.Nil(t, o.readAll().Frame.Blackout, "nothing tells it yet")
				s.typed(canary[:2])
				secret = canary[2:]
			}
			o.readUntil("the question", func(got *protocol.ReadResult) bool { // it may come in pieces
				return got.Frame.Blackout != nil && got.Frame.Settled && got.Frame.IdleMs >= 100
			})
			o.checkRefused()
			o.answerPrompt(s, a, secret)
			if a.late {
				return // the first signs were shown
			}
			for _, sign := range []string{"*", "•", "●"} {
				require.NotContains(t, o.all(), sign)
				require.NotContains(t, strings.ReplaceAll(w.content("session.cast"), `\u001b*`, ""), sign, "but to name a set of characters")
			}
		})
	}
}

// configureAsterisks writes a configuration with which sudo shows asterisks, or skips the test if
// it cannot be put in place.
func (w *world) configureAsterisks() {
	w.t.Helper()
	needsRoot(w.t, "to give sudo another configuration")
	w.write("sudoers", "Defaults pwfeedback\nroot ALL=(ALL) ALL\n")
	require.NoError(w.t, os.Chmod(w.path("sudoers"), 0o440))
	if got := w.do("unshare", "-m", "sh", "-c", "mount --bind sudoers /etc/sudoers"); got.status != 0 {
		w.t.Skipf("no mounts of one's own here: %s", got.err)
	}
}

// When a text that contains the word is edited or printed, agents see everything and their input
// arrives.
func TestNoFalsePositivesR22(t *testing.T) {
	w := newWorld(t, "vim", "less", "grep")
	s := w.terminal(80, 24)
	w.write("config.yml", "user: ada\npassword:\n")
	s.run("proxy --agent --grant drive --yield 0s bash --noprofile --rcfile bashrc -i")
	id := w.session()
	s.wait("$")
	o := w.overhear(id)
	w.requestGrant(id)
	shown := func() {
		t.Helper()
		require.Nil(t, o.readAll().Frame.Blackout, s.screen())
	}
	for _, line := range []string{"grep -r password: config.yml", "echo 'the password:'", "printf 'password:'; printf '\\n'"} {
		w.mustGateway("send", id, "--text", line, "--enter")
		shown()
	}
	w.mustGateway("send", id, "--text", "echo password:")
	shown()
	w.mustGateway("send", id, "ctrl-u")
	w.mustGateway("send", id, "--text", "vim -u NONE -n +2 config.yml", "--enter", "--until", "text=user: ada")
	w.mustGateway("send", id, "--text", "A")
	shown()
	w.mustGateway("send", id, "--text", " hunter2", "esc")
	shown()
	require.Contains(t, strings.Join(o.readAll().Frame.Screen.Lines, "\n"), "password: •••••••", "a secret in a file, and no prompt")
	w.mustGateway("send", id, "--text", ":q!", "enter")
	w.mustGateway("send", id, "--text", "less config.yml", "--enter")
	shown()
	w.mustGateway("send", id, "q")
	shown()
	require.NotContains(t, o.all(), `"blackout"`)
	s.press(`C-\`)
	s.typed("exit\n")
	s.status()
}

// SAFETY R23: the agent is refused, the user answers, the agent goes on.
func TestTheAgentGoesOnAfterwardsR23(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.runBash("--grant drive --yield 0s")
	a := w.agent("claude", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "try"}, "granted")
	a.mustCall("terminal_send", args{"text": `read -s -p "Password: " x; echo; echo got=$x`, "enter": true}, "a password is being asked for")
	a.mustFail("terminal_send", args{"text": "evil", "enter": true}, "asks the user for a password", "terminal_wait")
	a.mustCall("terminal_list", nil, "password prompt", "keyboard: you")
	a.mustCall("terminal_wait", args{"for": "waiting", "timeout_ms": 100}, "no match", "password prompt")
	text := a.startCall("terminal_wait", args{"for": "text", "value": "got=mine", "timeout_ms": 20000})
	over := a.startCall("terminal_wait", args{"for": "waiting", "timeout_ms": 20000})
	s.typed("mine\n")
	require.Contains(t, w.waitAnswer(text).text, "matched")
	require.Contains(t, w.waitAnswer(over).text, "matched")
	s.wait("got=mine")
	a.mustCall("terminal_send", args{"text": "echo on", "enter": true})
	s.wait("on\n")
	require.NotContains(t, a.mustCall("terminal_read", args{"view": "history", "lines": 100}, "got=mine", "keyboard: you"), "evil")
	s.press(`C-\`)
	s.quitProgram("exit\n")
}

// SAFETY R25: only the user lets the agent answer, and only this once.
func TestTheUserLetsTheAgentAnswerR25(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 12)
	id := s.runBash("--grant drive --yield 0s")
	w.requestGrant(id)
	ask := `read -s -p "Password: " x; echo; echo got=$x`
	w.mustGateway("send", id, "--text", "printf '\\n%.0s' {1..12}; "+ask, "--enter")
	require.Equal(t, 1, w.gateway("send", id, "--text", "evil", "--enter").status)
	s.see("the line above the prompt", func(screen string) bool {
		first, _, _ := strings.Cut(screen, "\n")
		return strings.Contains(first, "Ctrl+G lets cli answer") && strings.HasPrefix(s.bottom(), "Password:")
	})
	s.pressWhile("C-g", "Ctrl+G lets")
	w.mustGateway("send", id, "--text", "theirs", "--enter")
	s.wait("got=theirs")
	w.mustGateway("send", id, "--text", ask, "--enter")
	require.Equal(t, 1, w.gateway("send", id, "--text", "evil", "--enter").status, "not the next one")
	s.waitTitle("[secret")
	s.typed("\n")
	s.wait("got=\n")
	s.press(`C-\`)
	s.quitProgram("exit\n")
}

func TestTheUserHidesTheScreen(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 12)
	id := s.runBash("--record s.cast")
	o := w.overhear(id)
	a := w.agent("claude", eras[1])
	press := func(menu string) {
		t.Helper()
		s.press(`C-\`)
		s.wait(menu)
		<-time.After(400 * time.Millisecond) // a key too soon after the question counts as an accident
		s.press("h")
	}
	s.typed("echo before\n")
	s.wait("before\n$")
	a.mustCall("terminal_read", nil, "before")
	press("h hides")
	s.waitTitle("[hidden]")
	a.mustFail("terminal_read", nil, "the user hid the screen", "ago", "terminal_wait for=changed")
	a.mustFail("terminal_read", args{"view": "history"}, "the user hid the screen")
	a.mustFail("terminal_read", args{"image": true}, "the user hid the screen", "wait with terminal_wait for=changed")
	a.mustCall("terminal_wait", args{"for": "idle", "value": "1ms", "image": true}, "no image: the user hid the screen")
	require.Contains(t, w.gateway("read", id, "--png", w.path("none.png")).err, "the user hid the screen")
	require.Empty(t, w.content("none.png"))
	a.mustCall("terminal_list", nil, "hidden")
	waiting := a.startCall("terminal_wait", args{"for": "changed", "timeout_ms": 40000})
	s.typed("echo top$((1+1))secret; printf 'row-%d\\n' {1..90}\n")
	s.wait("row-90\n$")
	a.mustCall("terminal_wait", args{"for": "text", "value": "top2secret", "timeout_ms": 500}, "no match", "hid the screen")
	o.readAll()
	require.NotContains(t, o.all(), "row-")
	press("h shows it")
	s.waitTitle("[observed]")
	require.Contains(t, w.waitAnswer(waiting).text, "matched")
	a.mustCall("terminal_read", nil, "row-90", "$")
	s.typed("printf 'then-%d\\n' {1..20}\n")
	s.wait("then-20\n$")
	text := a.mustCall("terminal_read", args{"view": "history", "lines": 500}, "before", "row-89", "then-20")
	require.NotContains(t, text, "row-50")
	o.readUntil("it is shown again", func(r *protocol.ReadResult) bool {
		return r.Frame.Blackout == nil && strings.Contains(r.Text, "then-20")
	})
	require.NotContains(t, o.all(), "top2secret")
	require.NotContains(t, o.all(), "row-50")
	s.quitProgram("exit\n")
	require.Empty(t, between(t, w.castEvents("s.cast"), "blackout begins: the user hides the screen", "blackout ends"))
	require.Contains(t, w.mustGateway("render", "s.cast"), "then-20")
	require.NotContains(t, w.content("s.cast")+w.content("s.cast.audit.jsonl"), "top2secret")
}

// Hiding the screen needs neither a key nor permission; only the owner shows it again. A grant
// pauses meanwhile.
func TestTheScreenIsHiddenRemotely(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(120, 24), w.owner(120, 24)
	id := s.runBash("--grant drive --yield 0s")
	w.requestGrant(id)
	w.mustGateway("send", id, "--text", "echo seen", "--enter")
	require.Contains(t, w.mustGateway("hide", id), "agents do not see it")
	s.waitTitle("[hidden]")
	s.waitShown("agents no longer see this screen")
	got := w.gateway("read", id)
	require.Contains(t, got.out, "the user hid the screen")
	require.NotContains(t, got.out, "seen")
	refused := w.gateway("send", id, "--text", "echo not typed", "--enter")
	require.Equal(t, 1, refused.status)
	require.Contains(t, refused.err, "the user hides the screen")
	require.Contains(t, refused.err, "hint: wait for the user: gateway wait ID --changed")

	o.run("gateway hide --off " + id)
	o.wait("show it to agents again")
	o.typed("y\n")
	require.Zero(t, o.status())
	require.Contains(t, w.mustGateway("read", id), "seen")
	w.mustGateway("send", id, "--text", "echo on again", "--enter")
	s.wait("\non again")
	require.NotContains(t, s.screen(), "not typed")
	w.mustGateway("reclaim", id)
	s.waitTitle("[observed]")
	s.quitProgram("exit\n")
}
