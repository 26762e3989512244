package agents_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// taskAgent is an MCP client that knows tasks.
type taskAgent struct {
	w   *world.World
	in  io.Writer
	out *bufio.Reader
	id  int
}

func startTaskAgent(w *world.World) *taskAgent {
	w.T.Helper()
	cmd := w.Command(w.CLI, "mcp")
	in, err := cmd.StdinPipe()
	require.NoError(w.T, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.T, err)
	require.NoError(w.T, cmd.Start())
	w.T.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	return &taskAgent{w: w, in: in, out: bufio.NewReader(out)}
}

// ask sends a request and returns the result, or the error.
func (a *taskAgent) ask(method string, params world.Args) world.Args {
	a.w.T.Helper()
	a.id++
	params["_meta"] = world.Args{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         world.Args{"name": "tasker", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": world.Args{"extensions": world.Args{"io.modelcontextprotocol/tasks": world.Args{}}},
	}
	line, err := json.Marshal(world.Args{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	require.NoError(a.w.T, err)
	_, err = a.in.Write(append(line, '\n'))
	require.NoError(a.w.T, err)
	answer, err := a.out.ReadBytes('\n')
	require.NoError(a.w.T, err)
	var got struct{ Result, Error world.Args }
	require.NoError(a.w.T, json.Unmarshal(answer, &got))
	if got.Error != nil {
		return got.Error
	}
	return got.Result
}

// start calls a tool that becomes a task.
func (a *taskAgent) start(tool string, with world.Args) (id string) {
	a.w.T.Helper()
	got := a.ask("tools/call", world.Args{"name": tool, "arguments": with})
	require.Equal(a.w.T, "task", got["resultType"], got)
	return fmt.Sprint(got["taskId"])
}

// await polls until a task has ended, and returns its status and its answer.
func (a *taskAgent) await(id string) (status, answer string) {
	a.w.T.Helper()
	var got world.Args
	a.w.Until(func() bool {
		got = a.ask("tasks/get", world.Args{"taskId": id})
		return got["status"] != "working"
	}, func() string { return fmt.Sprint(got) })
	return fmt.Sprint(got["status"]), fmt.Sprint(got["result"])
}

func (a *taskAgent) call(tool string, with world.Args) string {
	a.w.T.Helper()
	return fmt.Sprint(a.ask("tools/call", world.Args{"name": tool, "arguments": with})["content"])
}

// A cancelled task withdraws its question. Two tasks wait for one user, and both hear the answer; two
// wait for one program, and each for its fact. Taking the keyboard back ends those that waited under
// the grant.
func TestTasksOnOneTerminal(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunBash("")
	a := startTaskAgent(w)
	task := a.start("terminal_request_control", world.Args{"reason": "never mind"})
	s.WaitQuestion()
	a.ask("tasks/cancel", world.Args{"taskId": task})
	status, _ := a.await(task)
	require.Equal(t, "cancelled", status)
	s.WaitGone("Ctrl+G allows")
	asks := []string{
		a.start("terminal_request_control", world.Args{"reason": "to type"}),
		a.start("terminal_wait", world.Args{"for": "control"}),
	}
	s.Answer("C-g")
	for _, task := range asks {
		_, answer := a.await(task)
		require.Contains(t, answer, "granted")
	}
	one := a.start("terminal_wait", world.Args{"for": "text", "value": "ONE-1"})
	two := a.start("terminal_wait", world.Args{"for": "text", "value": "TWO-2"})
	a.call("terminal_send", world.Args{"text": "echo ONE-$((1))\n"})
	status, answer := a.await(one)
	require.Equal(t, "completed", status)
	require.Contains(t, answer, "matched")
	s.Press(`C-\`)
	status, answer = a.await(two)
	require.Equal(t, "completed", status)
	require.Contains(t, answer, "no match: the user took the keyboard back")
	last := a.start("terminal_wait", world.Args{"for": "text", "value": "TWO-2"})
	s.QuitProgram("exit\n")
	_, answer = a.await(last)
	require.Contains(t, answer, "no match: the program ended first")
}

// The gateway is killed while a task waits; another takes over, and the wait goes on.
func TestATaskOutlivesItsGateway(t *testing.T) {
	w := world.New(t)
	first := w.Terminal(100, 24)
	first.Run("proxy --agent cat")
	w.Session()
	s := w.Terminal(100, 24)
	s.Run("proxy --agent bash --norc")
	ids := w.IDs(2)
	id := ids[slices.IndexFunc(ids, func(id string) bool { return strings.HasPrefix(id, "bash-") })]
	a := startTaskAgent(w)
	task := a.start("terminal_wait", world.Args{"terminal": id, "for": "text", "value": "DONE-1"})
	asked := a.start("terminal_request_control", world.Args{"terminal": id, "reason": "to type"})
	s.WaitQuestion()
	first.Tmux("kill-session") // its proxy serves the gateway
	w.Session()
	s.Answer("C-g")
	_, answer := a.await(asked)
	require.Contains(t, answer, "granted")
	a.call("terminal_send", world.Args{"terminal": id, "text": "echo DONE-$((1))\n"})
	_, answer = a.await(task)
	require.Contains(t, answer, "matched")
}
