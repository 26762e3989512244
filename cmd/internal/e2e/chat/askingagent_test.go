package chat_test

import (
	"os"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// askingAgent speaks the Agent Client Protocol. It asks for permission, and repeats the answer.
const askingAgent = `#!/usr/bin/env python3
import json, os, sys
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
while True:
    m = hear()
    if m["method"] == "initialize":
        send({"id": m["id"], "result": {"protocolVersion": 1}})
    elif m["method"] == "session/new":
        send({"id": m["id"], "result": {"sessionId": own}})
    elif m["method"] == "session/prompt":
        send({"id": "ask", "method": "session/request_permission", "params": {
            "sessionId": own, "toolCall": {"toolCallId": "t-1", "title": "make all", "rawInput": {"command": "make all"}}, "options": [
                {"optionId": "a", "name": "Allow", "kind": "allow_once"}, {"optionId": "r", "name": "Reject", "kind": "reject_once"}]}})
        answer = hear()
        while answer.get("id") != "ask":
            answer = hear()
        send({"method": "session/update", "params": {"sessionId": own, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ANSWER %s" % json.dumps(answer["result"]["outcome"])}}}})
        send({"id": m["id"], "result": {"stopReason": "end_turn"}})
`

// askingAgentEnv installs that agent under Gemini CLI's name.
func askingAgentEnv(w *world.World) string {
	w.T.Helper()
	require.NoError(w.T, os.Mkdir(w.Path("agents"), 0o700))
	w.WriteScript("agents/gemini", askingAgent)
	return "PATH=" + w.Path("agents") + ":$PATH "
}
