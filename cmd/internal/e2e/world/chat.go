package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/fakemodel"
)

// ChatAgent is an agent that gateway chat talks to.
type ChatAgent struct {
	Name  string
	SetUp func(w *World, model string) (env []string)
	// Shell is the name of its tool that runs a command.
	Shell string
	// call builds that tool's arguments; nil for the usual ones.
	call func(command string) Args
	// Asks is the name of the tool with which the model asks the user, or "".
	Asks string
	// AsksIf is the agent's own setting that enables the tool, or "" if the tool needs none. The
	// tool then asks for one choice at a time.
	AsksIf string
	With   string // more arguments of the command line
	// Forgets is true if the agent reports at times that it cannot find the conversation that it
	// has just saved.
	Forgets bool
	// Programs are those that the agent needs, including its adapter; nil for one program of its
	// name.
	Programs []string
	// Turns is true if the agent asks the model again when the user says something meanwhile.
	Turns bool
	// Absorbs is true if the model reads what the user says meanwhile together with the next tool
	// result, or in place of an answer that it has not given yet.
	Absorbs bool
	// Mode is the agent's first mode, or "" if it has no modes.
	Mode string
}

var ChatAgents = []ChatAgent{
	{Name: "claude", SetUp: (*World).ClaudeEnv, Shell: "Bash", Asks: "AskUserQuestion", Mode: "default"},
	{Name: "claude-acp", SetUp: (*World).ClaudeEnv, Shell: "Bash", Asks: "AskUserQuestion", Programs: []string{"claude-agent-acp", "claude"}, Turns: true, Mode: "default"},
	{
		Name: "codex", SetUp: (*World).codexAsksEnv, Shell: "exec_command", Programs: []string{"codex-acp", "codex"}, Absorbs: true,
		Asks: "request_user_input", AsksIf: "with a setting", Mode: "read-only",
		call: func(command string) Args {
			return Args{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "a test"}
		},
	},
	{Name: "gemini", SetUp: (*World).geminiEnv, Shell: "run_shell_command", With: " -- --model gemini-2.5-flash", Forgets: true, Mode: "default"},
	{Name: "opencode", SetUp: (*World).OpencodeEnv, Shell: "bash"},
	{Name: "copilot", SetUp: (*World).copilotEnv, Shell: "bash"},
}

func ChatAgentNamed(name string) ChatAgent {
	return ChatAgents[slices.IndexFunc(ChatAgents, func(c ChatAgent) bool { return c.Name == name })]
}

// Chatting is a gateway chat in a terminal, with an agent. The test plays the agent's model.
type Chatting struct {
	*PlayedModel
	S     *Terminal
	Agent ChatAgent
	Env   string // set before the command
}

// NewChat prepares a terminal for a conversation with an agent.
func (w *World) NewChat(c ChatAgent) *Chatting {
	w.T.Helper()
	if c.Programs == nil {
		c.Programs = []string{c.Name}
	}
	m, url := w.PlayModel()
	m.Agent = w.Prepare("true") // the terminal runs the agent, not the test
	dir := w.Path("agents")
	require.NoError(w.T, os.Mkdir(dir, 0o700))
	for _, program := range c.Programs {
		require.NoError(w.T, os.Symlink(FromNpm(w.T, program), filepath.Join(dir, program)))
	}
	env := append(c.SetUp(w, url), "PATH="+dir+":"+filepath.Join(Root, "bin")+":"+os.Getenv("PATH"))
	return &Chatting{PlayedModel: m, S: w.Terminal(100, 50), Agent: c, Env: "env '" + strings.Join(env, "' '") + "' "}
}

// Next waits for the agent's next question to the model.
func (c *Chatting) Next() fakemodel.Request {
	c.W.T.Helper()
	return c.nextUntil(nil, c.S.Screen)
}

// Say types a line.
func (c *Chatting) Say(line string) {
	c.W.T.Helper()
	c.S.Typed(line)
	c.S.Press("Enter")
}

// CallShell lets the model run a command.
func (c *Chatting) CallShell(command string) {
	c.W.T.Helper()
	with := Args{"command": command, "description": "a test"}
	if c.Agent.call != nil {
		with = c.Agent.call(command)
	}
	c.Reply(fakemodel.Turn{Tool: c.Agent.Shell, Args: with})
}

// WaitForLog waits until words stand in the conversation of a session.
func (w *World) WaitForLog(id, words string) string {
	w.T.Helper()
	var got Result
	w.Until(func() bool {
		got = w.Gateway("chat", "log", id)
		return strings.Contains(got.Out, words)
	}, func() string { return words + " in: " + got.Out + got.Err })
	return got.Out
}
