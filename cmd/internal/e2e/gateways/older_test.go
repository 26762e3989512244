package gateways_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// older is a commit whose binaries stand for those that another machine may still run. They are
// built from the history: a replayed conversation would not answer the questions that the other
// side asks today.
const older = "d86d15a"

// buildOlder builds the commands older-proxy and older-gateway, or returns why it cannot.
var buildOlder = sync.OnceValues(func() (skip string, err error) {
	if exec.CommandContext(context.Background(), "git", "cat-file", "-e", older+"^{commit}").Run() != nil {
		return "the history does not hold commit " + older + ": git fetch --unshallow", nil
	}
	source, bin := filepath.Join(world.Root, "older"), filepath.Join(world.Root, "bin")
	out, err := exec.CommandContext(context.Background(), "sh", "-ec", `mkdir "$1"
		git -C "$(git rev-parse --show-toplevel)" archive `+older+` | tar -x -C "$1"
		for name in proxy gateway; do
			CGO_ENABLED=0 go build -C "$1" -buildvcs=false -trimpath -ldflags "-s -w" -o "$2/older-$name" ./cmd/$name
		done`, "sh", source, bin).CombinedOutput()
	return string(out), err
})

// After an upgrade, programs under an older proxy and agents with older commands go on: list, ask,
// type, wait, read the history and reclaim.
func TestOlderProgramsGoOnAfterAnUpgrade_Client(t *testing.T) {
	world.Clients(t)
	said, err := buildOlder()
	require.NoError(t, err, said)
	if said != "" {
		t.Skip(said)
	}
	for name, c := range map[string]struct{ server, proxy, cli string }{ // a proxy without a server serves itself
		"an older proxy":             {"gateway", "older-proxy", "gateway"},
		"an older proxy that serves": {"", "older-proxy", "gateway"},
		"older agents":               {"gateway", "proxy", "older-gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.CLI = c.cli
			if c.server != "" {
				w.Serve(c.server)
			}
			s := w.Terminal(100, 24)
			s.Run(c.proxy + " --agent sh -c 'seq 100; exec listener heard'")
			id := w.Session()
			w.MustGateway("wait", id, "--text", "listening")
			require.Contains(t, w.MustGateway("read", id, "--history", "90"), "\n42\n")
			gives := func() {
				s.Wait("Ctrl+G")
				s.PressWhile("C-g", "Ctrl+G")
			}
			request := w.Start(w.CLI, "request", id, "--as", "codex", "--reason", "to test")
			gives()
			require.Zero(t, request.Wait().Status)
			w.WaitKeyboard(id, "codex (drive")
			w.MustGateway("send", id, "--as", "codex", "--text", "one", "up", "--enter")
			require.Equal(t, "one\x1b[A\r", w.WaitHeard("heard", "\r$"))
			w.MustGateway("wait", id, "--idle", "100ms")
			s.Press(`C-\`)
			w.WaitKeyboard(id, "user")
			require.Equal(t, 4, w.Gateway("send", id, "--as", "codex", "--text", "late").Status)

			a := w.Agent("claude", world.Eras[0])
			a.MustCall("terminal_list", nil, id)
			a.MustCall("terminal_read", world.Args{"view": "history", "lines": 90}, "\n42\n")
			asking := a.StartCall("terminal_request_control", world.Args{"reason": "to test"})
			gives()
			require.False(t, w.WaitAnswer(asking).Fails)
			a.MustCall("terminal_send", world.Args{"text": "two", "enter": true})
			w.WaitHeard("heard", "two\r$")
			waiting := a.StartCall("terminal_wait", world.Args{"for": "control", "timeout_ms": 50_000})
			w.MustGateway("reclaim", id)
			require.Contains(t, w.WaitAnswer(waiting).Text, "matched: reclaimed")
			w.WaitKeyboard(id, "user")
			a.MustFail("terminal_send", world.Args{"text": "late"}, "terminal_request_control")
			s.QuitProgram("\x04")
			require.Equal(t, "one\x1b[A\rtwo\r\x04", w.Content("heard"))
		})
	}
}
