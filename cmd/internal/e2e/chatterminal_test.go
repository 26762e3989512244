package e2e_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// terminalAgent speaks the Agent Client Protocol. It runs a program in a terminal of the client's
// and repeats what the program printed.
const terminalAgent = `#!/usr/bin/env python3
import json, os, sys
n = 100
own = "s-%d" % os.getpid() # agents give no id twice
def send(m):
    m["jsonrpc"] = "2.0"
    sys.stdout.write(json.dumps(m) + "\n")
    sys.stdout.flush()
def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
def ask(method, **params):
    global n
    n += 1
    send({"id": n, "method": method, "params": dict(params, sessionId=own)})
    while True:
        m = hear()
        if m.get("id") == n:
            return m["result"] if "result" in m else m["error"]["message"]
def say(words):
    send({"method": "session/update", "params": {"sessionId": own, "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}}})
offered = False
while True:
    m = hear()
    if m["method"] == "initialize":
        offered = m["params"]["clientCapabilities"]["terminal"]
        send({"id": m["id"], "result": {"protocolVersion": 1}})
    elif m["method"] == "session/new":
        send({"id": m["id"], "result": {"sessionId": own}})
    elif m["method"] == "session/prompt":
        text = m["params"]["prompt"][0]["text"]
        if text == "leave":
            say("ANSWER %s" % json.dumps(ask("session/request_permission", toolCall={"toolCallId": "t-1", "title": "make all", "rawInput": {"command": "make all"}}, options=[
                {"optionId": "a", "name": "Allow", "kind": "allow_once"}, {"optionId": "r", "name": "Reject", "kind": "reject_once"}])["outcome"]))
        elif not offered:
            say("NO TERMINAL IS OFFERED")
        elif text == "nest":
            t = ask("terminal/create", command="gateway chat --with gemini leave </dev/null")["terminalId"]
            ask("terminal/wait_for_exit", terminalId=t)
            say("INSIDE %s" % ask("terminal/output", terminalId=t)["output"])
        elif text == "fail":
            say("REFUSED: %s" % ask("terminal/create", command="/nowhere/to/be/found", args=["x"]))
        else:
            t = ask("terminal/create", command="read -p 'your name? ' n; echo \"hello $n from $WHERE\"; exit 3", env=[{"name": "WHERE", "value": "here"}])["terminalId"]
            end = ask("terminal/wait_for_exit", terminalId=t)
            out = ask("terminal/output", terminalId=t)
            say("SAW %s EXIT %s" % (out["output"].splitlines()[-1], end["exitCode"]))
            ask("terminal/release", terminalId=t)
            t = ask("terminal/create", command="sleep", args=["1000"])["terminalId"]
            say("\nRUNS %s" % ("exitStatus" not in ask("terminal/output", terminalId=t)))
            ask("terminal/kill", terminalId=t)
            say("\nKILLED %s" % ask("terminal/wait_for_exit", terminalId=t)["signal"])
            ask("terminal/create", command="sleep", args=["2000"])
        send({"id": m["id"], "result": {"stopReason": "end_turn"}})
`

// terminalAgentEnv installs that agent under Gemini CLI's name.
func (w *world) terminalAgentEnv() string {
	w.t.Helper()
	require.NoError(w.t, os.Mkdir(w.path("agents"), 0o700))
	w.writeScript("agents/gemini", terminalAgent)
	return "PATH=" + w.path("agents") + ":$PATH "
}

// What an agent of a chat runs in a terminal is listed as a session, and a person can type there.
func TestAnAgentsTerminalIsASession(t *testing.T) {
	w := newWorld(t, "python3")
	serving := w.serve("gateway")
	env := w.terminalAgentEnv()
	s := w.terminal(100, 30)
	s.run(env + "gateway chat --with gemini")
	s.wait("→ You:")
	s.typed("go")
	s.press("Enter")
	id := ""
	w.until(func() bool {
		for line := range strings.Lines(w.gateway("ls").out) {
			if strings.Contains(line, "gemini_s-") {
				id = strings.Fields(line)[0]
			}
		}
		return id != ""
	}, func() string { return w.gateway("ls").out + s.screen() })
	person := w.terminal(100, 30)
	person.run("gateway attach " + id)
	person.wait("your name?")
	person.typed("Ada")
	person.press("Enter")
	s.wait("SAW hello Ada from here EXIT 3")
	s.wait("RUNS True")
	s.wait("KILLED ")
	s.typed("fail")
	s.press("Enter")
	s.wait("REFUSED: cannot start the program in a terminal: ")
	w.until(func() bool { return strings.Contains(strings.Join(w.processes(), "\n"), "sleep 2000") }, func() string { return "it does not run" })
	s.press("C-d")
	require.Zero(t, s.status())
	require.NotContains(t, strings.Join(w.processes(), "\n"), "sleep 2000", "it ends with the conversation")
	require.NoError(t, serving.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.wait().status)
}

// Without a gateway, the agent runs its programs itself.
func TestAnAgentsTerminalNeedsAGateway(t *testing.T) {
	w := newWorld(t, "python3")
	s := w.terminal(100, 30)
	s.run(w.terminalAgentEnv() + "gateway chat --with gemini go")
	s.wait("NO TERMINAL IS OFFERED")
	require.Zero(t, s.status())
	require.NotContains(t, strings.Join(w.processes(), "\n"), "serve")
}
