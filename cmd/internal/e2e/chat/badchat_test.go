package chat_test

import (
	"net/http"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// A prompt that is too large is refused with a next step, and the conversation continues.
func TestALargePromptIsRefused(t *testing.T) {
	const most = 10 << 20
	w := world.New(t)
	r := w.Prepare("gateway", "chat", "--with", "gemini")
	r.Cmd.Stdin = strings.NewReader(strings.Repeat("x", most))
	r.Run()
	r.Wait().MustFail(t, 2, "the prompt on standard input is longer than 1048576 bytes: put the text into a file, and name the file in the prompt")

	serving := w.Serve("gateway")
	h := w.ActedHeadless()
	h.Start()
	id := w.Session()
	owner := strings.TrimSpace(w.MustGateway("token", "create", "owner", "--role", "owner"))
	status, body := serving.PostPrompt(owner, id, strings.Repeat("x", most))
	require.Equal(t, http.StatusRequestEntityTooLarge, status, body)
	require.Regexp(t, `"message":".*(bytes|large|longer)`, body)
	h.Brief()
	require.NotContains(t, w.MustGateway("chat", "log", id), "xxxx")
	w.MustGateway("close", id)
}

// Two agents of one name ask at once: each gets the answer to its own request.
func TestTwoAgentsOfOneName(t *testing.T) {
	w, s, o, id := world.StartTalk(t)
	one, other := newPermissionTool(w, id), newPermissionTool(w, id)
	first := askPermission(one, id, "touch one")
	second := other.StartCall("approval_prompt", world.Args{"tool_name": "Bash", "input": world.Args{"command": "touch other"}, "tool_use_id": "toolu_1"})
	log := w.WaitForLog(id, "touch other")
	require.Contains(t, log, "May agent claude -p use Bash?\n  │ command: touch one")
	require.Contains(t, log, "May agent claude -p 2 use Bash?\n  │ command: touch other")
	w.Gateway("chat", "answer", id, "once").MustFail(t, 2, "2 requests are open: name one of ")
	o.Run("gateway chat answer " + id + " " + requestOf(log, "touch one") + " once")
	o.Wait("allow once? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	require.JSONEq(t, `{"behavior":"allow","updatedInput":{"command":"touch one"}}`, w.WaitAnswer(first).Text)
	w.MustGateway("chat", "answer", id, requestOf(log, "touch other"), "refuse", "--words", "not the other")
	checkDenied(w, second, "not the other")
	w.WaitForChat(id, protocol.ChatAtPrompt)
	s.Press("C-d")
	require.Zero(t, s.Status())
}

// requestOf returns the id of the request for a command, from a conversation's log.
func requestOf(log, command string) string {
	_, behind, _ := strings.Cut(log, "command: "+command)
	_, behind, _ = strings.Cut(behind, "request ")
	name, _, _ := strings.Cut(behind, "\n")
	return name
}
