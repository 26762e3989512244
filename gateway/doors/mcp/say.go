package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// sayTool returns the tool by which an agent writes to the user.
func (s *toolset) sayTool() tool {
	return define(
		"terminal_say",
		"Show the user a message at the terminal, without control. Their answer comes with a "+
			"later result; terminal_wait for=control waits for it.",
		&mcp.ToolAnnotations{
			DestructiveHint: new(false),
			OpenWorldHint:   new(false),
		},
		false,
		s.sayToUser,
		terminalParam,
		param{name: "text", kind: "string", required: true},
	)
}

type sayArgs struct {
	Terminal string `json:"terminal"`
	Text     string `json:"text"`
}

func (s *toolset) sayToUser(
	ctx context.Context, req *mcp.CallToolRequest, in sayArgs,
) (string, error) {
	message, err := text.ToUser(in.Text)
	if err != nil {
		return "", err
	}
	info, err := s.findTerminal(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	waiting, err := s.cfg.Terminals.SendNote(ctx, &protocol.Note{
		SessionID: info.SessionID,
		From:      protocol.FromAgent,
		AgentName: clientName(req),
		Text:      message,
	})
	if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.CodeBusy {
		return "", errors.New(refused.Message + "; put what you have to say into one message, " +
			"later")
	}
	if err != nil {
		return "", err
	}
	return text.FormatDelivery(waiting), nil
}
