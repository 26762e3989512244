package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Two gateways that do not know each other are killed and started in turn. The session and its
// agent move to the other gateway and keep their ids. The grant does not move, and nothing is typed
// twice.
func TestASessionGoesToTheNextGateway(t *testing.T) {
	w := newWorld(t)
	servers := []*server{w.serve("gateway"), w.serve("gateway")}
	list := servers[0].url + "," + servers[1].url
	proxyToken, at := w.token("p", "proxy"), []string{"--gateway", list, "--token-file", w.token("claude", "agent")}
	s := w.terminal(100, 24)
	s.run("PROXY_GATEWAY=" + list + " PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent " + repeats)
	s.wait("ready")
	id := w.session(at...)
	claude, patient := w.agent("claude", eras[1], at...), w.agent("patient", eras[0], at...)
	waits := patient.startCall("terminal_wait", args{"terminal": id, "for": "text", "value": "heard: last", "timeout_ms": 50_000})
	take := func() {
		given := claude.startCall("terminal_request_control", args{"terminal": id, "reason": "to type"})
		s.answer("C-g")
		require.Contains(t, w.waitAnswer(given).text, "granted")
	}
	take()
	for i, word := range []string{"one", "two", "last"} {
		claude.mustCall("terminal_send", args{"terminal": id, "text": word, "enter": true, "wait_for": "text", "value": "heard: " + word})
		if word == "last" {
			break
		}
		from, to := servers[i%2], servers[(i+1)%2]
		require.NoError(t, from.cmd.Process.Signal(syscall.SIGKILL))
		from.wait()
		s.wait("agents see this session at " + to.url + " now, as a new one")
		s.waitGone("drives")
		claude.mustFail("terminal_send", args{"terminal": id, "text": "no more"}, "your grant ended when the connection was lost")
		require.Equal(t, id, w.session("--gateway", to.url, at[2], at[3]))
		holder := ""
		w.until(func() bool { // the first screen sent is an older one
			for _, l := range w.sessions("--gateway", to.url, at[2], at[3]) {
				holder = l.Keyboard.Holder
			}
			return holder == protocol.HolderUser
		}, func() string { return "the keyboard is said to be with " + holder })
		servers[i%2] = w.serve("gateway", "--listen", strings.TrimPrefix(from.url, "ws://"))
		take()
	}
	require.Contains(t, w.waitAnswer(waits).text, "matched")
	require.Equal(t, "one\ntwo\nlast\n", w.content("heard"))

	bad := w.gateway("ls", "--gateway", servers[0].url+",127.0.0.1:7117", at[2], at[3])
	bad.mustFail(t, 2, `number 2 of 2: gateway address "127.0.0.1:7117" is not understood`)
	refused := w.gateway("ls", "--gateway", list, at[2], proxyToken)
	refused.mustFail(t, 4, servers[0].url)
	doctor := w.gateway("doctor", at[0], at[1], at[2], at[3]).out
	for _, server := range servers {
		require.Contains(t, doctor, "sessions of "+server.url)
	}
	s.press("C-d")
	require.Zero(t, s.status())
}
