package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
)

// An agent may ask without end, and a person may write to an agent that does not read.
func TestASessionsMemoryIsBounded(t *testing.T) {
	for name, size := range map[string]int{"many": 10, "large": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			s := chat.New("claude", f)
			require.NoError(t, s.Start())
			f.report(chat.Ready{})
			input := json.RawMessage(fmt.Sprintf("{%q:%q}", "command", strings.Repeat("x", size)))
			const asked = 300
			for i := range asked {
				f.report(chat.RequestOpened{Request: chat.Request{ID: fmt.Sprint(i), Tool: "Bash", Input: input}})
			}
			open := s.OpenRequests()
			require.Less(t, len(open), asked)
			require.LessOrEqual(t, len(open)*size, 64<<20)
			refused := 0
			for _, did := range f.done() {
				if strings.HasPrefix(did, "refuse") {
					refused++
				}
			}
			require.Equal(t, asked, len(open)+refused, "each of the others is refused")
		})
	}
	f := &fake{}
	s := chat.New("claude", f)
	require.NoError(t, s.Start())
	f.report(chat.Ready{})
	var err error
	sent := 0
	for ; err == nil; sent++ {
		err = s.Send("ada", "go on")
	}
	require.ErrorContains(t, err, "has yet to read")
	f.report(chat.PromptAccepted{Prompt: f.sent[0].ID})
	require.NoError(t, s.Send("ada", "go on"))
}
