package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// older is a commit whose binaries stand for those that another machine may still run. They are
// built from the history: a replayed conversation would not answer the questions that the other
// side asks today.
const older = "ac41792"

// buildOlder builds the commands older-proxy and older-gateway, or returns why it cannot.
var buildOlder = sync.OnceValues(func() (skip string, err error) {
	if exec.CommandContext(context.Background(), "git", "cat-file", "-e", older+"^{commit}").Run() != nil {
		return "the history does not hold commit " + older + ": git fetch --unshallow", nil
	}
	source, bin := filepath.Join(root, "older"), filepath.Join(root, "bin")
	out, err := exec.CommandContext(context.Background(), "sh", "-ec", `mkdir "$1"
		git -C "$(git rev-parse --show-toplevel)" archive `+older+` | tar -x -C "$1"
		for name in proxy gateway; do
			CGO_ENABLED=0 go build -C "$1" -trimpath -ldflags "-s -w" -o "$2/older-$name" ./cmd/$name
		done`, "sh", source, bin).CombinedOutput()
	return string(out), err
})

// An older proxy works with today's gateway and agents, and the reverse: list, ask, type, wait,
// read the history and reclaim.
func TestOlderAndNewer(t *testing.T) {
	clients(t)
	said, err := buildOlder()
	require.NoError(t, err, said)
	if said != "" {
		t.Skip(said)
	}
	for name, c := range map[string]struct{ server, proxy, cli string }{ // a proxy without a server serves itself
		"an older proxy":             {"gateway", "older-proxy", "gateway"},
		"an older proxy that serves": {"", "older-proxy", "gateway"},
		"an older gateway":           {"older-gateway", "proxy", "older-gateway"},
		"older agents":               {"", "proxy", "older-gateway"},
		"older at both ends":         {"gateway", "older-proxy", "older-gateway"},
		"newer at both ends":         {"older-gateway", "proxy", "gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cli = c.cli
			if c.server != "" {
				w.serve(c.server)
			}
			s := w.terminal(100, 24)
			s.run(c.proxy + " --agent sh -c 'seq 100; exec listener heard'")
			id := w.session()
			w.good("wait", id, "--text", "listening")
			require.Contains(t, w.good("read", id, "--history", "90"), "\n42\n")
			gives := func() { // in the older or the newer question's words
				s.wait("Ctrl+G")
				s.presses("C-g", "Ctrl+G")
			}
			request := w.start(w.cli, "request", id, "--as", "codex", "--reason", "to test")
			gives()
			require.Zero(t, request.wait().status)
			w.keyboard(id, "codex (drive")
			w.good("send", id, "--as", "codex", "--text", "one", "up", "--enter")
			require.Equal(t, "one\x1b[A\r", w.listens("heard", "\r$"))
			w.good("wait", id, "--idle", "100ms")
			s.press(`C-\`)
			w.keyboard(id, "user")
			require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "late").status)

			a := w.agent("claude", eras[0])
			a.good("terminal_list", nil, id)
			a.good("terminal_read", args{"view": "history", "lines": 90}, "\n42\n")
			asking := a.start("terminal_request_control", args{"reason": "to test"})
			gives()
			require.False(t, w.answered(asking).fails)
			a.good("terminal_send", args{"text": "two", "enter": true})
			w.listens("heard", "two\r$")
			waiting := a.start("terminal_wait", args{"for": "control", "timeout_ms": 40000})
			w.good("reclaim", id)
			require.Regexp(t, `matched: (true \()?reclaimed`, w.answered(waiting).text) // an older gateway says so in more words
			w.keyboard(id, "user")
			a.fails("terminal_send", args{"text": "late"}, "terminal_request_control")
			s.quits("\x04")
			require.Equal(t, "one\x1b[A\rtwo\r\x04", w.content("heard"))
		})
	}
}
