package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// givenUp is an agent's call under way, and how to give it up.
type givenUp struct {
	name string
	asks func(w *world, id string) (giveUp func())
}

// waysToGiveUp are the ends of a request for the keyboard, through every interface: by its call or
// by its caller.
func waysToGiveUp() []givenUp {
	killed := func(signal syscall.Signal) func(w *world, id string) func() {
		return func(w *world, id string) func() {
			asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			return func() { require.NoError(w.t, asking.cmd.Process.Signal(signal)) }
		}
	}
	return []givenUp{
		{"gateway request, SIGINT", killed(syscall.SIGINT)},
		{"gateway request, SIGTERM", killed(syscall.SIGTERM)},
		{"gateway request, SIGHUP", killed(syscall.SIGHUP)},
		{"gateway request, SIGKILL", killed(syscall.SIGKILL)},
		{"an MCP client cancels the call", func(w *world, id string) func() {
			a := w.agent("codex", eras[0])
			ctx, cancel := context.WithCancel(w.ctx)
			go func() { // ends with cancel
				_, _ = a.session.CallTool(ctx, &mcp.CallToolParams{Name: "terminal_request_control", Arguments: args{"terminal": id, "reason": "to test"}})
			}()
			return cancel
		}},
		{"an MCP client cancels the wait for the answer", func(w *world, id string) func() {
			a := w.agent("codex", eras[0])
			a.mustCall("terminal_request_control", args{"terminal": id, "reason": "to test", "timeout_ms": 100}, "pending")
			ctx, cancel := context.WithCancel(w.ctx)
			go func() { // ends with cancel
				_, _ = a.session.CallTool(ctx, &mcp.CallToolParams{Name: "terminal_wait", Arguments: args{"terminal": id, "for": "control", "timeout_ms": 50000}})
			}()
			w.caller().waitPending(1)
			return cancel
		}},
		{"an MCP server is killed", func(w *world, id string) func() {
			a := w.agent("codex", eras[0])
			a.startCall("terminal_request_control", args{"terminal": id, "reason": "to test"})
			return func() { require.NoError(w.t, a.cmd.Process.Kill()) }
		}},
		{"an HTTP client goes away", func(w *world, id string) func() {
			ctx, cancel := context.WithCancel(w.ctx)
			c := w.caller()
			c.name = "codex"
			go func() { // ends with cancel
				if resp, err := c.ask(ctx, http.MethodPost, "/v1/sessions/"+id+"/control/request?timeoutMs=600000", `{"level":"drive","reason":"to test"}`); err == nil {
					_ = resp.Body.Close()
				}
			}()
			return cancel
		}},
	}
}

// The question leaves the user's screen, which says so, and the audit log has it. Ctrl+G is the
// program's key again, and the next request of the same name asks anew.
func TestAQuestionDiesWithItsAsker(t *testing.T) {
	t.Parallel()
	for _, way := range waysToGiveUp() {
		t.Run(way.name, func(t *testing.T) {
			w, s, id := startListener(t, 100, 24, "--agent --record rec.cast")
			giveUp := way.asks(w, id)
			s.waitQuestion()
			giveUp()
			s.wait("codex no longer asks")
			require.False(t, s.hasQuestion())
			list := ""
			w.until(func() bool { list = w.mustGateway("ls"); return !strings.Contains(list, "asks") }, func() string { return list })
			s.press("C-g")
			require.Equal(t, "\x07", w.waitHeard("heard", "\x07"))
			w.waitKeyboard(id, "user")

			next := w.start("gateway", "request", id, "--as", "codex", "--reason", "another thing", "--level", "type", "--for", "1m")
			s.waitQuestion()
			require.Contains(t, s.bottom(), "asks to type for 1 min: “another thing”")
			s.answer("C-g")
			require.Contains(t, next.wait().out, "granted (type, ")
			s.quitProgram("\x04")
			require.Contains(t, w.mustGateway("audit", "show", "rec.cast"), "ends: withdrawn")
		})
	}
}

// A time limit gives nothing up: the question stays, and the agent that returns gets the answer.
func TestAQuestionOutlivesItsCallsTimeout(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent")
	got := w.gateway("request", id, "--as", "codex", "--reason", "to test", "--timeout", "1s")
	got.mustFail(t, 124, "the request stays open")
	require.True(t, s.hasQuestion())
	waiting := w.start("gateway", "wait", id, "--as", "codex", "--control")
	s.answer("C-g")
	require.Zero(t, waiting.wait().status)
	w.waitKeyboard(id, "codex (drive")
	s.quitProgram("\x04")
}

