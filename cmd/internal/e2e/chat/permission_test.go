package chat_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// newPermissionTool starts the tool through which Claude Code asks for permission, for the
// conversation of a session.
func newPermissionTool(w *world.World, id string) *world.Agent {
	w.T.Helper()
	p := &world.Agent{W: w, Cmd: w.Command(w.CLI, "mcp", "--permission", "--session", id)}
	client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
	var err error
	p.Session, err = client.Connect(w.Ctx, &mcp.CommandTransport{Command: p.Cmd}, nil)
	require.NoError(w.T, err)
	w.T.Cleanup(func() { // one test kills it first
		if w.T.Failed() {
			_ = p.Cmd.Process.Kill() // it may wait for an answer
		}
		_ = p.Session.Close()
	})
	return p
}

// askPermission lets it ask for a command, and returns once the request is in the conversation.
func askPermission(p *world.Agent, id, command string) <-chan world.Answer {
	p.W.T.Helper()
	asking := p.StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{"command": command}, "tool_use_id": "toolu_1"})
	p.W.WaitForApproval(id, command)
	return asking
}

// checkDenied checks why a call was denied.
func checkDenied(w *world.World, asking <-chan world.Answer, words string) {
	w.T.Helper()
	got := w.WaitAnswer(asking).Text
	require.Contains(w.T, got, `"behavior":"deny"`)
	require.Contains(w.T, got, words)
}

// Another agent's request is answered like the coding agent's own, and every failure denies it.
func TestAPermissionIsAskedInAConversation(t *testing.T) {
	w, s, o, id := world.StartTalk(t)
	p := newPermissionTool(w, id)
	asking := askPermission(p, id, "touch x")
	require.Contains(t, w.WaitForLog(id, "touch x"), "May agent claude -p use Bash?\n  │ command: touch x\n  1  allow once\n  2  refuse\n")
	o.Run("gateway chat answer " + id + " once")
	o.Wait("allow once? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	require.JSONEq(t, `{"behavior":"allow","updatedInput":{"command":"touch x"}}`, w.WaitAnswer(asking).Text)
	w.WaitForChat(id, protocol.ChatAtPrompt)

	asking = askPermission(p, id, "touch y")
	w.MustGateway("chat", "answer", id, "refuse", "--words", "not that one")
	checkDenied(w, asking, "not that one")
	asking = askPermission(p, id, "touch z")
	w.MustGateway("chat", "interrupt", id)
	checkDenied(w, asking, "interrupted")
	checkDenied(w, p.StartCall("approval_prompt", world.Args{"tool_name": "Bash"}), "could not be put to the user")
	checkDenied(w, newPermissionTool(w, "nobody").StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{}}), "unknown session")

	form := p.StartCall("approval_prompt", world.Args{"tool_name": "AskUserQuestion", "input": world.Args{"questions": []world.Args{{"question": "Which?", "options": []world.Args{{"label": "Red"}}}}}})
	w.WaitForChat(id, protocol.ChatAsks)
	o.Run("gateway chat answer " + id + " --reply 1")
	o.Wait("send this answer? [y/N]")
	o.Typed("y\n")
	require.Contains(t, w.WaitAnswer(form).Text, `"answers":{"Which?":"Red"}`)

	asking = askPermission(p, id, "touch u")
	w.MustGateway("mute", id, "--agent", "claude -p")
	checkDenied(w, asking, "is muted")
	checkDenied(w, p.StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{"command": "touch u"}}), "the user muted you")
	o.Run("gateway mute " + id + " --off")
	o.Wait("[y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())

	askPermission(p, id, "touch v")
	require.NoError(t, p.Cmd.Process.Kill())
	w.WaitForLog(id, "closed: the agent that asked took it back, or is gone")
	w.WaitForChat(id, protocol.ChatAtPrompt)
	p = newPermissionTool(w, id)
	asking = askPermission(p, id, "touch w")
	s.Press("C-d")
	require.Zero(t, s.Status())
	checkDenied(w, asking, "No answer came, so this is refused")
	audit := w.MustGateway("audit", "show", "s.cast")
	require.Contains(t, audit, "claude -p asks under ")
	require.Contains(t, audit, `permission for Bash {"command":"touch x"}`)
}

func TestACoveredCommandCannotBeAllowedUnseen(t *testing.T) {
	w, _, o, id := world.StartTalk(t)
	p := newPermissionTool(w, id)
	hidden := p.StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{"command": `PASSWORD="hunter2$(touch HIDDEN)" make`}, "tool_use_id": "toolu_1"})
	w.WaitForApproval(id, "PASSWORD=")
	require.Regexp(t, "NOT SHOWN IN FULL: .*masked as a secret, .*here it can be refused only.*gateway chat in a terminal of its own.*\n  1  refuse\n", w.WaitForLog(id, "NOT SHOWN IN FULL"))
	o.Run("gateway chat answer " + id + " once")
	o.Wait("masked as a secret")
	require.NotZero(t, o.Status())
	w.MustGateway("chat", "answer", id, "refuse")
	checkDenied(w, hidden, "")
	require.NoFileExists(t, w.Path("HIDDEN"))
}

