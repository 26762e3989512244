package consent_test

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// waysToGiveUp are the ends of a request for the keyboard, by its call or by its caller. Each asks, and
// returns how to give the request up.
func waysToGiveUp() map[string]func(w *world.World, id string) (giveUp func()) {
	killed := func(signal syscall.Signal) func(w *world.World, id string) func() {
		return func(w *world.World, id string) func() {
			asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			return func() { require.NoError(w.T, asking.Cmd.Process.Signal(signal)) }
		}
	}
	return map[string]func(w *world.World, id string) func(){
		"gateway request, SIGINT":  killed(syscall.SIGINT),
		"gateway request, SIGKILL": killed(syscall.SIGKILL),
		"an MCP client cancels the call": func(w *world.World, id string) func() {
			a := w.Agent("codex", world.Eras[0])
			ctx, cancel := context.WithCancel(w.Ctx)
			go func() { // ends with cancel
				_, _ = a.Session.CallTool(ctx, &mcp.CallToolParams{Name: "terminal_request_control", Arguments: world.Args{"terminal": id, "reason": "to test"}})
			}()
			return cancel
		},
		"an HTTP client goes away": func(w *world.World, id string) func() {
			ctx, cancel := context.WithCancel(w.Ctx)
			c := w.Caller()
			c.Name = "codex"
			go func() { // ends with cancel
				if resp, err := c.Ask(ctx, http.MethodPost, "/v1/sessions/"+id+"/control/request?timeoutMs=600000", `{"level":"drive","reason":"to test"}`); err == nil {
					_ = resp.Body.Close()
				}
			}()
			return cancel
		},
	}
}

// The question leaves the user's screen, which says so, and the audit log has it. Ctrl+G is the
// program's key again, and the next request of the same name asks anew.
func TestAQuestionDiesWithItsAsker(t *testing.T) {
	t.Parallel()
	for name, ask := range waysToGiveUp() {
		t.Run(name, func(t *testing.T) {
			w, s, id := world.StartListener(t, 100, 24, "--agent --record rec.cast")
			giveUp := ask(w, id)
			s.WaitQuestion()
			giveUp()
			s.WaitShown("codex no longer asks")
			require.False(t, s.HasQuestion())
			list := ""
			w.Until(func() bool { list = w.MustGateway("ls"); return !strings.Contains(list, "asks") }, func() string { return list })
			s.Press("C-g")
			require.Equal(t, "\x07", w.WaitHeard("heard", "\x07"))
			w.WaitKeyboard(id, "user")

			next := w.Start("gateway", "request", id, "--as", "codex", "--reason", "another thing", "--level", "type", "--for", "1m")
			s.WaitQuestion()
			s.WaitBottom("asks to type for 1 min: “another thing”")
			s.Answer("C-g")
			require.Contains(t, next.Wait().Out, "granted (type, ")
			s.QuitProgram("\x04")
			require.Contains(t, w.MustGateway("audit", "show", "rec.cast"), "ends: withdrawn")
		})
	}
}

// A time limit gives nothing up: the question stays, and the agent that returns gets the answer.
func TestAQuestionOutlivesItsCallsTimeout(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent")
	got := w.Gateway("request", id, "--as", "codex", "--reason", "to test", "--timeout", "1s")
	got.MustFail(t, 124, "the request stays open")
	require.True(t, s.HasQuestion())
	waiting := w.Start("gateway", "wait", id, "--as", "codex", "--control")
	s.Answer("C-g")
	require.Zero(t, waiting.Wait().Status)
	w.WaitKeyboard(id, "codex (drive")
	s.QuitProgram("\x04")
}

// A request with another reason, level or time replaces the previous question. That question's
// caller is told, and the user has to read the new one. A request that asks the same shares the
// answer.
func TestADifferentQuestionReplacesTheFirst(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent")
	ask := func(more ...string) *world.Running {
		return w.Start("gateway", append([]string{"request", id, "--as", "codex"}, more...)...)
	}
	before := ask("--reason", "to look", "--level", "type", "--for", "1m")
	s.Wait("asks to type for 1 min: “to look”")
	for _, c := range []struct {
		asks []string
		says string
	}{
		{[]string{"--reason", "to look closer", "--level", "type", "--for", "1m"}, "asks to type for 1 min: “to look closer”"},
		{[]string{"--reason", "to look closer", "--level", "type", "--for", "2m"}, "asks to type for 2 min: “to look closer”"},
		{[]string{"--reason", "to look closer", "--level", "drive", "--for", "2m"}, "asks to drive for 2 min: “to look closer”"},
	} {
		next := ask(c.asks...)
		s.Wait(c.says)
		before.Wait().MustFail(t, 1, "a newer request of yours took its place")
		before = next
	}
	same := ask("--reason", "to look closer", "--for", "2m")
	w.Until(func() bool { return strings.Count(w.MustGateway("ls"), "asks") == 1 }, func() string { return w.MustGateway("ls") })
	s.Answer("C-g")
	require.Contains(t, before.Wait().Out, "granted (drive")
	require.Contains(t, same.Wait().Out, "granted (drive")
	s.QuitProgram("\x04")
}

// An Enter that waits for the user is not typed if the call that sent it was given up.
func TestHeldKeysDieWithTheirCaller(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	id := s.RunBash("--grant type --record rec.cast")
	w.RequestGrant(id, "--as", "codex", "--level", "type")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--text", "touch HIT", "--enter", "--timeout", "5m")
	s.Wait("Ctrl+G sends it")
	require.NoError(t, sending.Cmd.Process.Kill())
	s.WaitShown("codex no longer asks")
	s.WaitGone("Ctrl+G sends it")
	s.Press("C-g")
	w.WaitKeyboard(id, "codex (type")
	s.Press("C-u") // and no Ctrl+C, which would discard what follows it at once
	s.QuitProgram("exit 0\n")
	require.NoFileExists(t, w.Path("HIT"))
	require.Contains(t, w.MustGateway("audit", "show", "rec.cast"), "withdrawn")
}

// After the gateway is lost, a living asker asks anew, and a dead one leaves nothing.
func TestAfterATakeoverAQuestionIsItsAskersOwn(t *testing.T) {
	t.Parallel()
	for _, lives := range []bool{true, false} {
		t.Run(map[bool]string{true: "it lives", false: "it dies, too"}[lives], func(t *testing.T) {
			w := world.New(t)
			serving := w.Serve("gateway")
			s := w.Terminal(100, 24)
			s.RunListener("--agent")
			id := w.Session()
			asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			s.WaitQuestion()
			if !lives {
				require.NoError(t, asking.Cmd.Process.Kill())
			}
			require.NoError(t, serving.Cmd.Process.Kill())
			serving.Wait()
			if lives {
				w.Until(func() bool { return strings.Contains(w.Gateway("ls").Out, "asks") }, func() string { return w.Gateway("ls").Out })
				s.Answer("C-g")
				require.Contains(t, asking.Wait().Out, "granted (drive")
			} else {
				s.WaitShown("codex no longer asks")
				w.Session()
				s.Press("C-g")
				require.Equal(t, "\x07", w.WaitHeard("heard", "\x07"))
				w.WaitKeyboard(id, "user")
			}
			s.QuitProgram("\x04")
		})
	}
}
