package mcp

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
)

// habits describes how a client changes answers on the way to its model.
type habits struct {
	// hidesErrors: an answer that is marked as an error reaches the model as JSON within a
	// sentence, behind the call itself. Unmarked it arrives unchanged, and its text says that it is
	// an error.
	hidesErrors bool
	// hidesInstructions: the model does not get a server's instructions.
	hidesInstructions bool
	// tokens limits an answer for which the call sets no limit, if the client moves a longer one to
	// a file and shows the model 500 characters of it; 0 stands for the usual limit.
	tokens int
	// extends: progress notes keep a call alive beyond the client's time limit.
	extends bool
	// tasks: the client offers tasks in its request.
	tasks bool
}

// clients lists the clients with such habits, by the name that they give themselves. The tests with
// real agents check them.
var clients = map[string]habits{
	"gemini-cli-mcp-client": {hidesErrors: true},
	"copilot-cli":           {hidesInstructions: true, tokens: 5_000, extends: true}, // 20 KiB, at most 4 bytes a token
	"opencode":              {extends: true},
}

func habitsOf(info *mcp.Implementation) habits {
	if info == nil {
		return habits{}
	}
	return clients[strings.ToLower(info.Name)]
}

// callerOf returns the habits of a call's client.
func callerOf(req *mcp.CallToolRequest) habits { return habitsOf(req.ClientInfo()) }

// tokenLimit returns how many tokens an answer may take: as given, or as many as the client passes
// on.
func (h habits) tokenLimit(given *int) (int, error) {
	if given == nil && h.tokens > 0 {
		return h.tokens, nil
	}
	return text.CheckTokens(given, dialect.Limit)
}

// describeTools puts the instructions into the description of the first tool, for a model that does
// not get them otherwise.
func (h habits) describeTools(list *mcp.ListToolsResult, c Config) {
	if !h.hidesInstructions || len(list.Tools) == 0 {
		return
	}
	first := *list.Tools[0]
	first.Description = fmt.Sprintf("%s\nOf all these tools: %s",
		first.Description, c.instructions(h))
	list.Tools[0] = &first
}
