package fakemodel_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/fakemodel"
)

// vendors are, of each API, a conversation in which a tool was called once, and how a call of it and words are answered.
var vendors = map[string]struct{ path, body, call, words string }{
	"anthropic": {
		"/v1/messages", `{"tools": [{"name": "mcp__term__look"}], "messages": [{"role": "user", "content": [{"type": "text", "text": "look"}]},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "mcp__term__look", "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "bread"}]}]}]}`,
		`"name":"mcp__term__look"`, `"text_delta"`,
	},
	"responses": {
		"/v1/responses", `{"tools": [{"type": "namespace", "name": "mcp__term", "tools": [{"type": "function", "name": "look"}]}], "input": [
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
			{"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
			{"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "bread"}]}]}`,
		`"name":"look","namespace":"mcp__term"`, `"response.output_text.delta"`,
	},
	"chat": {
		"/v1/chat/completions", `{"tools": [{"type": "function", "function": {"name": "term-look"}}], "messages": [
			{"role": "user", "content": "look"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "term-look"}}]},
			{"role": "tool", "tool_call_id": "1", "content": "bread"}]}`,
		`"name":"term-look"`, `"finish_reason":"stop"`,
	},
	"gemini": {
		"/v1beta/models/fake:streamGenerateContent", `{"tools": [{"functionDeclarations": [{"name": "mcp_term_look"}]}], "contents": [
			{"role": "user", "parts": [{"text": "look"}]}, {"role": "model", "parts": [{"functionCall": {"name": "mcp_term_look"}}]},
			{"role": "user", "parts": [{"functionResponse": {"name": "mcp_term_look", "response": {"output": "bread"}}}]}]}`,
		`"name":"mcp_term_look"`, `"finishReason":"STOP"`,
	},
}

func ask(t *testing.T, model http.Handler, path, body string) (status int, answer string) {
	t.Helper()
	w := httptest.NewRecorder()
	model.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func TestItSpeaksAsEachVendor(t *testing.T) {
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) {
			turn := fakemodel.Turn{Tool: "look", Args: map[string]any{"rows": 3}}
			model := fakemodel.New(func(_ context.Context, r fakemodel.Request) fakemodel.Turn {
				require.Equal(t, "look", r.Prompt)
				require.Equal(t, "bread", r.Result)
				require.Equal(t, 1, r.Calls)
				require.Len(t, r.Tools, 1)
				return turn
			})
			_, got := ask(t, model, v.path, v.body)
			require.Contains(t, got, v.call)
			require.Contains(t, strings.ReplaceAll(got, `\`, ""), `{"rows":3}`)
			turn = fakemodel.Turn{Say: "it is bread"}
			_, got = ask(t, model, v.path, v.body)
			require.Contains(t, got, v.words)
			require.Contains(t, got, "it is bread")
			turn = fakemodel.Turn{Tool: "dance"}
			status, got := ask(t, model, v.path, v.body)
			require.Equal(t, http.StatusBadRequest, status)
			require.Contains(t, got, "the agent offers no tool dance")
		})
	}
}

// A request without tools is none of the conversation's.
func TestItGivesTitlesByItself(t *testing.T) {
	model := fakemodel.New(func(context.Context, fakemodel.Request) fakemodel.Turn { panic("nobody thinks of titles") })
	_, got := ask(t, model, "/v1/chat/completions", `{"messages": [{"role": "user", "content": "look"}]}`)
	require.Contains(t, got, "a title")
}

func TestItLoadsADeferredToolFirst(t *testing.T) {
	asked := 0
	model := fakemodel.New(func(context.Context, fakemodel.Request) fakemodel.Turn {
		asked++
		return fakemodel.Turn{Tool: "look"}
	})
	const deferred = `"messages": [{"role": "system", "content": "Deferred:\nmcp__term__look\nmcp__term__say"}]}`
	_, got := ask(t, model, "/v1/messages", `{"tools": [{"name": "ToolSearch"}], `+deferred)
	require.Contains(t, got, `"name":"ToolSearch"`)
	require.Contains(t, got, `select:mcp__term__look`)
	_, got = ask(t, model, "/v1/messages", `{"tools": [{"name": "ToolSearch"}, {"name": "mcp__term__look"}], `+deferred)
	require.Contains(t, got, `"name":"mcp__term__look"`)
	require.Equal(t, 1, asked)

	_, got = ask(t, model, "/v1/responses", `{"tools": [{"type": "tool_search"}], "input": []}`)
	require.Contains(t, got, `"type":"tool_search_call"`)
	require.Contains(t, got, `{"query":"look"}`)
	_, got = ask(t, model, "/v1/responses", `{"tools": [{"type": "tool_search"}], "input": [
		{"type": "tool_search_output", "tools": [{"type": "namespace", "name": "mcp__term", "tools": [{"name": "look"}]}]}]}`)
	require.Contains(t, got, `"name":"look","namespace":"mcp__term"`)
	require.Equal(t, 2, asked)
}
