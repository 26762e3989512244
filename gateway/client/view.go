package client

import (
	"context"
	"time"

	"terminalproxy/protocol"
)

// View streams the screen of a session, with colours, for somebody who looks: *[protocol.Rows] with all rows, at most one per
// every (0 for the proxy's own rhythm), and as the last one, if there is one, terminal.session.close. A slow reader gets the newest
// screen, not every one: the next is asked for when the one before was fetched. The stream lives through a change of gateway; it
// is closed when ctx ends, the session is closed or forgotten, or no gateway comes back.
func (c *Client) View(ctx context.Context, sessionID string, every time.Duration) (<-chan protocol.Message, error) {
	wish := &protocol.View{SessionID: sessionID, EveryMs: every.Milliseconds()}
	c.fill(&wish.RequestID)
	acknowledged := func(l link) link { return &acknowledging{link: l} }
	return c.wished(ctx, wish, acknowledged, func(m protocol.Message) protocol.Message {
		if _, ok := m.(*protocol.Rows); ok {
			return m
		}
		return nil
	})
}

// acknowledging is a link whose rows are all of the screen, and acknowledged when more is read.
type acknowledging struct {
	link
	last  *protocol.Rows
	owing bool
}

func (a *acknowledging) next() (protocol.Message, error) {
	if a.owing {
		a.owing = false
		if err := a.send(&protocol.Ack{SessionID: a.last.SessionID, Seq: a.last.Seq}); err != nil {
			return nil, errLost
		}
	}
	m, err := a.link.next()
	rows, ok := m.(*protocol.Rows)
	if err != nil || !ok {
		return m, err
	}
	if a.last, a.owing = rows.Complete(a.last); !a.owing {
		return nil, errLost // the gateway and this end disagree: begin afresh
	}
	return a.last, nil
}
