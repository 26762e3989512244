package gateways_test

import (
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// startTwoSessions opens a first and a second session, and returns the first one's proxy, which
// serves the gateway for both.
func startTwoSessions(t *testing.T, w *world.World) (first, second *world.Terminal, proxy string, ids map[string]string) {
	t.Helper()
	first, second = w.Terminal(100, 24), w.Terminal(100, 24)
	first.Run(`proxy --agent --name first sh -c 'echo proxy=$PPID; exec cat'`)
	proxy = world.AboveLeader(first.Match(`proxy=(\d+)`))
	w.Session()
	second.Run("proxy --agent --name second bash --noprofile --rcfile bashrc -i")
	w.IDs(2)
	second.Typed("echo $((1+1)) shells\n")
	second.Wait("2 shells") // a prompt still to come would be a change later
	ids = make(map[string]string)
	for _, s := range w.Sessions() {
		ids[s.Name] = s.SessionID
	}
	return first, second, proxy, ids
}

func TestTheAgentsServerServesAndHandsOver(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[0])
	tools, err := a.Session.ListTools(w.Ctx, nil)
	require.NoError(t, err)
	require.NotEmpty(t, tools.Tools)
	require.NoDirExists(t, w.Run(), "a client that only looks at the tools starts nothing")
	a.MustCall("terminal_list", nil, "there are no terminals") // it serves now
	s := w.Terminal(100, 24)
	s.Run("proxy --agent cat")
	id := w.Session()
	a.MustCall("terminal_list", nil, id)
	require.NoError(t, a.Session.Close())
	s.Typed("after the agent\n")
	w.WaitListed(id)
	require.Contains(t, w.MustGateway("wait", id, "--text", "after the agent"), "after the agent")
	s.Press("C-d")
	require.Zero(t, s.Status())
}

func TestGatewayServeTakesTokens(t *testing.T) {
	w := world.New(t)
	server := w.Serve("gateway")
	require.Regexp(t, `^ws://127\.0\.0\.1:\d+$`, server.URL)
	proxyToken, agentToken := w.Token("p", "proxy"), w.Token("a", "agent")
	s := w.Terminal(100, 24)
	s.Run("PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent --gateway " + server.URL + ` sh -c 'echo token=$PROXY_TOKEN_FILE.; exec cat'`)
	s.Wait("token=.") // the program does not see the token
	remote := func(token string, more ...string) world.Result {
		return w.Gateway(append(more, "--gateway", server.URL, "--token-file", token)...)
	}
	id := w.Session("--gateway", server.URL, "--token-file", agentToken)

	got := w.Gateway("ls", "--gateway", server.URL)
	got.MustFail(t, 4, "token")

	asking := w.Start("gateway", "request", id, "--reason", "from afar", "--gateway", server.URL, "--token-file", agentToken)
	s.Answer("C-g")
	got = asking.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Zero(t, remote(agentToken, "send", id, "--text", "over TCP", "--enter").Status)
	s.Wait("over TCP")
	a := w.Agent("claude", world.Eras[1], "--gateway", server.URL, "--token-file", agentToken)
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "over TCP")

	require.Zero(t, w.Gateway("token", "revoke", "a").Status)
	require.Equal(t, 4, remote(agentToken, "ls").Status, "a revoked token")
	require.NoError(t, server.Cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, server.Wait().Status)
	s.Typed("the user goes on\n")
	s.Wait("the user goes on")
	s.Press("C-d")
	require.Zero(t, s.Status())
}

// stopUntilEnd stops a process until the test ends.
func stopUntilEnd(w *world.World, pid string) {
	w.T.Helper()
	w.Kill(pid, syscall.SIGSTOP)
	w.T.Cleanup(func() { w.Kill(pid, syscall.SIGCONT) })
}

// R11: neither the user's keys nor the reclaim key wait for a gateway.
func TestAGatewayThatHangsCostsTheUserNothingR11(t *testing.T) {
	w := world.New(t)
	_, second, proxy, ids := startTwoSessions(t, w)
	second.GrantControl(ids["second"], "--reason", "drive", "--as", "codex")
	second.WaitTitle("[codex drives]")
	stopUntilEnd(w, proxy)
	second.Typed("seq 1 100000 | tail -n 50000; echo all of $((20+30)) thousand\n")
	second.Wait("all of 50 thousand")
	second.Press(`C-\`)
	second.WaitShown("the keyboard is yours: codex is stopped")
	second.WaitTitle("[observed]")
	second.Typed("exit 3\n")
	require.Equal(t, 3, second.Status(), "nor does the end wait")
}

func TestEndedSessionsStayReadable(t *testing.T) {
	w := world.New(t)
	server := w.Serve("gateway")
	s := w.Terminal(100, 24)
	s.Run(`proxy --agent bash -c 'echo "last words"; read line; exit 3'`)
	id := w.Session()
	s.Typed("\n")
	require.Equal(t, 3, s.Status())
	w.MustGateway("wait", id, "--exit")
	require.Contains(t, w.MustGateway("ls"), "exited 3")
	world.WaitRead(w, id, "last words")
	require.Contains(t, w.MustGateway("wait", id, "--exit"), "exited 3")
	got := w.Gateway("send", id, "--text", "x")
	got.MustFail(t, 1, "ended with exit status 3")
	require.NoError(t, server.Cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, server.Wait().Status)
}
