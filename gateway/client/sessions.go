package client

import (
	"context"

	"terminalproxy/protocol"
)

// WatchSessions streams the list of sessions as *[protocol.SessionsChanged]: the whole list first
// and after each change of gateway, and the changes in between. It is closed when ctx ends or no
// gateway comes back.
func (c *Client) WatchSessions(ctx context.Context) (<-chan protocol.Message, error) {
	wish := &protocol.SessionsWatch{}
	c.fillID(&wish.RequestID)
	return c.streamWish(ctx, wish, nil, keepOnly[*protocol.SessionsChanged])
}
