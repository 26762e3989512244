package e2e_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
	"terminalproxy/protocol"
)

// serveAnswers serves a model that gives these answers, one for each prompt. prompts returns the
// prompts that the model received.
func (w *world) serveAnswers(answers ...string) (prompts func() []string, url string) {
	var mu sync.Mutex
	var asked []string
	url = w.model(func(_ context.Context, r fakemodel.Request) fakemodel.Turn {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Prompt)
		if len(asked) > len(answers) {
			return fakemodel.Turn{Say: "NO MORE ANSWERS"}
		}
		return fakemodel.Turn{Say: "ANSWER " + answers[len(asked)-1]}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}, url
}

// Real agents, each in a terminal without a user: the model receives exactly what was typed, once.
func TestTypingLandsInTheAgentsPrompts(t *testing.T) {
	for _, p := range codingAgents {
		t.Run(p.name, func(t *testing.T) {
			bin := fromNpm(t, p.name)
			w := newWorld(t)
			prompts, url := w.serveAnswers("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX")
			r := w.prepare("gateway", append([]string{"run", "--cols", "100", "--rows", "40", "--", bin}, p.prompt...)...)
			r.cmd.Env = append(r.cmd.Env, p.setUp(w, url)...)
			r.run()
			id := w.session()
			t.Cleanup(func() { w.gateway("close", id); r.wait() })
			w.mustGateway("wait", id, "--regex", p.ready, "--timeout", "5m")
			w.mustGateway("wait", id, "--idle", "500ms", "--timeout", "5m")
			send := func(args ...string) {
				t.Helper()
				got := w.gateway(append([]string{"send", id, "--timeout", "5m"}, args...)...)
				require.Zero(t, got.status, "%s\n%s%s", strings.Join(args, " "), got.err, w.gateway("read", id).out)
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
			send("--paste", w.write("pasted", "the last\nof all"), "--enter", "--until", "text=ANSWER FOUR")
			// A burst of keys, and a line that some programs take seconds to draw: the program must
			// not take Enter for a part of either.
			send("k", "e", "y", "s", "enter", "--until", "text=ANSWER FIVE")
			long := strings.Repeat("more ", 140) + "end"
			send("--text", long, "--enter", "--until", "text=ANSWER SIX")
			want := []string{"say hello: " + strange, lines, "one\ntwo\nthree", "the last\nof all", "keys", long}
			got := prompts()
			for i := range got {
				got[i] = regexp.MustCompile(p.adds).ReplaceAllString(got[i], "")
			}
			require.Equal(t, want, got)
		})
	}
}

// A coding agent always listens to its terminal. While its model is silent, it is not reported as
// waiting; afterwards the wait is a guess.
func TestCodingAgentsWaitByAGuess(t *testing.T) {
	const guess = "waiting (guess: event-loop)"
	for _, p := range codingAgents {
		t.Run(p.name, func(t *testing.T) {
			bin := fromNpm(t, p.name)
			w := newWorld(t)
			asked, answer := make(chan struct{}, 100), make(chan struct{})
			url := w.model(func(ctx context.Context, r fakemodel.Request) fakemodel.Turn {
				asked <- struct{}{}
				select {
				case <-answer:
				case <-ctx.Done():
				}
				return fakemodel.Turn{Say: "ANSWER " + r.Prompt}
			})
			r := w.prepare("gateway", append([]string{"run", "--cols", "100", "--rows", "40", "--", bin}, p.prompt...)...)
			r.cmd.Env = append(r.cmd.Env, p.setUp(w, url)...)
			r.run()
			id := w.session()
			t.Cleanup(func() { w.gateway("close", id); r.wait() })
			w.mustGateway("wait", id, "--regex", p.ready, "--timeout", "5m")
			waits := func(limit string) string {
				var got protocol.WaitResult
				require.NoError(t, json.Unmarshal([]byte(w.gateway("wait", id, "--waiting", "--json", "--timeout", limit).out), &got))
				return got.Matched
			}
			require.Equal(t, guess, waits("5m"))
			sends := w.prepare("gateway", "send", id, "--text", "say hello", "--enter", "--timeout", "5m")
			sends.run() // the agent draws that it works until its model has answered
			<-asked
			require.Empty(t, waits("3s"), "the model is silent")
			close(answer)
			require.Zero(t, sends.wait().status)
			w.mustGateway("wait", id, "--text", "ANSWER", "--timeout", "5m")
			require.Equal(t, guess, waits("5m"))
		})
	}
}
