package e2e_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// startTwoSessions opens a first and a second session, and returns the first one's proxy, which
// serves the gateway for both.
func startTwoSessions(t *testing.T, w *world) (first, second *terminal, proxy string, ids map[string]string) {
	t.Helper()
	first, second = w.terminal(100, 24), w.terminal(100, 24)
	first.run(`proxy --agent --name first sh -c 'echo proxy=$PPID; exec cat'`)
	proxy = aboveLeader(first.match(`proxy=(\d+)`))
	w.session()
	second.run("proxy --agent --name second bash --noprofile --rcfile bashrc -i")
	w.ids(2)
	second.typed("echo $((1+1)) shells\n")
	second.wait("2 shells") // a prompt still to come would be a change later
	ids = make(map[string]string)
	for _, s := range w.sessions() {
		ids[s.Name] = s.SessionID
	}
	return first, second, proxy, ids
}

// waitListed waits until a session is listed as running.
func (w *world) waitListed(id string) {
	w.t.Helper()
	var last string
	w.until(func() bool {
		got := w.gateway("ls")
		last = got.out + got.err
		for line := range strings.Lines(got.out) {
			if strings.HasPrefix(line, id+" ") && strings.Contains(line, protocol.StateRunning) {
				return true
			}
		}
		return false
	}, func() string { return id + " in\n" + last })
}

func TestAnotherTakesOverWhenTheServingProcessEnds(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*world, *terminal, string){
		"by itself": func(w *world, s *terminal, _ string) {
			s.press("C-d")
			require.Zero(w.t, s.status())
		},
		"killed":            func(w *world, _ *terminal, proxy string) { w.kill(proxy, syscall.SIGKILL) },
		"its window closes": func(_ *world, s *terminal, _ string) { s.close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first, second, proxy, ids := startTwoSessions(t, w)
			a := w.agent("claude", eras[1])
			require.Contains(t, a.mustCall("terminal_list", nil), ids["first"])
			before := second.colours()
			end(w, first, proxy)
			w.waitGone(proxy)
			w.waitListed(ids["second"])
			require.Equal(t, before, second.colours(), "the user's program does not notice")
			second.typed("echo still $((40+2))\n")
			second.wait("still 42")
			require.Contains(t, w.mustGateway("wait", ids["second"], "--text", "still 42"), "still 42")
			a.mustCall("terminal_wait", args{"terminal": ids["second"], "for": "text", "value": "still 42"}, "matched")
			asking := a.startCall("terminal_request_control", args{"terminal": ids["second"], "reason": "go on"})
			second.answer("C-g")
			require.False(t, w.waitAnswer(asking).fails)
			a.mustCall("terminal_send", args{"terminal": ids["second"], "text": "echo $((6*7)) by an agent", "enter": true, "wait_for": "text", "value": "42 by an agent"}, "matched")
		})
	}
}

func TestTheAgentsServerServesAndHandsOver(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[0])
	a.mustCall("terminal_list", nil, "there are no terminals") // it serves now
	s := w.terminal(100, 24)
	s.run("proxy --agent cat")
	id := w.session()
	a.mustCall("terminal_list", nil, id)
	require.NoError(t, a.session.Close())
	s.typed("after the agent\n")
	w.waitListed(id)
	require.Contains(t, w.mustGateway("wait", id, "--text", "after the agent"), "after the agent")
	s.press("C-d")
	require.Zero(t, s.status())
}

func TestAGrantDoesNotOutliveTheLink(t *testing.T) {
	w := newWorld(t)
	_, second, proxy, ids := startTwoSessions(t, w)
	second.grantControl(ids["second"], "--reason", "drive", "--as", "codex")
	second.waitTitle("[codex drives]")
	w.kill(proxy, syscall.SIGKILL)
	w.waitGone(proxy)
	second.waitTitle("[observed]")
	w.waitListed(ids["second"])
	require.Equal(t, 4, w.gateway("send", ids["second"], "--as", "codex", "--text", "x").status)
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Mkdir(w.run(), 0o700))
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(w.run(), "gateway.sock"), Net: "unix"})
	require.NoError(t, err)
	ln.SetUnlinkOnClose(false)
	require.NoError(t, ln.Close())
	got := w.gateway("ls")
	got.mustFail(t, 5, "hint: ")
	s := w.terminal(100, 24)
	s.run("proxy --agent cat")
	id := w.session()
	info, err := os.Lstat(filepath.Join(w.run(), "gateway.sock"))
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())
	s.typed("served anew\n")
	require.Contains(t, w.mustGateway("wait", id, "--text", "served anew"), "served anew")
}