// A request with another reason, level or time replaces the previous question. That question's
// caller is told, and the user has to read the new one. A request that asks the same shares the
// answer.
func TestADifferentQuestionReplacesTheFirst(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent")
	ask := func(more ...string) *running {
		return w.start("gateway", append([]string{"request", id, "--as", "codex"}, more...)...)
	}
	before := ask("--reason", "to look", "--level", "type", "--for", "1m")
	s.wait("asks to type for 1 min: “to look”")
	for _, c := range []struct {
		asks []string
		says string
	}{
		{[]string{"--reason", "to look closer", "--level", "type", "--for", "1m"}, "asks to type for 1 min: “to look closer”"},
		{[]string{"--reason", "to look closer", "--level", "type", "--for", "2m"}, "asks to type for 2 min: “to look closer”"},
		{[]string{"--reason", "to look closer", "--level", "drive", "--for", "2m"}, "asks to drive for 2 min: “to look closer”"},
	} {
		next := ask(c.asks...)
		s.wait(c.says)
		before.wait().mustFail(t, 1, "a newer request of yours took its place")
		before = next
	}
	same := ask("--reason", "to look closer", "--for", "2m")
	w.until(func() bool { return strings.Count(w.mustGateway("ls"), "asks") == 1 }, func() string { return w.mustGateway("ls") })
	s.answer("C-g")
	require.Contains(t, before.wait().out, "granted (drive")
	require.Contains(t, same.wait().out, "granted (drive")
	s.quitProgram("\x04")
}

// An Enter that waits for the user is not typed if the call that sent it was given up.
func TestHeldKeysDieWithTheirCaller(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(100, 24)
			id := s.runBash("--grant type --record rec.cast")
			w.requestGrant(id, "--as", "codex", "--level", "type")
			sending := w.start("gateway", "send", id, "--as", "codex", "--text", "touch HIT", "--enter", "--timeout", "1m")
			s.wait("Ctrl+G sends it")
			require.NoError(t, sending.cmd.Process.Signal(signal))
			s.wait("codex no longer asks")
			s.waitGone("Ctrl+G sends it")
			s.press("C-g")
			w.waitKeyboard(id, "codex (type")
			s.press("C-u") // and no Ctrl+C, which would discard what follows it at once
			s.quitProgram("exit 0\n")
			require.NoFileExists(t, w.path("HIT"))
			require.Contains(t, w.mustGateway("audit", "show", "rec.cast"), "withdrawn")
		})
	}
}

// The rest of a long input is not typed if its call is given up.
func TestTypingStopsWithItsCall(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	// It reads a little at a time, so that the input is under way for a while.
	s.run("proxy --agent --grant drive --record rec.cast sh -c 'stty raw -echo; echo ready; until grep -q END heard 2>/dev/null; do dd bs=64 count=1 2>/dev/null >> heard; sleep 0.02; done'")
	s.wait("ready")
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	w.write("long", strings.Repeat("x", 40000))
	sending := w.start("sh", "-c", "exec gateway send "+id+" --as codex --timeout 1m --text \"$(cat long)\"")
	w.waitHeard("heard", "x{640}")
	require.NoError(t, sending.cmd.Process.Signal(syscall.SIGINT))
	sending.wait()
	audit := ""
	w.until(func() bool {
		audit = w.mustGateway("audit", "show", "rec.cast")
		return strings.Contains(audit, "withdrawn")
	}, func() string { return audit })
	w.mustGateway("send", id, "--as", "codex", "--timeout", "1m", "--text", "END")
	heard := w.waitHeard("heard", "END$")
	require.Less(t, len(heard), 40000, "all of it was typed")
	require.Regexp(t, "^x+END$", heard)
	require.Zero(t, s.status())
}

// After the gateway is lost, a living asker asks anew, and a dead one leaves nothing.
func TestAfterATakeoverAQuestionIsItsAskersOwn(t *testing.T) {
	t.Parallel()
	for _, lives := range []bool{true, false} {
		t.Run(map[bool]string{true: "it lives", false: "it dies, too"}[lives], func(t *testing.T) {
			w := newWorld(t)
			serving := w.serve("gateway")
			s := w.terminal(100, 24)
			s.runListener("--agent")
			id := w.session()
			asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			s.waitQuestion()
			if !lives {
				require.NoError(t, asking.cmd.Process.Kill())
			}
			require.NoError(t, serving.cmd.Process.Kill())
			serving.wait()
			if lives {
				w.until(func() bool { return strings.Contains(w.gateway("ls").out, "asks") }, func() string { return w.gateway("ls").out })
				s.answer("C-g")
				require.Contains(t, asking.wait().out, "granted (drive")
			} else {
				s.wait("codex no longer asks")
				w.session()
				s.press("C-g")
				require.Equal(t, "\x07", w.waitHeard("heard", "\x07"))
				w.waitKeyboard(id, "user")
			}
			s.quitProgram("\x04")
		})
	}
}
