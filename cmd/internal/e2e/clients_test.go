package e2e_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// clients skips a test of programs that the other tests do without: agents from npm, terminals
// under X.
func clients(t *testing.T) {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
}

// fromNpm returns the path of a program that .ci/package.json names. CLIENTS_BIN can name another
// directory, and the variable of the program's upper-case name another file.
func fromNpm(t *testing.T, name string) string {
	t.Helper()
	clients(t)
	newest := ""
	if dir := os.Getenv("CLIENTS_BIN"); dir != "" {
		newest = filepath.Join(dir, name)
	}
	for _, path := range []string{os.Getenv(strings.ToUpper(name)), newest, filepath.Join("..", "..", "..", ".ci", "node_modules", ".bin", name)} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode().IsRegular() {
			path, err = filepath.Abs(path)
			require.NoError(t, err)
			return path
		}
	}
	t.Skipf("%s is not installed: npm install --prefix .ci, or name it in $%s", name, strings.ToUpper(name))
	return ""
}

// model serves a stand-in for a model until the test ends.
func (w *world) model(think fakemodel.Think) (url string) {
	server := httptest.NewServer(fakemodel.New(think))
	w.t.Cleanup(func() {
		server.CloseClientConnections() // an agent that a failed test left behind still waits for an answer
		server.Close()
	})
	return server.URL
}

// question is an agent's question to its model. Each is answered separately: an agent withdraws a
// question when its user says more, and asks anew; it would never read an answer to the first.
type question struct {
	fakemodel.Request
	ctx    context.Context //nolint:containedctx // ends when the agent withdraws the question
	answer chan fakemodel.Turn
}

// mind is a model that the test plays: it calls the agent's tools, and reads what the agent reports
// of their answers.
type mind struct {
	w     *world
	asked chan *question
	open  *question // the question that next returned last
	agent *running  // set before the first call
	// thinking counts the questions that the agent waits with.
	thinking atomic.Int32

	mu   sync.Mutex
	read []string // the text of every question
}

func (w *world) mind() (m *mind, url string) {
	m = &mind{w: w, asked: make(chan *question)}
	return m, w.model(func(ctx context.Context, r fakemodel.Request) (turn fakemodel.Turn) {
		m.thinking.Add(1)
		defer m.thinking.Add(-1)
		m.mu.Lock()
		m.read = append(m.read, r.Text)
		m.mu.Unlock()
		q := &question{r, ctx, make(chan fakemodel.Turn, 1)}
		select {
		case m.asked <- q:
		case <-ctx.Done():
			return turn
		}
		select {
		case turn = <-q.answer:
		case <-ctx.Done():
		}
		return turn
	})
}

// wasAsked reports whether any question to the model contained words.
func (m *mind) wasAsked(words string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.read, func(text string) bool { return strings.Contains(text, words) })
}

// startAgent starts the agent that asks this model.
func (m *mind) startAgent(bin string, env []string, args ...string) {
	m.w.t.Helper()
	m.agent = m.w.prepare(bin, args...)
	m.agent.cmd.Env = append(m.agent.cmd.Env, env...)
	m.agent.run()
	m.w.t.Cleanup(func() {
		_ = m.agent.cmd.Process.Kill() // after a failed test
		<-m.agent.ended
	})
}

// next waits for the agent's next question to the model.
func (m *mind) next() fakemodel.Request {
	m.w.t.Helper()
	return m.nextUntil(m.agent.ended, func() string { return m.agent.out.String() + m.agent.err.String() })
}

// nextUntil is like next, but also stops when ended is closed; shows describes the agent in a
// failure.
func (m *mind) nextUntil(ended <-chan struct{}, shows func() string) fakemodel.Request {
	m.w.t.Helper()
	for late := time.After(2 * patience); ; {
		select {
		case q := <-m.asked:
			if q.ctx.Err() == nil {
				m.open = q
				return q.Request
			}
		case <-ended:
			require.FailNow(m.w.t, "the agent ended", "%s", shows())
		case <-late:
			require.FailNow(m.w.t, "the agent does not ask its model", "%s", shows())
		}
	}
}

// reply answers the question that next returned.
func (m *mind) reply(turn fakemodel.Turn) {
	m.w.t.Helper()
	require.NotNil(m.w.t, m.open, "an answer to no question")
	m.open.answer <- turn
	m.open = nil
}

// startCall calls a tool without waiting for the answer.
func (m *mind) startCall(tool string, with args) {
	m.w.t.Helper()
	m.reply(fakemodel.Turn{Tool: tool, Args: with})
}

// waitForResult waits until the agent tells the model a tool's answer.
func (m *mind) waitForResult(wanted ...string) string {
	m.w.t.Helper()
	got := m.next().Result
	for _, want := range wanted {
		require.Contains(m.w.t, got, want)
	}
	return got
}

// call calls a tool and waits for its answer.
func (m *mind) call(tool string, with args, wanted ...string) string {
	m.w.t.Helper()
	m.startCall(tool, with)
	return m.waitForResult(wanted...)
}

// finish lets the model say its last words, which the agent prints.
func (m *mind) finish() {
	m.w.t.Helper()
	m.reply(fakemodel.Turn{Say: "THE MODEL IS DONE"})
	got := m.agent.wait()
	require.Zero(m.w.t, got.status, got.out+got.err)
	require.Contains(m.w.t, got.out, "THE MODEL IS DONE")
}
