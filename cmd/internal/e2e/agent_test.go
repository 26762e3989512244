package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// eras are the newest protocol revision with a handshake, and the first one without.
var eras = []string{"2025-11-25", "2026-07-28"}

type args = map[string]any

// agent is an AI agent's MCP client, connected to its server `gateway mcp`.
type agent struct {
	w       *world
	cmd     *exec.Cmd
	session *mcp.ClientSession
}

func (w *world) agent(name, era string, flags ...string) *agent {
	w.t.Helper()
	a := &agent{w: w, cmd: w.command(w.cli, append(flags, "mcp")...)}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	var err error
	a.session, err = client.Connect(w.ctx, &mcp.CommandTransport{Command: a.cmd}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = a.session.Close() }) // one test kills the server first
	return a
}

type answer struct {
	text  string
	fails bool
	err   error
}

// startCall calls a tool without waiting for the answer.
func (a *agent) startCall(tool string, with args) <-chan answer {
	out := make(chan answer, 1)
	go func() { // ends with the call, which the server bounds, or with the session
		got, err := a.session.CallTool(a.w.ctx, &mcp.CallToolParams{Name: tool, Arguments: with})
		if err != nil {
			out <- answer{err: err}
			return
		}
		var text strings.Builder
		for _, c := range got.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text.WriteString(t.Text)
			}
		}
		out <- answer{text: text.String(), fails: got.IsError}
	}()
	return out
}

// call calls a tool and waits for its answer.
func (a *agent) call(tool string, with args) answer {
	a.w.t.Helper()
	return a.w.waitAnswer(a.startCall(tool, with))
}

func (w *world) waitAnswer(out <-chan answer) answer {
	w.t.Helper()
	select {
	case got := <-out:
		require.NoError(w.t, got.err)
		return got
	case <-time.After(2 * patience):
		require.FailNow(w.t, "a tool does not answer")
		return answer{}
	}
}

// mustCall calls a tool that must succeed, and checks that its answer has the wanted texts.
func (a *agent) mustCall(tool string, with args, wanted ...string) string {
	a.w.t.Helper()
	return a.checkCall(tool, with, false, wanted)
}

// mustFail calls a tool that must fail, and checks that its error has the wanted texts.
func (a *agent) mustFail(tool string, with args, wanted ...string) string {
	a.w.t.Helper()
	return a.checkCall(tool, with, true, wanted)
}

func (a *agent) checkCall(tool string, with args, fails bool, wanted []string) string {
	a.w.t.Helper()
	got := a.call(tool, with)
	require.Equal(a.w.t, fails, got.fails, "%s: %s", tool, got.text)
	for _, want := range wanted {
		require.Contains(a.w.t, got.text, want, tool)
	}
	return got.text
}

// obtainGrant lets the agent ask for the keyboard and the user grant it.
func (a *agent) obtainGrant(s *terminal, reason string) {
	a.w.t.Helper()
	asking := a.startCall("terminal_request_control", args{"reason": reason})
	s.answer("C-g")
	require.Contains(a.w.t, a.w.waitAnswer(asking).text, "granted")
}

// endProgram types what ends the program, and waits until the program has ended.
func (a *agent) endProgram(with args) {
	a.w.t.Helper()
	with["wait_for"] = "exit"
	a.mustCall("terminal_send", with, " exited 0")
}

// servingAgent starts an agent before any proxy, so that the agent's server is the gateway.
func (w *world) servingAgent(name, era string) *agent {
	w.t.Helper()
	a := w.agent(name, era)
	a.mustCall("terminal_list", nil, "there are no terminals", "proxy --agent")
	return a
}

// newAgent starts an agent in a new world that has these programs.
func newAgent(t *testing.T, programs ...string) (*world, *agent) {
	t.Helper()
	w := newWorld(t, programs...)
	return w, w.agent("claude", eras[1])
}

