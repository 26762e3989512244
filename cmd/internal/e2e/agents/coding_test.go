package agents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Real agents, connected with the README's commands, see a terminal, ask for its keyboard, type,
// wait, lose the keyboard and use a terminal of their own. Their models read in plain words what
// happened.
func TestCodingAgents_Client(t *testing.T) {
	for _, c := range world.CodingAgents {
		t.Run(c.Name, func(t *testing.T) {
			bin := world.FromNpm(t, c.Name)
			w := world.New(t, "vim")
			w.Write("notes.txt", "bread\n")
			s := w.Terminal(100, 24)
			s.Run("proxy --agent vim -u NONE -n notes.txt")
			s.Wait("bread") // vim shows the file's name before it has read the file
			m, url := w.PlayModel()
			env := c.SetUp(w, url)
			connectMCP(w, c, bin, env)
			m.StartAgent(bin, env, append(slices.Clone(c.Asks), "put apples on my list")...)
			require.Contains(t, m.Next().Prompt, "put apples on my list")
			driveVim(m, s, w.Session(), c.Called)
			loseKeyboard(m, s)
			runOwnTerminal(m)
			m.Finish()
			s.Press("Escape")
			s.QuitProgram(":q!\n")
		})
	}
}

// inReadme returns the words after an agent's name in the README's command that connects it.
func inReadme(c world.CodingAgent, t *testing.T) (words []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "README.md"))
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| " + c.Called + " \\| `" + c.Name + " (mcp add [^`]+)` \\|$").FindSubmatch(readme)
	require.NotNil(t, row, "the README does not say how to connect %s", c.Called)
	return strings.Fields(string(row[1]))
}

// The README names every agent; this test runs without the agents.
func TestTheReadmeNamesEveryAgent(t *testing.T) {
	for _, c := range world.CodingAgents {
		require.Contains(t, strings.Join(inReadme(c, t), " "), "gateway mcp")
	}
}

// connectMCP adds gateway mcp to an agent as the README says.
func connectMCP(w *world.World, c world.CodingAgent, bin string, env []string) {
	w.T.Helper()
	words := inReadme(c, w.T)
	if c.More != nil {
		words = slices.Insert(words, 2, c.More(w)...)
	}
	add := w.Prepare(bin, words...)
	add.Cmd.Env = append(add.Cmd.Env, env...)
	add.Run()
	got := add.Wait()
	require.Zero(w.T, got.Status, got.Out+got.Err)
}

// driveVim lets the agent see a list in vim, ask for the keyboard as called, and write to the list.
func driveVim(m *world.PlayedModel, s *world.Terminal, id, called string) {
	m.W.T.Helper()
	m.Call("terminal_list", nil, id, "vim -u NONE -n notes.txt", "keyboard: user")
	m.Call("terminal_read", nil, id+" rev ", "bread\n")
	m.StartCall("terminal_request_control", world.Args{"reason": "add apples to your list"})
	s.WaitQuestion()
	s.WaitBottom("“" + called + "” asks to drive for 10 min: “add apples to your list”")
	s.Answer("C-g")
	m.WaitForResult("granted: you have the keyboard of " + id)
	m.Call("terminal_send", world.Args{"text": "oapples", "keys": []string{"esc"}}, "apples")
	m.Call("terminal_send", world.Args{"text": ":w", "enter": true})
	m.Call("terminal_wait", world.Args{"for": "text", "value": "written"}, "matched") // the answer to :w has shown it
	require.Equal(m.W.T, "bread\napples\n", m.W.Content("notes.txt"))
}

// loseKeyboard lets the user take the keyboard back while the agent drives.
func loseKeyboard(m *world.PlayedModel, s *world.Terminal) {
	m.W.T.Helper()
	m.StartCall("terminal_send", world.Args{"text": "opears", "wait_for": "text", "value": "plums"})
	s.Wait("pears")
	s.Press(`C-\`)
	m.WaitForResult("no match: the user took the keyboard back", "pears", "keyboard: user")
	m.Call("terminal_send", world.Args{"text": ", plums"}, "error: the user took the keyboard back", "\nnot typed: text (7 bytes)")
	require.NotContains(m.W.T, s.Screen(), "plums")
}

// runOwnTerminal lets the agent use its own terminal, which needs no permission.
func runOwnTerminal(m *world.PlayedModel) {
	m.W.T.Helper()
	got := m.Call("terminal_run", world.Args{
		"program": "bash", "args": []string{"-c", `read -p "your name? " name; echo "hello $name"`}, "wait_for": "waiting",
	}, "your name?")
	own := regexp.MustCompile(`\S+ rev `).FindString(got)
	m.Call("terminal_send", world.Args{"terminal": strings.TrimSuffix(own, " rev "), "text": "Ada", "enter": true, "wait_for": "exit"}, "hello Ada", "exited 0")
}
