package agents_test

import (
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// One journey with either version of the protocol: look, ask, type, save.
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
			a.MustFail("terminal_send", keysOf("i"), "you do not have the keyboard", "terminal_request_control")

			asking := a.StartCall("terminal_request_control", world.Args{"reason": "add apples to your list"})
			s.WaitQuestion()
			s.WaitBottom("“claude” asks to drive for 10 min: “add apples to your list”")
			s.WaitTitle("[agent asks]")
			a.MustCall("terminal_read", nil, "keyboard: user (claude asks)")
			s.Answer("C-g")
			granted := w.WaitAnswer(asking).Text
			require.Contains(t, granted, "granted: you have the keyboard of "+id)
			require.Contains(t, granted, "keyboard: you (drive, ")
			s.WaitTitle("[claude drives]")

			a.MustCall("terminal_send", keysOf("o"))
			a.MustCall("terminal_send", world.Args{"text": "apples", "wait_for": "text", "value": "apples"}, "matched")
			s.Wait("apples")
			a.MustCall("terminal_send", keysOf("esc"))
			a.MustCall("terminal_send", world.Args{"text": ":wq", "enter": true, "wait_for": "exit"}, " exited 0")
			require.Zero(t, s.Status())
			require.Equal(t, "bread\napples\n", w.Content("notes.txt"))
			require.Equal(t, world.PlainModes, s.Format(world.Modes))
		})
	}
}

func TestAnAgentPagesThroughLess(t *testing.T) {
	w := world.New(t, "less")
	s := w.Terminal(80, 24)
	w.Write("long.txt", numbered(200))
	s.Run("proxy --agent --grant drive less long.txt")
	s.Wait("line 1")
	w.Session()
	a := w.Agent("claude", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "read on"}, "granted")
	seen := a.MustCall("terminal_send", world.Args{"keys": []string{"space"}, "wait_for": "text", "value": "line 46"}, "line 46")
	seenRev := rev(t, seen)
	a.MustCall("terminal_send", world.Args{"text": "/line 150", "enter": true, "wait_for": "regex", "value": `^line 150 `}, "matched")
	a.MustCall("terminal_read", world.Args{"view": "changes", "since_rev": seenRev}, "line 150")
	a.MustCall("terminal_send", world.Args{"keys": []string{"G"}, "wait_for": "regex", "value": `\(END\)`}, "matched", "line 200")
	require.NotContains(t, a.MustCall("terminal_read", world.Args{"lines": 3}), "line 180")
	a.MustFail("terminal_send", world.Args{"keys": []string{"q"}, "expect_rev": seenRev}, "expected revision", "not typed: keys q")
	a.MustCall("terminal_release", world.Args{"note": "it ends at line 200"}, "released")
	s.Wait("it ends at line 200")
	a.MustFail("terminal_send", keysOf("q"), "terminal_request_control")
	s.QuitProgram("q")
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
	require.Equal(t, protocol.HolderUser, read.Frame.Keyboard.Holder)

	asking := w.Start("gateway", "request", id, "--reason", "write a line", "--as", "codex", "--json")
	s.WaitQuestion()
	s.WaitBottom("“codex” asks to drive for 10 min: “write a line”")
	s.Answer("C-g")
	require.Equal(t, protocol.LevelDrive, world.Reply[protocol.ControlGrant](t, asking.Wait().Out).Level)

	typed := world.Reply[struct {
		protocol.InputResult
		Wait *protocol.WaitResult `json:"wait"`
	}](t, w.MustGateway("send", id, "--as", "codex", "--text", "ihello", "--until", "text=hello", "--json"))
	require.Equal(t, len("ihello"), typed.WrittenBytes)
	require.True(t, typed.Wait.Met)
	s.Wait("hello")
	w.MustGateway("send", id, "--as", "codex", "esc")
	changed := w.MustGateway("read", id, "--since", strconv.FormatUint(read.Frame.Seq, 10), "--json")
	require.NotEmpty(t, world.Reply[protocol.ReadResult](t, changed).Frame.Changed)

	require.Equal(t, 4, w.Gateway("send", id, "--as", "somebody", "--text", "x").Status, "another agent may not type")
	require.Contains(t, w.MustGateway("release", id, "--as", "codex", "--note", "one line", "--json"), `"released": true`)
	w.Gateway("send", id, "--as", "codex", "--text", "x").MustFail(t, 4, "gateway request")
	require.Contains(t, w.MustGateway("wait", id, "--text", "hello"), "hello")
	require.Equal(t, 124, w.Gateway("wait", id, "--text", "never", "--timeout", "50ms").Status)
	s.QuitProgram(":wq\n")
	require.Equal(t, "hello\n", w.Content("notes.txt"))
}
