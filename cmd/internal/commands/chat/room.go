package chat

import (
	"context"
	"fmt"
	"os"

	"terminalproxy/protocol"
	"terminalproxy/proxy"
)

// roomLine is printed in the session of openRoom, which runs nothing else.
const roomLine = "What other agents ask in this session is answered where %s talks: at the " +
	"terminal of its gateway chat."

// roomScript prints its argument and waits. It begins with the text that lists of sessions show for
// it.
const roomScript = `: 'agents ask here and are answered in gateway chat'; trap "" INT QUIT TSTP; printf '%s\r\n' "$1"; exec tail -f /dev/null`

// openRoom opens a session in which other agents ask the user of this conversation. Agents that its
// agent starts find the session by their environment, which they inherit from here. It ends with
// the conversation, and does nothing on nil.
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
