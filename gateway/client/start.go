package client

import (
	"context"
	"errors"

	"terminalproxy/protocol"
)

// Start has the host that m.HostKey names start a program, and returns the session's id when the session can be read. With
// an identity (Config.Key) a start whose answer was lost is repeated under its id, which cannot start it twice.
func (c *Client) Start(ctx context.Context, m *protocol.ProxyStart) (sessionID string, err error) {
	c.fill(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	for {
		got, err := ask[*protocol.ProxyStarted](ctx, c, m, c.once())
		refused, ok := errors.AsType[*protocol.Error](err)
		switch {
		case ok && refused.Code == protocol.CodeUnavailable && c.Gathering():
			// A gateway that just took over learns its hosts as they find it.
			if err := pause(ctx, gatherPause); err != nil {
				return "", err
			}
		case err != nil:
			return "", err
		case got.Error != "":
			return "", errors.New(got.Error)
		default:
			return got.SessionID, nil
		}
	}
}

// End ends a session that this agent started; as a viewer on the local socket or as an owner, any that an agent started.
// It returns when the end has begun.
func (c *Client) End(ctx context.Context, m *protocol.Close) error {
	c.fill(&m.RequestID)
	_, err := ask[*protocol.Done](ctx, c, m, repeat)
	return err
}
