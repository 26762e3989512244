package gateways_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// Two gateways that do not know each other are killed and started in turn. The session and its
// agent move to the other gateway and keep their ids. The grant does not move, and nothing is typed
// twice.
func TestASessionGoesToTheNextGateway(t *testing.T) {
	w := world.New(t)
	servers := []*world.Server{w.Serve("gateway"), w.Serve("gateway")}
	list := servers[0].URL + "," + servers[1].URL
	proxyToken, at := w.Token("p", "proxy"), []string{"--gateway", list, "--token-file", w.Token("claude", "agent")}
	s := w.Terminal(100, 24)
	s.Run("PROXY_GATEWAY=" + list + " PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent " + repeats)
	s.Wait("ready")
	id := w.Session(at...)
	claude, patient := w.Agent("claude", world.Eras[1], at...), w.Agent(world.Extends, world.Eras[0], at...)
	waits := patient.StartCall("terminal_wait", world.Args{"terminal": id, "for": "text", "value": "heard: last", "timeout_ms": 240_000})
	take := func() {
		given := claude.StartCall("terminal_request_control", world.Args{"terminal": id, "reason": "to type"})
		s.Answer("C-g")
		require.Contains(t, w.WaitAnswer(given).Text, "granted")
	}
	take()
	for i, word := range []string{"one", "two", "last"} {
		claude.MustCall("terminal_send", world.Args{"terminal": id, "text": word, "enter": true, "wait_for": "text", "value": "heard: " + word})
		if word == "last" {
			break
		}
		from, to := servers[i%2], servers[(i+1)%2]
		require.NoError(t, from.Cmd.Process.Signal(syscall.SIGKILL))
		from.Wait()
		s.WaitShown("agents see this session at " + to.URL + " now, as a new one")
		s.WaitGone("drives")
		claude.MustFail("terminal_send", world.Args{"terminal": id, "text": "no more"}, "your grant ended when the connection was lost")
		require.Equal(t, id, w.Session("--gateway", to.URL, at[2], at[3]))
		holder := ""
		w.Until(func() bool { // the first screen sent is an older one
			for _, l := range w.Sessions("--gateway", to.URL, at[2], at[3]) {
				holder = l.Keyboard.Holder
			}
			return holder == protocol.HolderUser
		}, func() string { return "the keyboard is said to be with " + holder })
		servers[i%2] = w.Serve("gateway", "--listen", strings.TrimPrefix(from.URL, "ws://"))
		take()
	}
	require.Contains(t, w.WaitAnswer(waits).Text, "matched")
	require.Equal(t, "one\ntwo\nlast\n", w.Content("heard"))

	bad := w.Gateway("ls", "--gateway", servers[0].URL+",127.0.0.1:7117", at[2], at[3])
	bad.MustFail(t, 2, `number 2 of 2: gateway address "127.0.0.1:7117" is not understood`)
	refused := w.Gateway("ls", "--gateway", list, at[2], proxyToken)
	refused.MustFail(t, 4, servers[0].URL)
	doctor := w.Gateway("doctor", "--verbose", at[0], at[1], at[2], at[3]).Out
	for _, server := range servers {
		require.Contains(t, doctor, "sessions of "+server.URL)
	}
	s.Press("C-d")
	require.Zero(t, s.Status())
}
