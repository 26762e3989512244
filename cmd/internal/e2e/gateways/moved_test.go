package gateways_test

import (
	"os"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// busyThenAsks draws until the file go exists, and then reads three lines.
const busyThenAsks = `proxy --agent --grant drive bash -c 'until [ -e go ]; do printf .; sleep .1; done; read -r x; clear; echo "all $((40+2))"; read -r x; exit 3'`

// A wait in another session continues when the process that serves the gateway ends, whatever the
// wait is for.
func TestWaitsGoOnWhenTheGatewayMoves(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world.World, *world.Terminal, string){
		"it ends":           func(w *world.World, s *world.Terminal, _ string) { s.Press("C-d"); require.Zero(w.T, s.Status()) },
		"its window closes": func(_ *world.World, s *world.Terminal, _ string) { s.Close() },
		"it is killed":      func(w *world.World, _ *world.Terminal, proxy string) { w.Kill(proxy, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			server := w.Terminal(80, 24)
			proxy := server.RunListener("--agent --name server")
			w.Session()
			s := w.Terminal(80, 24)
			s.Run(busyThenAsks)
			s.Wait("....")
			w.IDs(2)
			id := ""
			for _, session := range w.Sessions() {
				if session.Name != "server" {
					id = session.SessionID
				}
			}
			a := w.Agent("claude", world.Eras[1])
			a.MustCall("terminal_request_control", world.Args{"terminal": id, "reason": "to wait"}, "granted")
			waits := map[string]<-chan world.Answer{}
			ask := func(what string, with world.Args) {
				with["terminal"], with["for"], with["timeout_ms"] = id, what, 240_000
				waits[what] = w.Agent(world.Extends, world.Eras[1]).StartCall("terminal_wait", with)
			}
			ask("text", world.Args{"value": "all 42"})
			ask("regex", world.Args{"value": "all 4[2]", "stop": []string{"never"}})
			ask("gone", world.Args{"value": "...."})
			ask("idle", world.Args{"value": "1500ms"})
			ask("waiting", world.Args{})
			ask("exit", world.Args{})
			sent := a.StartCall("terminal_send", world.Args{"terminal": id, "text": "x", "wait_for": "text", "value": "all 42", "timeout_ms": 240_000})
			control := a.StartCall("terminal_wait", world.Args{"terminal": id, "for": "control", "timeout_ms": 240_000})
			lines := map[string]*world.Running{"--text=all 42": nil, "--idle=1500ms": nil, "--waiting": nil, "--exit": nil}
			for flag := range lines {
				lines[flag] = w.Start("gateway", "wait", id, flag, "--timeout", "5m")
			}
			c := w.Caller()
			c.WaitPending(len(waits) + len(lines) + 2)

			end(w, server, proxy)
			w.WaitGone(proxy)
			w.WaitListed(id)
			require.NoError(t, os.WriteFile(w.Path("go"), nil, 0o600))
			require.Contains(t, w.WaitAnswer(waits["waiting"]).Text, "matched")
			require.Contains(t, w.WaitAnswer(waits["idle"]).Text, "matched")
			require.Zero(t, lines["--waiting"].Wait().Status)
			require.Zero(t, lines["--idle=1500ms"].Wait().Status)
			require.Contains(t, w.WaitAnswer(control).Text, "matched: link")
			s.Typed("\n")
			for _, what := range []string{"text", "regex", "gone"} {
				require.Contains(t, w.WaitAnswer(waits[what]).Text, "matched")
			}
			require.Contains(t, w.WaitAnswer(sent).Text, "all 42")
			require.Zero(t, lines["--text=all 42"].Wait().Status)
			s.Typed("\n")
			require.Contains(t, w.WaitAnswer(waits["exit"]).Text, "exited 3")
			require.Zero(t, lines["--exit"].Wait().Status)
			require.Equal(t, 3, s.Status())
		})
	}
}
