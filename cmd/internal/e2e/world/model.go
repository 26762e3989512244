package world

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/fakemodel"
)

// Model serves a stand-in for a model until the test ends.
func (a *account) Model(think fakemodel.Think) (url string) {
	server := httptest.NewServer(fakemodel.New(think))
	a.T.Cleanup(func() {
		server.CloseClientConnections() // an agent that a failed test left behind still waits for an answer
		server.Close()
	})
	return server.URL
}

// question is an agent's question to its model. Each is answered separately: an agent withdraws a
// question when its user says more, and asks again; it would never read an answer to the first.
type question struct {
	fakemodel.Request
	Ctx    context.Context //nolint:containedctx // ends when the agent withdraws the question
	Answer chan fakemodel.Turn
}

// PlayedModel is a model that the test plays: it calls the agent's tools, and reads what the agent
// reports of their answers.
type PlayedModel struct {
	W     *World
	Asked chan *question
	Open  *question // the question that Next returned last
	Agent *Running  // set before the first call
	// Thinking counts the open questions.
	Thinking atomic.Int32

	mu   sync.Mutex
	read []string // the text of every question
}

func (w *World) PlayModel() (m *PlayedModel, url string) {
	m = &PlayedModel{W: w, Asked: make(chan *question)}
	return m, w.Model(func(ctx context.Context, r fakemodel.Request) (turn fakemodel.Turn) {
		m.Thinking.Add(1)
		defer m.Thinking.Add(-1)
		m.mu.Lock()
		m.read = append(m.read, r.Text)
		m.mu.Unlock()
		q := &question{r, ctx, make(chan fakemodel.Turn, 1)}
		select {
		case m.Asked <- q:
		case <-ctx.Done():
			return turn
		}
		select {
		case turn = <-q.Answer:
		case <-ctx.Done():
		}
		return turn
	})
}

// WasAsked reports whether any question to the model contained words.
func (m *PlayedModel) WasAsked(words string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.read, func(text string) bool { return strings.Contains(text, words) })
}

// StartAgent starts the agent that asks this model.
func (m *PlayedModel) StartAgent(bin string, env []string, args ...string) {
	m.W.T.Helper()
	m.Agent = m.W.Prepare(bin, args...)
	m.Agent.Cmd.Env = append(m.Agent.Cmd.Env, env...)
	m.Agent.Run()
	m.W.T.Cleanup(func() {
		_ = m.Agent.Cmd.Process.Kill() // after a failed test
		<-m.Agent.Ended
	})
}

// Next waits for the agent's next question to the model.
func (m *PlayedModel) Next() fakemodel.Request {
	m.W.T.Helper()
	return m.nextUntil(m.Agent.Ended, func() string { return m.Agent.Out.String() + m.Agent.Err.String() })
}

// nextUntil is like Next, but also stops when ended is closed; shows describes the agent in a
// failure.
func (m *PlayedModel) nextUntil(ended <-chan struct{}, shows func() string) fakemodel.Request {
	m.W.T.Helper()
	for late := time.After(2 * Patience); ; {
		select {
		case q := <-m.Asked:
			if q.Ctx.Err() == nil {
				m.Open = q
				return q.Request
			}
		case <-ended:
			require.FailNow(m.W.T, "the agent ended", "%s", shows())
		case <-late:
			require.FailNow(m.W.T, "the agent does not ask its model", "%s", shows())
		}
	}
}

// Reply answers the question that Next returned.
func (m *PlayedModel) Reply(turn fakemodel.Turn) {
	m.W.T.Helper()
	require.NotNil(m.W.T, m.Open, "an answer to no question")
	m.Open.Answer <- turn
	m.Open = nil
}

// StartCall calls a tool without waiting for the answer.
func (m *PlayedModel) StartCall(tool string, with Args) {
	m.W.T.Helper()
	m.Reply(fakemodel.Turn{Tool: tool, Args: with})
}

// WaitForResult waits until the agent tells the model a tool's answer.
func (m *PlayedModel) WaitForResult(wanted ...string) string {
	m.W.T.Helper()
	got := m.Next().Result
	for _, want := range wanted {
		require.Contains(m.W.T, got, want)
	}
	return got
}

// Call calls a tool and waits for its answer.
func (m *PlayedModel) Call(tool string, with Args, wanted ...string) string {
	m.W.T.Helper()
	m.StartCall(tool, with)
	return m.WaitForResult(wanted...)
}

// Finish lets the model say its last words, which the agent prints.
func (m *PlayedModel) Finish() {
	m.W.T.Helper()
	m.Reply(fakemodel.Turn{Say: "THE MODEL IS DONE"})
	got := m.Agent.Wait()
	require.Zero(m.W.T, got.Status, got.Out+got.Err)
	require.Contains(m.W.T, got.Out, "THE MODEL IS DONE")
}
