package world

import (
	"encoding/json"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// Eras are the newest protocol revision with a handshake, and the first one without.
var Eras = []string{"2025-11-25", "2026-07-28"}

type Args = map[string]any

// Extends is the name of a client whose calls may wait for up to 240 s, since progress notes keep
// them alive. Those of others end after 50 s, in which a busy machine may not restart a gateway.
const Extends = "opencode"

// Agent is an AI agent's MCP client, connected to its server `gateway mcp`.
type Agent struct {
	W       *World
	Cmd     *exec.Cmd
	Session *mcp.ClientSession
}

func (w *World) Agent(name, era string, flags ...string) *Agent {
	w.T.Helper()
	a := &Agent{W: w, Cmd: w.Command(w.CLI, append(flags, "mcp")...)}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	var err error
	a.Session, err = client.Connect(w.Ctx, &mcp.CommandTransport{Command: a.Cmd}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	require.NoError(w.T, err)
	w.T.Cleanup(func() { _ = a.Session.Close() }) // one test kills the server first
	return a
}

type Answer struct {
	Text  string
	Fails bool
	Err   error
}

// StartCall calls a tool without waiting for the answer.
func (a *Agent) StartCall(tool string, with Args) <-chan Answer {
	out := make(chan Answer, 1)
	if with["timeout_ms"] == nil && (with["wait_for"] != nil || tool == "terminal_wait") {
		with = maps.Clone(with) // the default of 10 s is short for a busy machine
		with["timeout_ms"] = 50_000
	}
	params := &mcp.CallToolParams{Name: tool, Arguments: with}
	if ms, _ := with["timeout_ms"].(int); ms > 50_000 {
		params.SetProgressToken(tool)
	}
	go func() { // ends with the call, which the server bounds, or with the session
		got, err := a.Session.CallTool(a.W.Ctx, params)
		if err != nil {
			out <- Answer{Err: err}
			return
		}
		var text strings.Builder
		for _, c := range got.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text.WriteString(t.Text)
			}
		}
		out <- Answer{Text: text.String(), Fails: got.IsError}
	}()
	return out
}

// Call calls a tool and waits for its answer.
func (a *Agent) Call(tool string, with Args) Answer {
	a.W.T.Helper()
	return a.W.WaitAnswer(a.StartCall(tool, with))
}

func (a *account) WaitAnswer(out <-chan Answer) Answer {
	a.T.Helper()
	select {
	case got := <-out:
		require.NoError(a.T, got.Err)
		return got
	case <-time.After(2 * Patience):
		require.FailNow(a.T, "a tool does not answer")
		return Answer{}
	}
}

// MustCall calls a tool that must succeed, and checks that its answer has the wanted texts.
func (a *Agent) MustCall(tool string, with Args, wanted ...string) string {
	a.W.T.Helper()
	return a.checkCall(tool, with, false, wanted)
}

// MustFail calls a tool that must fail, and checks that its error has the wanted texts.
func (a *Agent) MustFail(tool string, with Args, wanted ...string) string {
	a.W.T.Helper()
	return a.checkCall(tool, with, true, wanted)
}

func (a *Agent) checkCall(tool string, with Args, fails bool, wanted []string) string {
	a.W.T.Helper()
	got := a.Call(tool, with)
	require.Equal(a.W.T, fails, got.Fails, "%s: %s", tool, got.Text)
	for _, want := range wanted {
		require.Contains(a.W.T, got.Text, want, tool)
	}
	return got.Text
}

// ObtainGrant lets the agent ask for the keyboard and the user grant it.
func (a *Agent) ObtainGrant(s *Terminal, reason string) {
	a.W.T.Helper()
	asking := a.StartCall("terminal_request_control", Args{"reason": reason})
	s.Answer("C-g")
	require.Contains(a.W.T, a.W.WaitAnswer(asking).Text, "granted")
}

// ServingAgent starts an agent before any proxy, so that the agent's server is the gateway.
func (w *World) ServingAgent(name, era string) *Agent {
	w.T.Helper()
	a := w.Agent(name, era)
	a.MustCall("terminal_list", nil, "there are no terminals", "proxy --agent")
	return a
}

// NewAgent starts an agent in a new world that has these programs.
func NewAgent(t *testing.T, programs ...string) (*World, *Agent) {
	t.Helper()
	w := New(t, programs...)
	return w, w.Agent("claude", Eras[1])
}

func Reply[T any](t *testing.T, out string) T {
	t.Helper()
	var got T
	require.NoError(t, json.Unmarshal([]byte(out), &got), out)
	return got
}