func TestADirectoryThatWillNotDo(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	w.write("file", "")
	for name, mode := range map[string]os.FileMode{"open": 0o755, "readonly": 0o500} {
		require.NoError(t, os.Mkdir(w.path(name), mode))
		require.NoError(t, os.Chmod(w.path(name), mode))
	}
	require.NoError(t, os.Symlink(w.path("open"), w.path("link")))
	tests := []struct{ dir, want string }{
		{w.path("open"), "chmod 700 "},
		{w.path("readonly"), "chmod 700 "},
		{w.path("link"), "is a symbolic link"},
		{w.path("file"), "is not a directory"},
		{w.path("no/such"), "set TERMINALPROXY_DIR to a directory of yours"},
		{w.path(strings.Repeat("long", 30)), "set TERMINALPROXY_DIR to a shorter directory"},
	}
	for _, tt := range tests {
		if strings.Contains(tt.want, "shorter") {
			// The program runs, agents do not see it, and the line says why.
			s.run("TERMINALPROXY_DIR=" + tt.dir + " proxy --agent cat")
			s.wait("agents cannot see this session")
			s.press("C-d")
			require.Zero(t, s.status())
			continue
		}
		screen, status := s.runToEnd("TERMINALPROXY_DIR=" + tt.dir + " proxy --agent true")
		require.Equal(t, 125, status, screen)
		require.Contains(t, unwrapped(screen), tt.want)
		got := w.do("env", "TERMINALPROXY_DIR="+tt.dir, "gateway", "ls")
		require.NotZero(t, got.status)
		require.Contains(t, got.err, "gateway: ")
		_, status = s.runToEnd("TERMINALPROXY_DIR=" + tt.dir + " proxy true")
		require.Zero(t, status, "a plain session needs no directory")
	}
}

// unwrapped joins the rows of a screen on which a long line is wrapped.
func unwrapped(screen string) string { return strings.ReplaceAll(screen, "\n", "") }

// server is `gateway serve`.
type server struct {
	*running
	url string
}

// serve starts a gateway on a free port, and waits until the gateway prints its address.
func (w *world) serve(command string, flags ...string) *server {
	w.t.Helper()
	s := &server{running: w.start(command, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)}
	w.t.Cleanup(func() { _ = s.cmd.Process.Signal(syscall.SIGTERM) })
	w.until(func() bool {
		first, _, whole := strings.Cut(s.out.String(), "\n")
		s.url = strings.TrimPrefix(first, "listening on ")
		return whole
	}, s.err.String)
	return s
}

// postPrompt sends a prompt to a conversation over HTTP, with an owner's token.
func (s *server) postPrompt(owner, id, text string) (status int, body string) {
	s.w.t.Helper()
	url := strings.Replace(s.url, "ws", "http", 1) + "/v1/sessions/" + id + "/chat/send"
	ask, err := http.NewRequestWithContext(s.w.ctx, http.MethodPost, url, strings.NewReader(`{"text":"`+text+`"}`))
	require.NoError(s.w.t, err)
	ask.Header.Set("Authorization", "Bearer "+owner)
	ask.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(ask)
	require.NoError(s.w.t, err)
	defer got.Body.Close()
	answer, err := io.ReadAll(got.Body)
	require.NoError(s.w.t, err)
	return got.StatusCode, string(answer)
}

// token makes a token and writes it to a file.
func (w *world) token(name, role string) string {
	w.t.Helper()
	w.write(name, w.mustGateway("token", "create", name, "--role", role))
	return w.path(name)
}

