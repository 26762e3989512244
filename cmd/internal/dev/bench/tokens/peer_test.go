package tokens_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// peerKey is the bytes of a key: the server takes nothing else.
func peerKey(key string) string {
	if letter, ok := strings.CutPrefix(key, "ctrl-"); ok {
		return string(letter[0] & 0x1f)
	}
	return map[string]string{
		"esc": "\x1b", "space": " ", "down": "\x1b[B", "enter": "\r", "end": "\x1b[F", "f7": "\x1b[18~", "f10": "\x1b[21~",
	}[key]
}

// peer is where `make peers` installs the other server.
const peer = "../../../../../.ci/peers/node_modules/@mariozechner/terminalcp/dist/index.js"

// withPeer does a task with terminalcp 1.3.3, as its README says: stdin types, stdout is the screen and what scrolled off.
func withPeer(b *testing.B, t *task, c *bill, _ string) error {
	program, err := filepath.Abs(peer)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil || !installed("node") {
		return fmt.Errorf("terminalcp is %w: make peers installs it", errSkip)
	}
	home := b.TempDir() // its server's socket is there
	of := func(what string) *exec.Cmd {
		cmd := exec.CommandContext(context.WithoutCancel(b.Context()), "node", program, what)
		cmd.Env = environ("HOME="+home, "TERM=xterm-256color")
		return cmd
	}
	if err := peerServer(b, of("--server"), filepath.Join(home, ".terminalcp", "server.sock")); err != nil {
		return err
	}
	a, dir := serve(b, c, of("--mcp")), t.place(b)
	b.Cleanup(func() { _, _ = a.act(args{"action": "kill-server"}) })
	id, err := a.act(args{"action": "start", "command": quoted(t.program), "cwd": dir})
	if err != nil {
		return err
	}
	id = strings.TrimSpace(id)
	if t.follow != "" {
		if err := a.polls(id, step{until: regexp.QuoteMeta(t.follow)}, true); err != nil {
			return err
		}
	} else if t.first != "" {
		if err := a.polls(id, step{until: t.first}, false); err != nil {
			return err
		}
	}
	for _, s := range t.steps {
		data := s.text
		for _, key := range s.keys {
			data += peerKey(key)
		}
		if s.enter {
			data += "\r"
		}
		if data != "" {
			if _, err := a.act(args{"action": "stdin", "id": id, "data": data}); err != nil {
				return err
			}
		}
		if err := a.polls(id, s, false); err != nil {
			return err
		}
	}
	return t.check(dir, c.text.String())
}

// peerServer starts the process that has terminalcp's terminals, and waits for its socket. By itself terminalcp gives it a second to
// start, which is not enough on a busy machine.
func peerServer(b *testing.B, cmd *exec.Cmd, socket string) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	b.Cleanup(func() { // it was told to end, if anybody came to that
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for began := time.Now(); time.Since(began) < patience; time.Sleep(pollEvery) {
		if _, err := os.Stat(socket); err == nil {
			return nil
		}
	}
	return errors.New("its server does not start")
}

func (a *agent) act(with args) (string, error) { return a.call("terminalcp", args{"args": with}) }

// polls looks every half second until what was typed has been done. A program's end is seen in the list; what was printed is
// the screen with all that scrolled off, or the new part of the stream.
func (a *agent) polls(id string, s step, stream bool) error {
	look := args{"action": "stdout", "id": id, "lines": 24}
	switch {
	case s.exit:
		look = args{"action": "list"}
	case s.search != "":
		look = args{"action": "stdout", "id": id}
	case stream:
		look = args{"action": "stream", "id": id, "since_last": true}
	}
	wanted := regexp.MustCompile("(?m)" + s.until + s.search)
	if s.exit {
		wanted = regexp.MustCompile(id + ` stopped`)
	}
	for began := time.Now(); time.Since(began) < patience; {
		time.Sleep(pollEvery)
		got, err := a.act(look)
		if err != nil {
			return err
		}
		if wanted.MatchString(got) {
			return nil
		}
	}
	return fmt.Errorf("%q does not come", s.until)
}

// quoted is a command line for a shell.
func quoted(program []string) string {
	words := make([]string, len(program))
	for i, word := range program {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