func TestAnAgentEditsInVim(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			w := newWorld(t, "vim")
			s := w.terminal(100, 24)
			w.write("notes.txt", "bread\n")
			a := w.servingAgent("claude", era)
			s.run("proxy --agent vim -u NONE -n notes.txt")
			s.wait("bread") // vim shows the file's name before it has read the file
			id := w.session()
			a.mustCall("terminal_list", nil, id, "vim -u NONE -n notes.txt", "100x24", "keyboard: user")
			a.mustCall("terminal_read", nil, id+" rev ", "alt-screen", "bread", "keyboard: user")
			a.mustFail("terminal_send", args{"keys": []string{"i"}}, "you do not have the keyboard", "terminal_request_control")

			asking := a.startCall("terminal_request_control", args{"reason": "add apples to your list"})
			s.waitQuestion()
			require.Contains(t, s.bottom(), "“claude” asks to drive for 10 min: “add apples to your list”")
			s.waitTitle("[agent asks]")
			a.mustCall("terminal_read", nil, "keyboard: user (claude asks)")
			s.answer("C-g")
			got := w.waitAnswer(asking)
			require.False(t, got.fails, got.text)
			require.Contains(t, got.text, "granted: you have the keyboard of "+id)
			s.waitTitle("[claude drives]")

			a.mustCall("terminal_send", args{"keys": []string{"o"}}, "keyboard: you (drive, ")
			a.mustCall("terminal_send", args{"text": "apples", "wait_for": "text", "value": "apples"}, "matched")
			s.wait("apples")
			a.mustCall("terminal_send", args{"keys": []string{"esc"}})
			a.endProgram(args{"text": ":wq", "enter": true})
			require.Zero(t, s.status())
			require.Equal(t, "bread\napples\n", w.content("notes.txt"))
			require.Equal(t, plainModes, s.format(modes))
		})
	}
}

func TestAnAgentPagesThroughLess(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		w := newWorld(t, "less")
		s := w.terminal(80, 24)
		var text strings.Builder
		for n := range 200 {
			text.WriteString("line " + strconv.Itoa(n+1) + "\n")
		}
		w.write("long.txt", text.String())
		s.run("proxy --agent --grant drive less long.txt")
		s.wait("line 1")
		w.session()
		a := w.agent("claude", era)
		a.mustCall("terminal_request_control", args{"reason": "read on"}, "granted")
		seen := a.mustCall("terminal_send", args{"keys": []string{"space"}, "wait_for": "text", "value": "line 46"}, "line 46")
		seenRev := rev(t, seen)
		a.mustCall("terminal_send", args{"text": "/line 150", "enter": true}, "line 150")
		a.mustCall("terminal_read", args{"view": "changes", "since_rev": seenRev}, "line 150")
		a.mustCall("terminal_send", args{"keys": []string{"G"}, "wait_for": "regex", "value": `\(END\)`}, "matched", "line 200")
		s.wait("line 200")
		require.NotContains(t, a.mustCall("terminal_read", args{"lines": 3}), "line 180")
		a.mustFail("terminal_send", args{"keys": []string{"q"}, "expect_rev": seenRev}, "expected revision", "not typed: keys q")
		a.mustCall("terminal_release", args{"note": "it ends at line 200"}, "released")
		s.wait("it ends at line 200")
		a.mustCall("terminal_release", nil, "released")
		a.mustFail("terminal_send", args{"keys": []string{"q"}}, "terminal_request_control")
		s.quitProgram("q")
	})
}

// inEachEra runs a test with an agent of either protocol version.
func inEachEra(t *testing.T, test func(t *testing.T, era string)) {
	t.Helper()
	for _, era := range eras {
		t.Run(era, func(t *testing.T) { test(t, era) })
	}
}

// realPython returns the interpreter itself, not a version manager's wrapper.
func realPython(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("python3 does not run")
	}
	return strings.TrimSpace(string(out))
}

func TestAnAgentComputesInPython(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		w := newWorld(t, "python3")
		python := realPython(t)
		s := w.terminal(80, 24)
		a := w.servingAgent("claude", era)
		s.run("proxy --agent --grant drive " + python + " -q")
		s.wait(">>>")
		w.session()
		a.mustCall("terminal_request_control", args{"reason": "compute"}, "granted")
		a.mustCall("terminal_send", args{"text": "6*7", "enter": true, "wait_for": "regex", "value": `^42$`}, "matched", "42")
		a.mustCall("terminal_send", args{"text": "for i in range(3):\n    print('row', i*i)\n", "enter": true, "wait_for": "text", "value": "row 4"}, "matched")
		a.mustCall("terminal_wait", args{"for": "waiting"}, "matched")
		a.endProgram(args{"keys": []string{"ctrl-d"}})
		require.Zero(t, s.status())
	})
}