func TestGatewayServeTakesTokens(t *testing.T) {
	w := newWorld(t)
	server := w.serve("gateway")
	require.Regexp(t, `^ws://127\.0\.0\.1:\d+$`, server.url)
	proxyToken, agentToken := w.token("p", "proxy"), w.token("a", "agent")
	s := w.terminal(100, 24)
	s.run("PROXY_TOKEN_FILE=" + proxyToken + " proxy --agent --gateway " + server.url + ` sh -c 'echo token=$PROXY_TOKEN_FILE.; exec cat'`)
	s.wait("token=.") // the program does not see the token
	remote := func(token string, more ...string) result {
		return w.gateway(append(more, "--gateway", server.url, "--token-file", token)...)
	}
	id := w.session("--gateway", server.url, "--token-file", agentToken)

	got := w.gateway("ls", "--gateway", server.url)
	got.mustFail(t, 4, "token")

	asking := w.start("gateway", "request", id, "--reason", "from afar", "--gateway", server.url, "--token-file", agentToken)
	s.answer("C-g")
	got = asking.wait()
	require.Zero(t, got.status, got.err)
	require.Zero(t, remote(agentToken, "send", id, "--text", "over TCP", "--enter").status)
	s.wait("over TCP")
	a := w.agent("claude", eras[1], "--gateway", server.url, "--token-file", agentToken)
	a.mustCall("terminal_read", nil, "over TCP")

	require.Zero(t, w.gateway("token", "revoke", "a").status)
	require.Equal(t, 4, remote(agentToken, "ls").status, "a revoked token")
	require.NoError(t, server.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, server.wait().status)
	s.typed("the user goes on\n")
	s.wait("the user goes on")
	s.press("C-d")
	require.Zero(t, s.status())
}

func TestAGatewayThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, "vim")
	ln, err := net.Listen("tcp", "127.0.0.1:0") // closed at once, so that the address refuses connections
	require.NoError(t, err)
	url := "ws://" + ln.Addr().String()
	require.NoError(t, ln.Close())
	s := w.terminal(100, 24)
	s.run("proxy --agent --gateway " + url + " vim -u NONE -n notes.txt")
	s.wait("agents cannot see this session")
	s.typed("iwritten all the same")
	s.press("Escape")
	s.quitProgram(":wq\n")
	require.Equal(t, "written all the same\n", w.content("notes.txt"))
	got := w.gateway("ls", "--gateway", url)
	got.mustFail(t, 5, "no gateway answers")
}

// stopUntilEnd stops a process until the test ends.
func (w *world) stopUntilEnd(pid string) {
	w.t.Helper()
	w.kill(pid, syscall.SIGSTOP)
	w.t.Cleanup(func() { w.kill(pid, syscall.SIGCONT) })
}

func TestAnAgentThatHangsCostsTheUserNothing(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	id := s.runBash("")
	a := w.agent("claude", eras[0])
	a.obtainGrant(s, "drive")
	s.waitTitle("[claude drives]")
	w.stopUntilEnd(strconv.Itoa(a.cmd.Process.Pid))
	s.typed("seq 1 200000 | tail -n 150000; echo all of $((100+50)) thousand\n")
	s.wait("all of 150 thousand")
	s.press(`C-\`)
	s.waitShown("the keyboard is yours: claude is stopped")
	require.Contains(t, w.mustGateway("wait", id, "--text", "all of 150 thousand"), "keyboard: user")
}

// R11: neither the user's keys nor the reclaim key wait for a gateway.
func TestAGatewayThatHangsCostsTheUserNothingR11(t *testing.T) {
	w := newWorld(t)
	_, second, proxy, ids := startTwoSessions(t, w)
	second.grantControl(ids["second"], "--reason", "drive", "--as", "codex")
	second.waitTitle("[codex drives]")
	w.stopUntilEnd(proxy)
	second.typed("seq 1 100000 | tail -n 50000; echo all of $((20+30)) thousand\n")
	second.wait("all of 50 thousand")
	second.press(`C-\`)
	second.waitShown("the keyboard is yours: codex is stopped")
	second.waitTitle("[observed]")
	second.typed("exit 3\n")
	require.Equal(t, 3, second.status(), "nor does the end wait")
}

func TestEndedSessionsStayReadable(t *testing.T) {
	w := newWorld(t)
	server := w.serve("gateway")
	s := w.terminal(100, 24)
	s.run(`proxy --agent bash -c 'echo "last words"; read line; exit 3'`)
	id := w.session()
	s.typed("\n")
	require.Equal(t, 3, s.status())
	w.until(func() bool { return strings.Contains(w.gateway("ls").out, "exited 3") }, func() string { return w.gateway("ls").out })
	require.Contains(t, w.mustGateway("read", id), "last words")
	require.Contains(t, w.mustGateway("wait", id, "--exit"), "exited 3")
	got := w.gateway("send", id, "--text", "x")
	got.mustFail(t, 1, "ended with exit status 3")
	require.NoError(t, server.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, server.wait().status)
}
