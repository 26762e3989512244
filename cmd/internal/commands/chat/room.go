package chat

import (
	"context"
	"fmt"
	"os"

	"terminalproxy/protocol"
	"terminalproxy/proxy"
)

// roomLine stands in the session of a conversation, in which nothing else runs.
const roomLine = "What other agents ask in this session is answered where %s talks: at the " +
	"terminal of its gateway chat."

// roomScript prints its argument and stays. It begins with what a list of sessions shows of it.
const roomScript = `: 'agents ask here and are answered in gateway chat'; trap "" INT QUIT TSTP; printf '%s\r\n' "$1"; exec tail -f /dev/null`

// openRoom opens a session in which other agents put requests to the user of this conversation.
// Agents that its agent starts by itself find it by their environment, which they inherit from
// here. It ends with the conversation, and does nothing on nil.
func (c *chatTerminals) openRoom(ctx context.Context) error {
	if c == nil {
		return nil
	}
	id, err := c.ensureHost().Start(ctx, &protocol.ProxyStart{
		Command: "/bin/sh", Args: []string{"-c", roomScript, "sh", fmt.Sprintf(roomLine, c.agent)},
		Cols: agentCols, Rows: agentRows, Name: c.agent + " chat", AgentName: c.agent,
	})
	if err != nil {
		return fmt.Errorf("agents that %s starts cannot ask you here: %w", c.agent, err)
	}
	return os.Setenv(proxy.SessionVariable, id)
}
