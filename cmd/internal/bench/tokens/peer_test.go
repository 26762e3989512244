package tokens_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// peerKeys are the bytes of keys: the server takes nothing else.
var peerKeys = map[string]string{
	"esc": "\x1b", "space": " ", "down": "\x1b[B", "enter": "\r", "end": "\x1b[F", "ctrl-o": "\x0f", "ctrl-x": "\x18",
}

// peer is where `make peers` installs the other server.
const peer = "../../../../.ci/peers/node_modules/@mariozechner/terminalcp/dist/index.js"

// withPeer does a task with terminalcp 1.3.3, as its README says: stdin types, stdout is the screen and what scrolled off.
func withPeer(b *testing.B, t *task, c *bill, _ string) error {
	program, err := filepath.Abs(peer)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil || !installed("node") {
		return fmt.Errorf("terminalcp is %w: make peers installs it", errSkip)
	}
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), "node", program, "--mcp")
	home := b.TempDir() // its server's socket is there
	cmd.Env = environ("HOME="+home, "TERM=xterm-256color")
	a, dir := serve(b, c, cmd), t.place(b)
	b.Cleanup(func() { _, _ = a.act(args{"action": "kill-server"}) })
	id, err := a.act(args{"action": "start", "command": quoted(t.program), "cwd": dir})
	for tries := 0; err != nil && tries < 5; tries++ { // on a busy machine its own server starts too late for it
		time.Sleep(pollEvery)
		id, err = a.act(args{"action": "start", "command": quoted(t.program), "cwd": dir})
	}
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
			data += peerKeys[key]
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
