package agents_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// startAgent runs a real agent in a terminal without a user until its prompt.
func startAgent(w *world.World, p world.CodingAgent, bin, model string) (id string) {
	w.T.Helper()
	r := w.Prepare("gateway", append([]string{"run", "--cols", "100", "--rows", "40", "--", bin}, p.Prompt...)...)
	r.Cmd.Env = append(r.Cmd.Env, p.SetUp(w, model)...)
	r.Run()
	id = w.Session()
	w.T.Cleanup(func() { w.Gateway("close", id); r.Wait() })
	w.MustGateway("wait", id, "--regex", p.Ready, "--timeout", "5m")
	return id
}

// The model receives exactly what was typed, once.
func TestTypingLandsInTheAgentsPrompts_Client(t *testing.T) {
	for _, p := range world.CodingAgents {
		t.Run(p.Name, func(t *testing.T) {
			bin := world.FromNpm(t, p.Name)
			w := world.New(t)
			prompts, url := w.ServeAnswers("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX")
			id := startAgent(w, p, bin, url)
			w.MustGateway("wait", id, "--idle", "500ms", "--timeout", "5m")
			send := func(args ...string) {
				t.Helper()
				got := w.Gateway(append([]string{"send", id, "--timeout", "5m"}, args...)...)
				require.Zero(t, got.Status, "%s\n%s%s", strings.Join(args, " "), got.Err, w.Gateway("read", id).Out)
			}
			const lines = "first line\n  second: “世界”\nthird ä" // Claude Code turns a longer paste into an attachment
			send("--text", "say hello: "+strange, "--enter", "--until", "text=ANSWER ONE")
			send("--text", lines, "--enter", "--until", "text=ANSWER TWO")
			send("--text", "not this", "ctrl-u")
			send("--text", "one", "shift-enter")
			send("--text", "two!", "backspace", "alt-enter")
			send("--text", "three", "--enter", "--until", "text=ANSWER THREE")
			send("--text", "/")
			send("esc")
			send("backspace")
			send("--paste", w.Write("pasted", "the last\nof all"), "--enter", "--until", "text=ANSWER FOUR")
			// A burst of keys, and a line that some programs take seconds to draw: the program must
			// not take Enter for a part of either.
			send("k", "e", "y", "s", "enter", "--until", "text=ANSWER FIVE")
			long := strings.Repeat("more ", 140) + "end"
			send("--text", long, "--enter", "--until", "text=ANSWER SIX")
			want := []string{"say hello: " + strange, lines, "one\ntwo\nthree", "the last\nof all", "keys", long}
			got := prompts()
			for i := range got {
				got[i] = regexp.MustCompile(p.Adds).ReplaceAllString(got[i], "")
			}
			require.Equal(t, want, got)
		})
	}
}

// A coding agent always listens to its terminal. While its model is silent, it is not reported as
// waiting; afterwards the wait is a guess.
func TestCodingAgentsWaitByAGuess_Client(t *testing.T) {
	const guess = "waiting (guess: event-loop)"
	for _, p := range world.CodingAgents {
		t.Run(p.Name, func(t *testing.T) {
			bin := world.FromNpm(t, p.Name)
			w := world.New(t)
			asked, answer := make(chan struct{}, 100), make(chan struct{})
			id := startAgent(w, p, bin, w.Model(func(ctx context.Context, _ fakemodel.Request) fakemodel.Turn {
				asked <- struct{}{}
				select {
				case <-answer:
				case <-ctx.Done():
				}
				return fakemodel.Turn{Say: "ANSWER"}
			}))
			waits := func(limit string) string {
				return world.Reply[protocol.WaitResult](t, w.Gateway("wait", id, "--waiting", "--json", "--timeout", limit).Out).Matched
			}
			require.Equal(t, guess, waits("5m"))
			sends := w.Start("gateway", "send", id, "--text", "say hello", "--enter", "--timeout", "5m") // the agent draws that it works
			<-asked
			require.Empty(t, waits("3s"), "the model is silent")
			close(answer)
			require.Zero(t, sends.Wait().Status)
			w.MustGateway("wait", id, "--text", "ANSWER", "--timeout", "5m")
			require.Equal(t, guess, waits("5m"))
		})
	}
}
