package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli/outer"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// If the user cannot be asked, the request is denied, for any reason.
func TestARequestThatCannotBeAskedIsDenied(t *testing.T) {
	o := &outer.Conversation{Session: "x", Client: client.New(client.Config{
		URL: "ws://x" + protocol.PathAgent, Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("no gateway") },
	})}
	defer func() { require.NoError(t, o.Client.Close()) }()
	for arguments, why := range map[string]string{
		`{"tool_name":"Bash","input":{"command":"x"}}`: "no gateway",
		`{"tool_name":"Bash","input":"x"}`:             "could not be put",
		`{"input":{}}`:                                 "could not be put",
		`[]`:                                           "could not be put",
		`{"tool_name":"AskUserQuestion","input":{}}`:                                                  "could not be put",
		`{"tool_name":"Write","input":{"content":"` + strings.Repeat("x", protocol.MaxPrompt) + `"}}`: "the limit is",
	} {
		got := answerPermission(t.Context(), o, json.RawMessage(arguments))
		require.Equal(t, "deny", got["behavior"], arguments)
		require.Contains(t, got["message"], why, arguments[:min(len(arguments), 60)])
	}
	_, answer, err := o.AskPeople(t.Context(), &chat.Request{Tool: strings.Repeat("é", 200), Allows: []chat.Choice{{Verdict: chat.Once}}})
	require.ErrorContains(t, err, "no gateway")
	require.True(t, answer.Refuses())
}
