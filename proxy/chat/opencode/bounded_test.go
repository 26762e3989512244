package opencode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/chattest"
	"terminalproxy/proxy/chat/opencode"
)

// Messages, parts, calls and sessions, under any names.
func TestTheServersMemoryIsBounded(t *testing.T) {
	take := opencode.Reader("ses_1", func(chat.Event) {})
	long := strings.Repeat("x", 1000)
	kept := chattest.MeasureKept(func() {
		for i := range 6_000 {
			id := fmt.Sprint(i, long)
			take("session.created", fmt.Sprintf(`{"info":{"id":%q,"parentID":"ses_1"}}`, id))
			take("message.updated", fmt.Sprintf(`{"info":{"id":%q,"sessionID":"ses_1","role":"assistant"}}`, id))
			take("message.part.updated", fmt.Sprintf(`{"part":{"id":%q,"messageID":%q,"sessionID":"ses_1","type":"text","text":"x"}}`, id, id))
			take("message.part.updated", fmt.Sprintf(`{"part":{"id":%q,"sessionID":"ses_1","type":"tool","callID":%q,"state":{"status":"completed"}}}`, id, id))
		}
	}, take)
	require.Less(t, kept, 10<<20, "bytes")
}
