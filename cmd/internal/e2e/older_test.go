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
			w.mustGateway("wait", id, "--text", "listening")
			require.Contains(t, w.mustGateway("read", id, "--history", "90"), "\n42\n")
			gives := func() { // in the older or the newer question's words
				s.wait("Ctrl+G")
				s.pressWhile("C-g", "Ctrl+G")
			}
			request := w.start(w.cli, "request", id, "--as", "codex", "--reason", "to test")
			gives()
			require.Zero(t, request.wait().status)
			w.waitKeyboard(id, "codex (drive")
			w.mustGateway("send", id, "--as", "codex", "--text", "one", "up", "--enter")
			require.Equal(t, "one\x1b[A\r", w.waitHeard("heard", "\r$"))
			w.mustGateway("wait", id, "--idle", "100ms")
			s.press(`C-\`)
			w.waitKeyboard(id, "user")
			require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "late").status)

			a := w.agent("claude", eras[0])
			a.mustCall("terminal_list", nil, id)
			a.mustCall("terminal_read", args{"view": "history", "lines": 90}, "\n42\n")
			asking := a.startCall("terminal_request_control", args{"reason": "to test"})
			gives()
			require.False(t, w.waitAnswer(asking).fails)
			a.mustCall("terminal_send", args{"text": "two", "enter": true})
			w.waitHeard("heard", "two\r$")
			waiting := a.startCall("terminal_wait", args{"for": "control", "timeout_ms": 40000})
			w.mustGateway("reclaim", id)
			require.Regexp(t, `matched: (true \()?reclaimed`, w.waitAnswer(waiting).text) // an older gateway says so in more words
			w.waitKeyboard(id, "user")
			a.mustFail("terminal_send", args{"text": "late"}, "terminal_request_control")
			s.quitProgram("\x04")
			require.Equal(t, "one\x1b[A\rtwo\r\x04", w.content("heard"))
		})
	}
}