// Neither side takes an answer for a permission that was lost with its gateway.
func TestAPermissionDiesWithTheGateway(t *testing.T) {
	w := world.New(t)
	serving := w.Serve("gateway")
	s := w.Terminal(80, 24)
	s.Run(`talker "" sh -c 'echo ready; cat'`)
	s.Wait("ready")
	id := w.Session()
	p := newPermissionTool(w, id)
	asking := askPermission(p, id, "touch x")
	require.NoError(t, serving.Cmd.Process.Kill())
	serving.Wait()
	checkDenied(w, asking, "No answer came, so this is refused")
	w.WaitForLog(id, "closed: the connection to the agent that asked was lost")
	s.Press("C-d")
	require.Zero(t, s.Status())
}

// An agent that runs in a conversation's terminal, without a conversation of its own, asks the
// people of that conversation.
func TestAnAgentInsideAConversationAsksThere(t *testing.T) {
	w := world.New(t, "python3")
	env := askingAgentEnv(w)
	s, o := w.Terminal(120, 30), w.Owner(140, 40)
	s.Run(env + `talker "" sh -c 'gateway chat --with gemini leave </dev/null; echo "ENDED $?"; cat'`)
	id := w.Session()
	w.WaitForChat(id, protocol.ChatApproval)
	require.Contains(t, w.WaitForLog(id, "make all"), "May agent gemini use ")
	o.Run("gateway chat answer " + id + " once")
	o.Wait("allow once? [y/N]")
	o.Typed("y\n")
	s.Wait(`ANSWER {"optionId": "a", "outcome": "selected"}`)
	s.Wait("ENDED 0")
	s.Press("C-d")
	require.Zero(t, s.Status())
}

// lineAgent is Claude Code without its interface. It runs a command for a prompt without asking,
// and prints the result.
const lineAgent = `#!/usr/bin/env python3
import json, subprocess, sys
def send(m):
    sys.stdout.write(json.dumps(m) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "control_request":
        send({"type": "control_response", "response": {"subtype": "success", "request_id": m["request_id"], "response": {}}})
    if m["type"] == "user":
        send({"type": "command_lifecycle", "command_uuid": m["uuid"], "state": "started"})
        said = subprocess.run(m["message"]["content"], shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        send({"type": "assistant", "message": {"content": [{"type": "text", "text": "CAME %s%s" % (said.stdout, said.stderr)}]}})
        send({"type": "result", "result": "done"})
`

// An agent below Claude Code in a gateway chat, or pointed there, gets its answer at that chat's
// prompt.
func TestAnAgentThatClaudeStartsAsksItsUser(t *testing.T) {
	w := world.New(t, "python3")
	serving := w.Serve("gateway")
	s := w.Terminal(120, 40)
	env := askingAgentEnv(w)
	w.WriteScript("agents/claude", lineAgent)
	s.Run(env + "gateway chat")
	s.Wait("→ You:")
	id := w.Session()
	world.WaitRead(w, id, "answered where you talk to claude")
	s.Typed("gateway chat --with gemini leave")
	s.Press("Enter")
	s.Wait("? May agent gemini use ")
	waitApproval(s, "make all")
	w.Gateway("chat", "answer", id, "once").MustFail(t, 1, "accepts no prompts: answer at the terminal of its gateway chat")
	person := w.Terminal(120, 20)
	screen, status := person.RunToEnd("gateway chat send " + id + " 'use npm'")
	require.Equal(t, 1, status)
	require.Contains(t, screen, "accepts no prompts")
	s.Typed("1")
	s.Press("Enter")
	s.Wait(`ANSWER {"optionId": "a", "outcome": "selected"}`)

	p := newPermissionTool(w, id)
	asking := p.StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{"command": "touch x"}})
	s.Wait("? May agent claude -p use Bash?")
	waitApproval(s, "touch x")
	s.Typed("n not that")
	s.Press("Enter")
	checkDenied(w, asking, "not that")
	asking = p.StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{"command": "touch y"}})
	s.Wait("command: touch y")
	require.NoError(t, serving.Cmd.Process.Kill())
	serving.Wait()
	checkDenied(w, asking, "No answer came, so this is refused")
	s.Wait("closed: the connection to the agent that asked was lost")
	s.See("the prompt", func(string) bool { return strings.HasPrefix(bottomRow(s), "→ You:") })
	s.Press("C-d")
	require.Zero(t, s.Status())
}
