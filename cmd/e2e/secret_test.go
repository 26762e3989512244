package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

// canary is what the user types where a password is asked for, and nobody else may ever come by.
const canary = "c4narys0ng"

// asker is a program that asks for a secret.
type asker struct {
	name, needs string
	line        string // for a shell in the session
	prompt      string // on the user's screen, when it asks
	kind        protocol.SecretPrompt
	after       string // on the screen when it is answered; "" for a program that may ask again
}

// nobody runs a command as a user without rights, so that it is asked for a password.
func nobody(command string) string {
	if os.Geteuid() != 0 {
		return command
	}
	return "exec runuser -u nobody -- " + command
}

// hard are the programs whose prompts the line settings show.
var hard = []asker{
	{"read -s in bash", "bash", `bash -c 'read -s -p "Password: " x; echo; echo length ${#x}'`, "Password:", protocol.SecretHard, "length 10"},
	{"read -s in zsh", "zsh", `zsh -f -c 'read -s "x?Password: "; echo; echo length ${#x}'`, "Password:", protocol.SecretHard, "length 10"},
	{"stty -echo in dash", "dash", `dash -c 'stty -echo; printf "Password: "; read x; stty echo; echo; echo length ${#x}'`, "Password:", protocol.SecretHard, "length 10"},
	{"getpass", "python3", `python3 -c 'import getpass; print("length", len(getpass.getpass()))'`, "Password:", protocol.SecretHard, "length 10"},
	{"sudo", "sudo", nobody("sudo -k -p 'sudo password: ' true"), "sudo password:", protocol.SecretHard, ""},
	{"su", "su", nobody("su root"), "Password:", protocol.SecretHard, ""},
	{"passwd", "passwd", "passwd", "assword:", protocol.SecretHard, ""},
	{"ssh", "sshd", "ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o PubkeyAuthentication=no -o LogLevel=ERROR -p $(cat port) nobody@127.0.0.1", "password:", protocol.SecretHard, ""},
	{"ssh-keygen", "ssh-keygen", "ssh-keygen -t ed25519 -f key", "passphrase", protocol.SecretHard, ""},
	{"openssl passwd", "openssl", "openssl passwd -5", "Password:", protocol.SecretHard, ""},
	{"psql -W", "psql", "psql -W -h 127.0.0.1 -p 1", "Password:", protocol.SecretHard, "refused"},
	{"git", "git", `printf 'protocol=https\nhost=x.invalid\nusername=ada\n\n' | git -c credential.helper= -c core.askPass= credential fill > filled; echo done`, "Password for", protocol.SecretHard, "done"},
}

// overheard is every frame of the wire that reaches an agent that subscribes and reads.
type overheard struct {
	w  *world
	c  *client.Client
	id string

	mu    sync.Mutex
	heard strings.Builder
}

func (w *world) overhear(id string) *overheard {
	w.t.Helper()
	ep, err := gateway.ParseEndpoint("unix:" + filepath.Join(w.run(), "gateway.sock"))
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

// reads asks for everything that there is to see.
func (o *overheard) reads() *protocol.ReadResult {
	o.w.t.Helper()
	got, err := o.c.Read(o.w.ctx, &protocol.Read{SessionID: o.id, Scrollback: protocol.MaxHistory, Attributes: true})
	require.NoError(o.w.t, err)
	o.note(got)
	text, err := o.c.Read(o.w.ctx, &protocol.Read{SessionID: o.id, Text: true})
	require.NoError(o.w.t, err)
	o.note(text)
	return text
}

// until reads until the answer is as wanted.
func (o *overheard) until(why string, wanted func(*protocol.ReadResult) bool) {
	o.w.t.Helper()
	o.w.until(func() bool { return wanted(o.reads()) }, func() string { return why + "\n" + o.all() })
}

func (o *overheard) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.heard.String()
}

