package agents_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// endProgram types what ends the program, and waits until the program has ended.
func endProgram(a *world.Agent, with world.Args) {
	a.W.T.Helper()
	with["wait_for"] = "exit"
	a.MustCall("terminal_send", with, " exited 0")
}

func TestAnAgentEditsInVim(t *testing.T) {
	t.Parallel()
	for _, era := range world.Eras {
		t.Run(era, func(t *testing.T) {
			w := world.New(t, "vim")
			s := w.Terminal(100, 24)
			w.Write("notes.txt", "bread\n")
			a := w.ServingAgent("claude", era)
			s.Run("proxy --agent vim -u NONE -n notes.txt")
			s.Wait("bread") // vim shows the file's name before it has read the file
			id := w.Session()
			a.MustCall("terminal_list", nil, id, "vim -u NONE -n notes.txt", "100x24", "keyboard: user")
			a.MustCall("terminal_read", nil, id+" rev ", "alt-screen", "bread", "keyboard: user")
			a.MustFail("terminal_send", world.Args{"keys": []string{"i"}}, "you do not have the keyboard", "terminal_request_control")

			asking := a.StartCall("terminal_request_control", world.Args{"reason": "add apples to your list"})
			s.WaitQuestion()
			s.WaitBottom("“claude” asks to drive for 10 min: “add apples to your list”")
			s.WaitTitle("[agent asks]")
			a.MustCall("terminal_read", nil, "keyboard: user (claude asks)")
			s.Answer("C-g")
			got := w.WaitAnswer(asking)
			require.False(t, got.Fails, got.Text)
			require.Contains(t, got.Text, "granted: you have the keyboard of "+id)
			s.WaitTitle("[claude drives]")

			a.MustCall("terminal_send", world.Args{"keys": []string{"o"}}, "keyboard: you (drive, ")
			a.MustCall("terminal_send", world.Args{"text": "apples", "wait_for": "text", "value": "apples"}, "matched")
			s.Wait("apples")
			a.MustCall("terminal_send", world.Args{"keys": []string{"esc"}})
			endProgram(a, world.Args{"text": ":wq", "enter": true})
			require.Zero(t, s.Status())
			require.Equal(t, "bread\napples\n", w.Content("notes.txt"))
			require.Equal(t, world.PlainModes, s.Format(world.Modes))
		})
	}
}

func TestAnAgentPagesThroughLess(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		w := world.New(t, "less")
		s := w.Terminal(80, 24)
		var text strings.Builder
		for n := range 200 {
			text.WriteString("line " + strconv.Itoa(n+1) + "\n")
		}
		w.Write("long.txt", text.String())
		s.Run("proxy --agent --grant drive less long.txt")
		s.Wait("line 1")
		w.Session()
		a := w.Agent("claude", era)
		a.MustCall("terminal_request_control", world.Args{"reason": "read on"}, "granted")
		seen := a.MustCall("terminal_send", world.Args{"keys": []string{"space"}, "wait_for": "text", "value": "line 46"}, "line 46")
		seenRev := rev(t, seen)
		a.MustCall("terminal_send", world.Args{"text": "/line 150", "enter": true}, "line 150")
		a.MustCall("terminal_read", world.Args{"view": "changes", "since_rev": seenRev}, "line 150")
		a.MustCall("terminal_send", world.Args{"keys": []string{"G"}, "wait_for": "regex", "value": `\(END\)`}, "matched", "line 200")
		s.Wait("line 200")
		require.NotContains(t, a.MustCall("terminal_read", world.Args{"lines": 3}), "line 180")
		a.MustFail("terminal_send", world.Args{"keys": []string{"q"}, "expect_rev": seenRev}, "expected revision", "not typed: keys q")
		a.MustCall("terminal_release", world.Args{"note": "it ends at line 200"}, "released")
		s.Wait("it ends at line 200")
		a.MustCall("terminal_release", nil, "released")
		a.MustFail("terminal_send", world.Args{"keys": []string{"q"}}, "terminal_request_control")
		s.QuitProgram("q")
	})
}

