package chat_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

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
func terminalAgentEnv(w *world.World) string {
	w.T.Helper()
	require.NoError(w.T, os.Mkdir(w.Path("agents"), 0o700))
	w.WriteScript("agents/gemini", terminalAgent)
	return "PATH=" + w.Path("agents") + ":$PATH "
}

// What an agent of a chat runs in a terminal is listed as a session, and a person can type there.
func TestAnAgentsTerminalIsASession(t *testing.T) {
	w := world.New(t, "python3")
	serving := w.Serve("gateway")
	env := terminalAgentEnv(w)
	s := w.Terminal(100, 30)
	s.Run(env + "gateway chat --with gemini")
	s.Wait("→ You:")
	s.Typed("go")
	s.Press("Enter")
	id := ""
	w.Until(func() bool {
		for line := range strings.Lines(w.Gateway("ls").Out) {
			if strings.Contains(line, "gemini_s-") {
				id = strings.Fields(line)[0]
			}
		}
		return id != ""
	}, func() string { return w.Gateway("ls").Out + s.Screen() })
	person := w.Terminal(100, 30)
	person.Run("gateway attach " + id)
	person.Wait("your name?")
	person.Typed("Ada")
	person.Press("Enter")
	s.Wait("SAW hello Ada from here EXIT 3")
	s.Wait("RUNS True")
	s.Wait("KILLED ")
	s.Typed("fail")
	s.Press("Enter")
	s.Wait("REFUSED: cannot start the program in a terminal: ")
	w.Until(func() bool { return strings.Contains(strings.Join(w.Processes(), "\n"), "sleep 2000") }, func() string { return "it does not run" })
	s.Press("C-d")
	require.Zero(t, s.Status())
	w.Until(func() bool { return !strings.Contains(strings.Join(w.Processes(), "\n"), "sleep 2000") }, func() string { return "it outlives the conversation" })
	require.NoError(t, serving.Cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.Wait().Status)
}

// Without a gateway, the agent runs its programs itself.
func TestAnAgentsTerminalNeedsAGateway(t *testing.T) {
	w := world.New(t, "python3")
	s := w.Terminal(100, 30)
	s.Run(terminalAgentEnv(w) + "gateway chat --with gemini go")
	s.Wait("NO TERMINAL IS OFFERED")
	require.Zero(t, s.Status())
	require.NotContains(t, strings.Join(w.Processes(), "\n"), "serve")
}
