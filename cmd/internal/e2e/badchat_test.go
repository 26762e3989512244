package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A prompt that is too large is refused with a next step, and the conversation continues.
func TestALargePromptIsRefused(t *testing.T) {
	const most = 10 << 20
	w := newWorld(t)
	r := w.prepare("gateway", "chat", "--with", "gemini")
	r.cmd.Stdin = strings.NewReader(strings.Repeat("x", most))
	r.run()
	r.wait().mustFail(t, 2, "the prompt on standard input is longer than 1048576 bytes: put the text into a file, and name the file in the prompt")

	serving := w.serve("gateway")
	h := w.actedHeadless()
	h.start()
	id := w.session()
	owner := strings.TrimSpace(w.mustGateway("token", "create", "owner", "--role", "owner"))
	status, body := serving.postPrompt(owner, id, strings.Repeat("x", most))
	require.Equal(t, http.StatusRequestEntityTooLarge, status, body)
	require.Regexp(t, `"message":".*(bytes|large|longer)`, body)
	h.brief()
	require.NotContains(t, w.mustGateway("chat", "log", id), "xxxx")
	w.mustGateway("close", id)
}

// Two agents of one name ask at once: each gets the answer to its own request.
func TestTwoAgentsOfOneName(t *testing.T) {
	w, s, o, id := startTalk(t)
	one, other := w.newPermissionTool(id), w.newPermissionTool(id)
	first := one.askPermission(id, "touch one")
	second := other.startCall("approval_prompt", args{"tool_name": "Bash", "input": args{"command": "touch other"}, "tool_use_id": "toolu_1"})
	log := w.waitForLog(id, "touch other")
	require.Contains(t, log, "May agent claude -p use Bash?\n  │ command: touch one")
	require.Contains(t, log, "May agent claude -p 2 use Bash?\n  │ command: touch other")
	w.gateway("chat", "answer", id, "once").mustFail(t, 2, "2 requests are open: name one of ")
	o.run("gateway chat answer " + id + " " + requestOf(log, "touch one") + " once")
	o.wait("allow once? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	require.JSONEq(t, `{"behavior":"allow","updatedInput":{"command":"touch one"}}`, w.waitAnswer(first).text)
	w.mustGateway("chat", "answer", id, requestOf(log, "touch other"), "refuse", "--words", "not the other")
	w.checkDenied(second, "not the other")
	w.waitForChat(id, protocol.ChatAtPrompt)
	s.press("C-d")
	require.Zero(t, s.status())
}

// requestOf returns the id of the request for a command, from a conversation's log.
func requestOf(log, command string) string {
	_, behind, _ := strings.Cut(log, "command: "+command)
	_, behind, _ = strings.Cut(behind, "request ")
	name, _, _ := strings.Cut(behind, "\n")
	return name
}
