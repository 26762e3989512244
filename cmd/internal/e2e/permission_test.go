package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// newPermissionTool starts the tool through which Claude Code asks for permission, for the
// conversation of a session.
func (w *world) newPermissionTool(id string) *agent {
	w.t.Helper()
	p := &agent{w: w, cmd: w.command(w.cli, "mcp", "--permission", "--session", id)}
	client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
	var err error
	p.session, err = client.Connect(w.ctx, &mcp.CommandTransport{Command: p.cmd}, nil)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { // one test kills it first
		if w.t.Failed() {
			_ = p.cmd.Process.Kill() // it may wait for an answer
		}
		_ = p.session.Close()
	})
	return p
}

// askPermission lets it ask for a command, and returns once the request is in the conversation.
func (p *agent) askPermission(id, command string) <-chan answer {
	p.w.t.Helper()
	asking := p.startCall("approval_prompt", args{"tool_name": "Bash", "input": args{"command": command}, "tool_use_id": "toolu_1"})
	p.w.waitForApproval(id, command)
	return asking
}

// waitForApproval waits until a conversation has an approval of a command. The conversation's state
// alone may still belong to the previous approval.
func (w *world) waitForApproval(id, command string) {
	w.t.Helper()
	w.waitForLog(id, command)
	w.waitForChat(id, protocol.ChatApproval)
}

// checkDenied checks why a call was denied.
func (w *world) checkDenied(asking <-chan answer, words string) {
	w.t.Helper()
	got := w.waitAnswer(asking).text
	require.Contains(w.t, got, `"behavior":"deny"`)
	require.Contains(w.t, got, words)
}

