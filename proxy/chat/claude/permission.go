package claude

import (
	"encoding/json"
	"fmt"

	"terminalproxy/proxy/chat"
)

// Permission is what Claude Code asks of a tool that it was given with --permission-prompt-tool.
type Permission struct {
	Request chat.Request // without an id
	open    ask
}

// ReadPermission reads the arguments of that tool.
func ReadPermission(arguments json.RawMessage) (p Permission, err error) {
	var m struct {
		Tool  string `json:"tool_name"`
		Input json.RawMessage
	}
	if err := json.Unmarshal(arguments, &m); err != nil {
		return p, fmt.Errorf("arguments: %w", err)
	}
	p.Request, p.open, err = newToolRequest("", m.Tool, m.Input, nil)
	return p, err
}

// Response converts an answer into the tool's result. It denies everything that is not allowed
// explicitly.
func (p Permission) Response(a chat.Answer) map[string]any { return p.open.replyFor(a) }
