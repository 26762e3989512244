package client

import (
	"context"

	"terminalproxy/protocol"
)

// WatchSessions streams the list of sessions as *[protocol.SessionsChanged]: the whole list first
// and after each change of gateway, and the changes in between. The stream closes when ctx ends or
// no gateway can be reached any longer.
func (c *Client) WatchSessions(ctx context.Context) (<-chan protocol.Message, error) {
	wish := &protocol.SessionsWatch{}
	c.fillID(&wish.RequestID)
	return c.streamWish(ctx, wish, nil, keepOnly[*protocol.SessionsChanged])
}
