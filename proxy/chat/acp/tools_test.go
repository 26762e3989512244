package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
)

// ours is a server of tools under a name that cannot be guessed; the agent's own has a similar one.
var ours = &acp.Tools{
	Name: "term-k3f9", Allowed: []string{"terminal_read", "terminal_send"},
	Command: []string{"/bin/gateway", "mcp", "--shared-only"}, Env: []string{"HOME=/home/ada", "X=a=b"},
}

// The agent asks, as the captured agents do; calls of our tools alone are allowed unasked. What the
// model can write, such as a command that is shown as the title, allows nothing.
func TestOnlyOurToolsNeedNoApproval(t *testing.T) {
	const (
		claude = `"toolCallId":"t","rawInput":{},"kind":"other","title":"mcp__term-k3f9__terminal_read","_meta":{"claudeCode":{"toolName":"mcp__term-k3f9__terminal_read","mcpServer":{"name":"term-k3f9","source":"dynamic"}}}`
		begun  = `"toolCallId":"t","kind":"execute","title":"mcp.term-k3f9.terminal_send","rawInput":{"server":"term-k3f9","tool":"terminal_send","arguments":{}},"_meta":{"is_mcp_tool_call":true}`
		bare   = `"toolCallId":"t","kind":"execute","status":"pending"`
		gemini = `"toolCallId":"mcp_term-k3f9_terminal_send__call_2","status":"pending","title":"terminal_send (term-k3f9 MCP Server)","content":[{"type":"content","content":{"type":"text","text":"{}"}}],"kind":"other"`
	)
	swap := strings.ReplaceAll
	for name, c := range map[string]struct {
		names  acp.CallNames
		before []string // calls that were told of
		asked  string
		allows bool
	}{
		"claude":                               {acp.NamesInMeta, nil, claude, true},
		"claude, another server":               {acp.NamesInMeta, nil, swap(claude, `"name":"term-k3f9"`, `"name":"term-k3f"`), false},
		"claude, of a project":                 {acp.NamesInMeta, nil, swap(claude, "dynamic", "project"), false},
		"claude, another tool":                 {acp.NamesInMeta, nil, swap(claude, "terminal_read", "terminal_run"), false},
		"claude, the tool of another":          {acp.NamesInMeta, nil, swap(claude, `"toolName":"mcp__term-k3f9`, `"toolName":"mcp__x`), false},
		"claude, only the title":               {acp.NamesInMeta, nil, `"toolCallId":"t","kind":"execute","title":"mcp__term-k3f9__terminal_read"`, false},
		"claude, in the input":                 {acp.NamesInMeta, nil, `"toolCallId":"t","title":"x","rawInput":{"_meta":{"claudeCode":{"toolName":"mcp__term-k3f9__terminal_read","mcpServer":{"name":"term-k3f9","source":"dynamic"}}}}`, false},
		"codex":                                {acp.NamesAtBegin, []string{begun}, bare, true},
		"codex, another server":                {acp.NamesAtBegin, []string{swap(begun, `"server":"term-k3f9"`, `"server":"term"`)}, bare, false},
		"codex, another tool":                  {acp.NamesAtBegin, []string{swap(begun, `"tool":"terminal_send"`, `"tool":"terminal_run"`)}, bare, false},
		"codex, not of a server":               {acp.NamesAtBegin, []string{swap(begun, `"is_mcp_tool_call":true`, `"is_mcp_tool_call":false`)}, bare, false},
		"codex, asks for a command":            {acp.NamesAtBegin, []string{begun}, bare + `,"rawInput":{"command":"rm"}`, false},
		"codex, asks under a title":            {acp.NamesAtBegin, []string{begun}, bare + `,"title":"rm"`, false},
		"codex, a second call of that id":      {acp.NamesAtBegin, []string{begun, `"toolCallId":"t","kind":"execute","title":"rm"`}, bare, false},
		"codex, the call has ended":            {acp.NamesAtBegin, []string{begun + `,"status":"completed"`, `"toolCallId":"t","title":"rm"`}, bare, false},
		"gemini":                               {acp.NamesInID, nil, gemini, true},
		"gemini, a command that looks like it": {acp.NamesInID, nil, swap(gemini, "mcp_term-k3f9_terminal_send__call_2", "run_shell_command__call_2"), false},
		"gemini, another title":                {acp.NamesInID, nil, swap(gemini, "terminal_send (", "rm ("), false},
		"gemini, another server":               {acp.NamesInID, nil, swap(gemini, "term-k3f9", "term-k3f99"), false},
		"gemini, another tool":                 {acp.NamesInID, nil, swap(gemini, "terminal_send", "terminal_sender"), false},
		"the way of another agent":             {acp.NamesInID, nil, claude, false},
		"no way":                               {"", nil, claude, false},
	} {
		t.Run(name, func(t *testing.T) {
			script := prompted
			for _, call := range c.before {
				script += `> {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call",` + call + "}}}\n"
			}
			script += `> {"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{` + c.asked +
				`},"options":[{"optionId":"all","kind":"allow_always"},{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}` + "\n" +
				`< "id":"p"` + "\n" + done
			s := startWith(t, acp.Config{Tools: ours, Names: c.names}, script)
			require.NoError(t, s.Send("you", "go"))
			want := `"optionId":"once"`
			if !c.allows {
				s.WaitForState(chat.Approval)
				require.NoError(t, s.Answer(s.OpenRequests()[0].ID, "you", chat.Answer{Verdict: chat.Refuse}))
				want = `"optionId":"no"`
			}
			s.WaitForState(chat.AtPrompt)
			require.Empty(t, s.OpenRequests())
			require.Contains(t, s.CloseAndReadInput(), want)
		})
	}
}

// A question with an id alone is refused where no call began under it.
func TestAQuestionAboutNoCallIsRefused(t *testing.T) {
	script := prompted + `> {"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","kind":"execute"},` +
		`"options":[{"optionId":"once","kind":"allow_once"}]}}` + "\n" + `< "id":"p"` + "\n" + done
	s := startWith(t, acp.Config{Tools: ours, Names: acp.NamesAtBegin}, script)
	require.NoError(t, s.Send("you", "go"))
	s.WaitForState(chat.AtPrompt)
	require.Contains(t, s.CloseAndReadInput(), `"outcome":"cancelled"`)
}

// An agent gets the server with its conversation: one that it starts, or one over HTTP.
func TestAnAgentGetsTheServer(t *testing.T) {
	entry := func(c acp.Config, says string) string {
		t.Helper()
		s := startWith(t, c, strings.Replace(opened, `"loadSession":true`, `"loadSession":true`+says, 1))
		s.WaitForState(chat.AtPrompt)
		return s.CloseAndReadInput()
	}
	require.Contains(t, entry(acp.Config{}, ""), `"mcpServers":[]`)
	require.Contains(t, entry(acp.Config{Tools: ours}, ""), `"mcpServers":[{"args":["mcp","--shared-only"],"command":"/bin/gateway","env":[{"name":"HOME","value":"/home/ada"},{"name":"X","value":"a=b"}],"name":"term-k3f9"}]`)
	over := acp.Config{Tools: &acp.Tools{Name: "term-k3f9", URL: "http://127.0.0.1:1/mcp", Token: "secret"}}
	require.Contains(t, entry(over, `,"mcpCapabilities":{"http":true}`), `"mcpServers":[{"headers":[{"name":"Authorization","value":"Bearer secret"}],"name":"term-k3f9","type":"http","url":"http://127.0.0.1:1/mcp"}]`)
	require.Contains(t, entry(over, ""), `"mcpServers":[]`, "it takes none over HTTP")
}
