package chat

import (
	"context"
	"fmt"
	"os"

	"terminalproxy/protocol"
	"terminalproxy/proxy"
)

// askSessionText is printed in the session of openAskSession, which runs nothing else.
const askSessionText = "Questions of other agents in this session are answered where you talk to %s: " +
	"at the terminal of gateway chat."

// askSessionScript prints its argument and waits. It begins with the text that lists of sessions
// show for it.
const askSessionScript = `: 'agents ask here and are answered in gateway chat'; trap "" INT QUIT TSTP; printf '%s\r\n' "$1"; exec tail -f /dev/null`

// openAskSession opens a session in which other agents ask the user of this conversation. Agents
// that its agent starts find the session by their environment, which they inherit from here. It
// ends with the conversation, and does nothing on nil.
func (c *chatTerminals) openAskSession(ctx context.Context) error {
	if c == nil {
		return nil
	}
	id, err := c.ensureHost().Start(ctx, &protocol.ProxyStart{
		Command: "/bin/sh", Args: []string{"-c", askSessionScript, "sh", fmt.Sprintf(askSessionText, c.agent)},
		Cols: agentCols, Rows: agentRows, Name: c.agent + " chat", AgentName: c.agent,
	})
	if err != nil {
		return fmt.Errorf("agents that %s starts cannot ask you here: %w", c.agent, err)
	}
	return os.Setenv(proxy.SessionVariable, id)
}
