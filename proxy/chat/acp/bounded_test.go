package acp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
	"terminalproxy/proxy/chat/chattest"
)

// Memory is bounded whatever an agent sends, and whether or not its calls end.
func TestAnAgentsMemoryIsBounded(t *testing.T) {
	const size = 200 << 10
	call := func(id int, more string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t%d",%s}}}`, id, more)
	}
	input := fmt.Sprintf(`"kind":"edit","rawInput":{"text":%q}`, strings.Repeat("x", size))
	words := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, strings.Repeat("x", size))
	unknown := func(i int) []byte {
		return fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"%d%s"}}}`, i, strings.Repeat("x", size))
	}
	for name, c := range map[string]struct {
		updates, limit int // limit is in bytes
		send           func(line func([]byte), i int)
	}{
		"calls that end": {
			25, 1 << 20,
			func(line func([]byte), i int) { line(call(i, input)); line(call(i, `"status":"completed"`)) },
		},
		"calls that do not":   {210, 40 << 20, func(line func([]byte), i int) { line(call(i, input)) }},
		"a text that goes on": {25, 1 << 20, func(line func([]byte), _ int) { line(words) }},
		"unknown updates":     {25, 1 << 20, func(line func([]byte), i int) { line(unknown(i)) }},
	} {
		t.Run(name, func(t *testing.T) {
			line := acp.Reader("s1", func(chat.Event) {})
			kept := chattest.MeasureKept(func() {
				for i := range c.updates {
					c.send(line, i)
				}
			}, line)
			require.Less(t, kept, c.limit, "bytes")
		})
	}
}

// A long text is passed on in parts, without a loss.
func TestALongTextComesInParts(t *testing.T) {
	said := ""
	line := acp.Reader("s1", func(e chat.Event) {
		if one, ok := e.(chat.ItemAdded); ok && one.Item.Kind == chat.Text {
			said += one.Item.Text
		}
	})
	want := ""
	for i := range 300 {
		text := fmt.Sprint(i, strings.Repeat("x", 4<<10))
		want += text
		line(fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text))
	}
	line([]byte(`{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t"}}}`))
	require.Equal(t, want, said)
}
