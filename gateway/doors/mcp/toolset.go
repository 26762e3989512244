package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolset implements the tools, apart from the protocol by which they are called: each tool is a
// method. The fields keep what outlasts a call, and lock themselves.
type toolset struct {
	cfg     Config
	self    identity
	turns   turns // of terminal_send
	answers *answers
}

func newToolset(cfg Config) *toolset {
	s := &toolset{cfg: cfg, turns: turns{byTerminal: make(map[string]chan struct{})}}
	s.answers = newAnswers(cfg, &s.self)
	return s
}

// toolHandler wraps a tool for the library: its text or its error is the content, with a picture if
// the call asks for one.
func (s *toolset) toolHandler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = readBy(ctx, req)
		answer, err := t.run(ctx, req)
		if ctx.Err() != nil {
			s.answers.forgetReader(ctx)
			return nil, ctx.Err() // the client cancelled the call and reads no answer
		}
		if err != nil {
			s.cfg.Log.Debug("tool failed", "tool", t.def.Name, "error", err)
			answer = explain(err)
		}
		content := &mcp.TextContent{Text: answer}
		res := &mcp.CallToolResult{
			Content: []mcp.Content{content},
			IsError: err != nil && !callerOf(req).hidesErrors,
		}
		if err == nil {
			line, picture := s.addPicture(ctx, req)
			content.Text += line
			if picture != nil {
				res.Content = append(res.Content, picture)
			}
		}
		return res, nil
	}
}
