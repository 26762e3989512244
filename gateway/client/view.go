package client

import (
	"context"
	"time"

	"terminalproxy/protocol"
)

// View streams the screen of a session, with colours, for a person: *[protocol.Rows] with all rows,
// at most one per every (0 for the proxy's own rhythm), and at the end of the session
// terminal.session.close. A slow reader gets the newest screen, not every one: View asks for the
// next when the reader has taken the last. The stream lives through a change of gateway; it is
// closed when ctx ends, the session is closed or forgotten, or no gateway comes back.
func (c *Client) View(
	ctx context.Context, sessionID string, every time.Duration,
) (<-chan protocol.Message, error) {
	wish := &protocol.View{SessionID: sessionID, EveryMs: every.Milliseconds()}
	c.fillID(&wish.RequestID)
	acknowledged := func(l link) link { return &acknowledgingLink{link: l} }
	return c.streamWish(ctx, wish, acknowledged, keepOnly[*protocol.Rows])
}

// acknowledgingLink completes rows to the whole screen, and acknowledges them when more is read.
type acknowledgingLink struct {
	link
	last  *protocol.Rows
	owing bool
}

func (a *acknowledgingLink) next() (protocol.Message, error) {
	if a.owing {
		a.owing = false
		ack := &protocol.Ack{SessionID: a.last.SessionID, Seq: a.last.Seq}
		if err := a.sendMessage(ack); err != nil {
			return nil, errLost
		}
	}
	m, err := a.link.next()
	rows, ok := m.(*protocol.Rows)
	if err != nil || !ok {
		return m, err
	}
	if a.last, a.owing = rows.Complete(a.last); !a.owing {
		return nil, errLost // the gateway and this end disagree: start over
	}
	return a.last, nil
}
