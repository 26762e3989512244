package e2e_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// busyThenAsks draws until the file go exists, and then reads three lines.
const busyThenAsks = `proxy --agent --grant drive bash -c 'until [ -e go ]; do printf .; sleep .1; done; read -r x; clear; echo "all $((40+2))"; read -r x; exit 3'`

// A wait in another session continues when the process that serves the gateway ends, whatever the
// wait is for.
func TestWaitsGoOnWhenTheGatewayMoves(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world, *terminal, string){
		"it ends":      func(w *world, s *terminal, _ string) { s.press("C-d"); require.Zero(w.t, s.status()) },
		"it is killed": func(w *world, _ *terminal, proxy string) { w.kill(proxy, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.terminal(80, 24)
			proxy := server.runListener("--agent --name server")
			w.session()
			s := w.terminal(80, 24)
			s.run(busyThenAsks)
			s.wait("....")
			w.ids(2)
			id := ""
			for _, session := range w.sessions() {
				if session.Name != "server" {
					id = session.SessionID
				}
			}
			a := w.agent("claude", eras[1])
			a.mustCall("terminal_request_control", args{"terminal": id, "reason": "to wait"}, "granted")
			waits := map[string]<-chan answer{}
			ask := func(what string, with args) {
				with["terminal"], with["for"], with["timeout_ms"] = id, what, 50_000
				waits[what] = w.agent(what, eras[1]).startCall("terminal_wait", with)
			}
			ask("text", args{"value": "all 42"})
			ask("regex", args{"value": "all 4[2]", "stop": []string{"never"}})
			ask("gone", args{"value": "...."})
			ask("idle", args{"value": "1500ms"})
			ask("waiting", args{})
			ask("exit", args{})
			sent := a.startCall("terminal_send", args{"terminal": id, "text": "x", "wait_for": "text", "value": "all 42", "timeout_ms": 50_000})
			control := a.startCall("terminal_wait", args{"terminal": id, "for": "control", "timeout_ms": 50_000})
			lines := map[string]*running{"--text=all 42": nil, "--idle=1500ms": nil, "--waiting": nil, "--exit": nil}
			for flag := range lines {
				lines[flag] = w.start("gateway", "wait", id, flag, "--timeout", "50s")
			}
			c := w.caller()
			c.waitPending(len(waits) + len(lines) + 2)

			end(w, server, proxy)
			w.waitGone(proxy)
			w.waitListed(id)
			require.NoError(t, os.WriteFile(w.path("go"), nil, 0o600))
			require.Contains(t, w.waitAnswer(waits["waiting"]).text, "matched")
			require.Contains(t, w.waitAnswer(waits["idle"]).text, "matched")
			require.Zero(t, lines["--waiting"].wait().status)
			require.Zero(t, lines["--idle=1500ms"].wait().status)
			require.Contains(t, w.waitAnswer(control).text, "matched: link")
			s.typed("\n")
			for _, what := range []string{"text", "regex", "gone"} {
				require.Contains(t, w.waitAnswer(waits[what]).text, "matched")
			}
			require.Contains(t, w.waitAnswer(sent).text, "all 42")
			require.Zero(t, lines["--text=all 42"].wait().status)
			s.typed("\n")
			require.Contains(t, w.waitAnswer(waits["exit"]).text, "exited 3")
			require.Zero(t, lines["--exit"].wait().status)
			require.Equal(t, 3, s.status())
		})
	}
}