// Another agent's request is answered like the coding agent's own, and every failure denies it.
func TestAPermissionIsAskedInAConversation(t *testing.T) {
	w, s, o, id := startTalk(t)
	p := w.newPermissionTool(id)
	asking := p.askPermission(id, "touch x")
	require.Contains(t, w.waitForLog(id, "touch x"), "May agent claude -p use Bash?\n  │ command: touch x\n  1  allow once\n  2  refuse\n")
	o.run("gateway chat answer " + id + " once")
	o.wait("allow once? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	require.JSONEq(t, `{"behavior":"allow","updatedInput":{"command":"touch x"}}`, w.waitAnswer(asking).text)
	w.waitForChat(id, protocol.ChatAtPrompt)

	asking = p.askPermission(id, "touch y")
	w.mustGateway("chat", "answer", id, "refuse", "--words", "not that one")
	w.checkDenied(asking, "not that one")
	asking = p.askPermission(id, "touch z")
	w.mustGateway("chat", "interrupt", id)
	w.checkDenied(asking, "interrupted")
	w.checkDenied(p.startCall("approval_prompt", args{"tool_name": "Bash"}), "could not be put to the user")
	w.checkDenied(w.newPermissionTool("nobody").startCall("approval_prompt", args{"tool_name": "Bash", "input": args{}}), "unknown session")

	form := p.startCall("approval_prompt", args{"tool_name": "AskUserQuestion", "input": args{"questions": []args{{"question": "Which?", "options": []args{{"label": "Red"}}}}}})
	w.waitForChat(id, protocol.ChatAsks)
	o.run("gateway chat answer " + id + " --reply 1")
	o.wait("send this answer? [y/N]")
	o.typed("y\n")
	require.Contains(t, w.waitAnswer(form).text, `"answers":{"Which?":"Red"}`)

	asking = p.askPermission(id, "touch u")
	w.mustGateway("mute", id, "--agent", "claude -p")
	w.checkDenied(asking, "is muted")
	w.checkDenied(p.startCall("approval_prompt", args{"tool_name": "Bash", "input": args{"command": "touch u"}}), "the user muted you")
	o.run("gateway mute " + id + " --off")
	o.wait("[y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())

	p.askPermission(id, "touch v")
	require.NoError(t, p.cmd.Process.Kill())
	w.waitForLog(id, "closed: the agent that asked took it back, or is gone")
	w.waitForChat(id, protocol.ChatAtPrompt)
	p = w.newPermissionTool(id)
	asking = p.askPermission(id, "touch w")
	s.press("C-d")
	require.Zero(t, s.status())
	w.checkDenied(asking, "No answer came, so this is refused")
	audit := w.mustGateway("audit", "show", "s.cast")
	require.Contains(t, audit, "claude -p asks under ")
	require.Contains(t, audit, `permission for Bash {"command":"touch x"}`)
}

func TestACoveredCommandCannotBeAllowedUnseen(t *testing.T) {
	w, _, o, id := startTalk(t)
	p := w.newPermissionTool(id)
	hidden := p.startCall("approval_prompt", args{"tool_name": "Bash", "input": args{"command": `PASSWORD="hunter2$(touch HIDDEN)" make`}, "tool_use_id": "toolu_1"})
	w.waitForApproval(id, "PASSWORD=")
	require.Regexp(t, "NOT SHOWN IN FULL: .*masked as a secret, .*here it can be refused only.*gateway chat in a terminal of its own.*\n  1  refuse\n", w.waitForLog(id, "NOT SHOWN IN FULL"))
	o.run("gateway chat answer " + id + " once")
	o.wait("masked as a secret")
	require.NotZero(t, o.status())
	w.mustGateway("chat", "answer", id, "refuse")
	w.checkDenied(hidden, "")
	require.NoFileExists(t, w.path("HIDDEN"))
}

// Neither side takes an answer for a permission that was lost with its gateway.
func TestAPermissionDiesWithTheGateway(t *testing.T) {
	w := newWorld(t)
	serving := w.serve("gateway")
	s := w.terminal(80, 24)
	s.run(`talker "" sh -c 'echo ready; cat'`)
	s.wait("ready")
	id := w.session()
	p := w.newPermissionTool(id)
	asking := p.askPermission(id, "touch x")
	require.NoError(t, serving.cmd.Process.Kill())
	serving.wait()
	w.checkDenied(asking, "No answer came, so this is refused")
	w.waitForLog(id, "closed: the connection to the agent that asked was lost")
	s.press("C-d")
	require.Zero(t, s.status())
}

// An agent that runs in a conversation's terminal, without a conversation of its own, asks the
// people of that conversation.
func TestAnAgentInsideAConversationAsksThere(t *testing.T) {
	w := newWorld(t, "python3")
	env := w.terminalAgentEnv()
	s, o := w.terminal(120, 30), w.owner(140, 40)
	s.run(env + `talker "" sh -c 'gateway chat --with gemini leave </dev/null; echo "ENDED $?"; cat'`)
	id := w.session()
	w.waitForChat(id, protocol.ChatApproval)
	require.Contains(t, w.waitForLog(id, "make all"), "May agent gemini use ")
	o.run("gateway chat answer " + id + " once")
	o.wait("allow once? [y/N]")
	o.typed("y\n")
	s.wait(`ANSWER {"optionId": "a", "outcome": "selected"}`)
	s.wait("ENDED 0")
	s.press("C-d")
	require.Zero(t, s.status())
}

// The same one level down, where the outer conversation is a gateway chat.
func TestAnAgentInsideAnAgentsTerminalAsksItsUser(t *testing.T) {
	w := newWorld(t, "python3")
	serving := w.serve("gateway")
	s := w.terminal(120, 40)
	s.run(w.terminalAgentEnv() + "gateway chat --with gemini")
	s.wait("→ You:")
	s.typed("nest")
	s.press("Enter")
	s.wait("? May agent gemini 2 use a tool?")
	s.wait("→ Your answer (1-2):")
	s.typed("2")
	s.press("Enter")
	s.wait(`ANSWER {"optionId": "r", "outcome": "selected"}`)
	s.press("C-d")
	require.Zero(t, s.status())
	require.NoError(t, serving.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.wait().status)
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
	w := newWorld(t, "python3")
	serving := w.serve("gateway")
	s := w.terminal(120, 40)
	env := w.terminalAgentEnv()
	w.writeScript("agents/claude", lineAgent)
	s.run(env + "gateway chat")
	s.wait("→ You:")
	id := w.session()
	require.Contains(t, w.mustGateway("read", id), "answered where claude talks")
	s.typed("gateway chat --with gemini leave")
	s.press("Enter")
	s.wait("? May agent gemini use ")
	s.waitApproval("make all")
	w.gateway("chat", "answer", id, "once").mustFail(t, 1, "takes no prompts: answer at the terminal of its gateway chat")
	person := w.terminal(120, 20)
	screen, status := person.runToEnd("gateway chat send " + id + " 'use npm'")
	require.Equal(t, 1, status)
	require.Contains(t, screen, "takes no prompts")
	s.typed("1")
	s.press("Enter")
	s.wait(`ANSWER {"optionId": "a", "outcome": "selected"}`)

	p := w.newPermissionTool(id)
	asking := p.startCall("approval_prompt", args{"tool_name": "Bash", "input": args{"command": "touch x"}})
	s.wait("? May agent claude -p use Bash?")
	s.waitApproval("touch x")
	s.typed("n not that")
	s.press("Enter")
	w.checkDenied(asking, "not that")
	asking = p.startCall("approval_prompt", args{"tool_name": "Bash", "input": args{"command": "touch y"}})
	s.wait("command: touch y")
	require.NoError(t, serving.cmd.Process.Kill())
	serving.wait()
	w.checkDenied(asking, "No answer came, so this is refused")
	s.wait("closed: the connection to the agent that asked was lost")
	s.see("the prompt", func(string) bool { return strings.HasPrefix(s.bottomRow(), "→ You:") })
	s.press("C-d")
	require.Zero(t, s.status())
}
