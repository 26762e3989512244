package acp

import (
	"encoding/json"
	"slices"
	"strings"
)

// Tools is a server of tools that an agent gets with its conversation.
type Tools struct {
	// Name is the server's, new and secret until the agent gets it: no other server has it.
	Name string
	// Allowed are the tools whose calls need no approval, because the server itself asks the user
	// wherever a yes is needed.
	Allowed []string
	// Command runs the server over standard input and output, with Env added to the agent's
	// environment.
	Command []string
	Env     []string
	// URL is the server's address over HTTP, for an agent that runs none; Token is its bearer token.
	URL, Token string
}

// describeEntry returns the server's entry for session/new.
func (t *Tools) describeEntry() map[string]any {
	type pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if t.URL != "" {
		return map[string]any{
			"type": "http", "name": t.Name, "url": t.URL,
			"headers": []pair{{"Authorization", "Bearer " + t.Token}},
		}
	}
	env := []pair{}
	for _, variable := range t.Env {
		name, value, _ := strings.Cut(variable, "=")
		env = append(env, pair{name, value})
	}
	return map[string]any{
		"name": t.Name, "command": t.Command[0], "args": t.Command[1:], "env": env,
	}
}

// serverEntries returns the servers that the agent gets.
func (d *Driver) serverEntries(acceptsHTTP bool) []any {
	t := d.config.Tools
	switch {
	case t == nil:
		return []any{}
	case t.URL != "" && !acceptsHTTP:
		d.reportNotice("takes no server of tools over HTTP: it does not get your terminals")
		return []any{}
	}
	return []any{t.describeEntry()}
}

// CallNames is how an agent names a tool of a server where it asks for approval. Only fields count
// that the agent writes itself: a title, for example, can be the command that the model wants to
// run.
type CallNames string

// The known ways.
const (
	// NamesInMeta is Claude's: _meta.claudeCode names the server, where it came from, and the tool.
	NamesInMeta CallNames = "meta"
	// NamesAtBegin is Codex's: it asks with the call's id alone, and named the server in the input
	// of the call's first message.
	NamesAtBegin CallNames = "begin"
	// NamesInID is Gemini's: the call's id begins with the tool's full name.
	NamesInID CallNames = "id"
)

// serverCall is a call of a server's tool.
type serverCall struct{ server, tool string }

// callMeta is what agents add to a call.
type callMeta struct {
	ClaudeCode struct {
		ToolName  string
		MCPServer struct{ Name, Source string } `json:"mcpServer"`
	}
	IsMCPToolCall bool `json:"is_mcp_tool_call"`
}

// readServerCall reads what the first message of a call says of its server, as Codex writes it.
func (c *toolCall) readServerCall() serverCall {
	var input struct{ Server, Tool string }
	if !c.Meta.IsMCPToolCall || json.Unmarshal(c.RawInput, &input) != nil {
		return serverCall{}
	}
	return serverCall{input.Server, input.Tool}
}

// needsNoApproval reports whether a call for which an agent with such names asks is one of t's
// tools, which ask the user themselves. In doubt the user is asked. t may be nil.
func (t *Tools) needsNoApproval(names CallNames, asked *toolCall, began serverCall) bool {
	if t == nil {
		return false
	}
	return slices.ContainsFunc(t.Allowed, func(tool string) bool {
		switch meta := asked.Meta.ClaudeCode; names {
		case NamesInMeta:
			return meta.ToolName == "mcp__"+t.Name+"__"+tool &&
				meta.MCPServer.Name == t.Name && meta.MCPServer.Source == "dynamic"
		case NamesAtBegin:
			bare := asked.Title == "" && len(asked.RawInput) == 0 && len(asked.Content) == 0
			return bare && began == serverCall{t.Name, tool}
		case NamesInID:
			return strings.HasPrefix(asked.ID, "mcp_"+t.Name+"_"+tool+"__") &&
				asked.Title == tool+" ("+t.Name+" MCP Server)"
		}
		return false
	})
}