func TestAnAgentAnswersAPrompt(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		w := newWorld(t)
		s := w.terminal(80, 24)
		a := w.servingAgent("claude", era)
		s.run(`proxy --agent --grant drive bash -c 'read -p "your name? " name; echo "hello $name"; read -p "again? " x'`)
		s.wait("your name?")
		w.session()
		a.mustCall("terminal_request_control", args{"reason": "answer"}, "granted")
		a.mustCall("terminal_wait", args{"for": "waiting"}, "matched")
		a.mustCall("terminal_send", args{"text": "Ada", "enter": true, "wait_for": "text", "value": "again?"}, "matched", "hello Ada")
		require.Contains(t, a.mustCall("terminal_wait", args{"for": "text", "value": "never", "timeout_ms": 50}), "no match: timeout")
		a.endProgram(args{"keys": []string{"enter"}})
		require.Zero(t, s.status())
		require.Contains(t, s.screen(), "hello Ada")
	})
}

func reply[T any](t *testing.T, out string) T {
	t.Helper()
	var got T
	require.NoError(t, json.Unmarshal([]byte(out), &got), out)
	return got
}

func TestTheCommandLineDoesTheSame(t *testing.T) {
	w := newWorld(t, "vim")
	s := w.terminal(100, 24)
	s.run("proxy --agent --name draft vim -u NONE -n notes.txt")
	s.wait("notes.txt")
	id := w.session()
	require.True(t, strings.HasPrefix(id, "draft-"), id)
	require.Contains(t, w.mustGateway("ls"), id)
	read := reply[protocol.ReadResult](t, w.mustGateway("read", id, "--json"))
	require.Equal(t, 100, read.Frame.Screen.Cols)
	require.True(t, read.Frame.Screen.Alt)
	require.Equal(t, protocol.HolderUser, read.Frame.Keyboard.Holder)

	asking := w.start("gateway", "request", id, "--reason", "write a line", "--as", "codex", "--json")
	s.waitQuestion()
	require.Contains(t, s.bottom(), "“codex” asks to drive for 10 min: “write a line”")
	s.answer("C-g")
	got := asking.wait()
	require.Zero(t, got.status, got.err)
	grant := reply[protocol.ControlGrant](t, got.out)
	require.Equal(t, protocol.LevelDrive, grant.Level)
	require.NotZero(t, grant.Epoch)
	require.NotZero(t, w.gateway("wait", id, "--control", "--as", "codex", "--json", "--timeout", "100ms").status, "it heard that, and nobody wrote")

	typed := reply[struct {
		protocol.InputResult
		Wait *protocol.WaitResult `json:"wait"`
	}](t, w.mustGateway("send", id, "--as", "codex", "--text", "ihello", "--until", "text=hello", "--json"))
	require.Equal(t, protocol.StatusWritten, typed.Status)
	require.Equal(t, len("ihello"), typed.WrittenBytes)
	require.True(t, typed.Wait.Met)
	s.wait("hello")
	w.mustGateway("send", id, "--as", "codex", "esc")
	changed := reply[protocol.ReadResult](t, w.mustGateway("read", id, "--since", strconv.FormatUint(read.Frame.Seq, 10), "--json"))
	require.NotEmpty(t, changed.Frame.Changed)

	require.Equal(t, 4, w.gateway("send", id, "--as", "somebody", "--text", "x").status, "another agent may not type")
	require.Contains(t, w.mustGateway("release", id, "--as", "codex", "--note", "one line", "--json"), `"released": true`)
	refused := w.gateway("send", id, "--as", "codex", "--text", "x")
	require.Equal(t, 4, refused.status)
	require.Contains(t, refused.err, "gateway request")
	require.Contains(t, w.mustGateway("wait", id, "--text", "hello"), "hello")
	require.Equal(t, 124, w.gateway("wait", id, "--text", "never", "--timeout", "50ms").status)
	require.NoFileExists(t, w.path("notes.txt"))
	s.quitProgram(":wq\n")
	data, err := os.ReadFile(w.path("notes.txt"))
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(data))
}
