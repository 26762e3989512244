package agents_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// An agent that asks anew may leave its first question open for a while, or withdraw it.
func TestAModelAnswersTheQuestionThatStands(t *testing.T) {
	w := world.New(t)
	m, url := w.PlayModel()
	m.Agent = w.Prepare("true")
	asks := func(text string) (answer <-chan string, takeBack context.CancelFunc) {
		ctx, cancel := context.WithCancel(w.Ctx)
		t.Cleanup(cancel)
		body := `{"messages": [{"role": "user", "content": "` + text + `"}], "tools": [{"type": "function", "function": {"name": "tool"}}]}`
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		came := make(chan string, 1)
		go func() { // ends with the answer, or with ctx
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				came <- err.Error()
				return
			}
			defer resp.Body.Close()
			said, _ := io.ReadAll(resp.Body)
			came <- string(said)
		}()
		return came, cancel
	}
	first, takeBack := asks("one")
	require.Equal(t, "one", m.Next().Text)
	second, _ := asks("two")
	require.Equal(t, "two", m.Next().Text)
	m.Reply(fakemodel.Turn{Say: "TO TWO"})
	require.Contains(t, <-second, "TO TWO")

	takeBack()
	require.Contains(t, <-first, context.Canceled.Error())
	w.Until(func() bool { return m.Thinking.Load() == 0 }, func() string { return "the model thinks about what was taken back" })
	third, _ := asks("three")
	require.Equal(t, "three", m.Next().Text)
	m.Reply(fakemodel.Turn{Say: "TO THREE"})
	require.Contains(t, <-third, "TO THREE")
	require.True(t, m.WasAsked("one") && !m.WasAsked("four"))
}