// sshd runs a server of its own on the loopback, whose port is in the file "port".
func (w *world) sshd() {
	w.t.Helper()
	path, err := exec.LookPath("sshd")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			w.t.Skip("sshd is not installed")
		}
	}
	if os.Geteuid() == 0 {
		require.NoError(w.t, os.MkdirAll("/run/sshd", 0o755))
	}
	for _, key := range []string{"host", "user"} {
		require.Zero(w.t, w.do("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", w.path(key)).status)
	}
	w.write("sshd_config", "HostKey "+w.path("host")+"\nAuthorizedKeysFile "+w.path("user.pub")+
		"\nPasswordAuthentication yes\nPermitRootLogin yes\nStrictModes no\nUsePAM no\nPidFile none\nListenAddress 127.0.0.1\n")
	for port := 20000 + os.Getpid()%20000; ; port++ {
		daemon := w.start(path, "-D", "-e", "-f", w.path("sshd_config"), "-p", fmt.Sprint(port))
		up := false
		w.until(func() bool {
			select {
			case <-daemon.ended:
				return true // the port is taken
			default:
			}
			up = w.do("ssh-keyscan", "-T", "2", "-p", fmt.Sprint(port), "127.0.0.1").out != ""
			return up
		}, func() string { return "sshd does not answer" })
		if up {
			w.t.Cleanup(func() { _ = daemon.cmd.Process.Kill(); <-daemon.ended })
			w.write("port", fmt.Sprint(port))
			return
		}
	}
}

// asked runs a program under proxy until it asks, with an agent that has the keyboard.
func (w *world) asked(a asker) (*terminal, *overheard) {
	w.t.Helper()
	if a.needs == "sshd" {
		w.sshd()
	}
	s := w.terminal(100, 24)
	w.write("ask.sh", a.line+"\n")
	s.run("proxy --agent --grant drive bash -c 'read go; . ./ask.sh'")
	id := w.session()
	o := w.overhear(id)
	w.granted(id)
	s.typed("\n")
	s.wait(a.prompt)
	return s, o
}

func TestR21AndR26HardPrompts(t *testing.T) {
	for _, a := range hard {
		t.Run(a.name, func(t *testing.T) {
			needs := a.needs
			if needs == "sshd" {
				needs = "ssh"
			}
			w := newWorld(t, needs)
			s, o := w.asked(a)
			got := w.gateway("send", o.id, "--text", "evil")
			require.Equal(t, 1, got.status, "the first byte of the agent's: %s", got.err)
			require.Contains(t, got.err, "asks the user for a password")
			shown := o.reads().Frame
			require.NotNil(t, shown.Blackout)
			require.Equal(t, protocol.BlackoutPassword, shown.Blackout.Why)
			require.Equal(t, a.kind, shown.Blackout.Secret)
			require.Contains(t, strings.Join(shown.Screen.Lines, "\n"), strings.TrimSuffix(a.prompt, ":"), "the question is shown")
			s.titled("[secret")
			s.wait("password prompt: cli's input is blocked")

			for i := range canary {
				s.typed(canary[i : i+1])
				now := o.reads().Frame
				require.Equal(t, shown.Screen.Cursor, now.Screen.Cursor)
				require.Equal(t, shown.Seq, now.Seq)
			}
			s.ends(a)
			w.nothingHas(canary, o, "filled")
			require.NotContains(t, s.screen(), "evil")
		})
	}
}

// ends answers the program, or leaves it: no answer is right twice.
func (s *terminal) ends(a asker) {
	s.w.t.Helper()
	s.typed("\n")
	if a.after != "" {
		s.wait(a.after)
	}
	s.w.until(func() bool {
		if s.format("#{pane_current_command}") == "bash" {
			return true
		}
		s.press("C-c", "Enter")
		return false
	}, func() string { return s.screen() })
}

// nothingHas looks for a text in all that an agent got, and in every file of this world but those that are named.
func (w *world) nothingHas(text string, o *overheard, but ...string) {
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