// inEachEra runs a test with an agent of either protocol version.
func inEachEra(t *testing.T, test func(t *testing.T, era string)) {
	t.Helper()
	for _, era := range world.Eras {
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
		w := world.New(t, "python3")
		python := realPython(t)
		s := w.Terminal(80, 24)
		a := w.ServingAgent("claude", era)
		s.Run("proxy --agent --grant drive " + python + " -q")
		s.Wait(">>>")
		w.Session()
		a.MustCall("terminal_request_control", world.Args{"reason": "compute"}, "granted")
		a.MustCall("terminal_send", world.Args{"text": "6*7", "enter": true, "wait_for": "regex", "value": `^42$`}, "matched", "42")
		a.MustCall("terminal_send", world.Args{"text": "for i in range(3):\n    print('row', i*i)\n", "enter": true, "wait_for": "text", "value": "row 4"}, "matched")
		a.MustCall("terminal_wait", world.Args{"for": "waiting"}, "matched")
		endProgram(a, world.Args{"keys": []string{"ctrl-d"}})
		require.Zero(t, s.Status())
	})
}

func TestAnAgentAnswersAPrompt(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		w := world.New(t)
		s := w.Terminal(80, 24)
		a := w.ServingAgent("claude", era)
		s.Run(`proxy --agent --grant drive bash -c 'read -p "your name? " name; echo "hello $name"; read -p "again? " x'`)
		s.Wait("your name?")
		w.Session()
		a.MustCall("terminal_request_control", world.Args{"reason": "answer"}, "granted")
		a.MustCall("terminal_wait", world.Args{"for": "waiting"}, "matched")
		a.MustCall("terminal_send", world.Args{"text": "Ada", "enter": true, "wait_for": "text", "value": "again?"}, "matched", "hello Ada")
		require.Contains(t, a.MustCall("terminal_wait", world.Args{"for": "text", "value": "never", "timeout_ms": 50}), "no match: timeout")
		endProgram(a, world.Args{"keys": []string{"enter"}})
		require.Zero(t, s.Status())
		s.Wait("hello Ada")
	})
}

func TestTheCommandLineDoesTheSame(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(100, 24)
	s.Run("proxy --agent --name draft vim -u NONE -n notes.txt")
	s.Wait("notes.txt")
	id := w.Session()
	require.True(t, strings.HasPrefix(id, "draft-"), id)
	require.Contains(t, w.MustGateway("ls"), id)
	read := world.Reply[protocol.ReadResult](t, w.MustGateway("read", id, "--json"))
	require.Equal(t, 100, read.Frame.Screen.Cols)
	require.True(t, read.Frame.Screen.Alt)
	require.Equal(t, protocol.HolderUser, read.Frame.Keyboard.Holder)

	asking := w.Start("gateway", "request", id, "--reason", "write a line", "--as", "codex", "--json")
	s.WaitQuestion()
	s.WaitBottom("“codex” asks to drive for 10 min: “write a line”")
	s.Answer("C-g")
	got := asking.Wait()
	require.Zero(t, got.Status, got.Err)
	grant := world.Reply[protocol.ControlGrant](t, got.Out)
	require.Equal(t, protocol.LevelDrive, grant.Level)
	require.NotZero(t, grant.Epoch)
	require.NotZero(t, w.Gateway("wait", id, "--control", "--as", "codex", "--json", "--timeout", "100ms").Status, "it heard that, and nobody wrote")

	typed := world.Reply[struct {
		protocol.InputResult
		Wait *protocol.WaitResult `json:"wait"`
	}](t, w.MustGateway("send", id, "--as", "codex", "--text", "ihello", "--until", "text=hello", "--json"))
	require.Equal(t, protocol.StatusWritten, typed.Status)
	require.Equal(t, len("ihello"), typed.WrittenBytes)
	require.True(t, typed.Wait.Met)
	s.Wait("hello")
	w.MustGateway("send", id, "--as", "codex", "esc")
	changed := world.Reply[protocol.ReadResult](t, w.MustGateway("read", id, "--since", strconv.FormatUint(read.Frame.Seq, 10), "--json"))
	require.NotEmpty(t, changed.Frame.Changed)

	require.Equal(t, 4, w.Gateway("send", id, "--as", "somebody", "--text", "x").Status, "another agent may not type")
	require.Contains(t, w.MustGateway("release", id, "--as", "codex", "--note", "one line", "--json"), `"released": true`)
	refused := w.Gateway("send", id, "--as", "codex", "--text", "x")
	require.Equal(t, 4, refused.Status)
	require.Contains(t, refused.Err, "gateway request")
	require.Contains(t, w.MustGateway("wait", id, "--text", "hello"), "hello")
	require.Equal(t, 124, w.Gateway("wait", id, "--text", "never", "--timeout", "50ms").Status)
	require.NoFileExists(t, w.Path("notes.txt"))
	s.QuitProgram(":wq\n")
	data, err := os.ReadFile(w.Path("notes.txt"))
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(data))
}
