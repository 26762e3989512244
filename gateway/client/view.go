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
	if err := protocol.Check(wish); err != nil {
		return nil, asReply(err)
	}
	v := &viewing{wish: wish}
	v.stream = stream{client: c, ask: v.ask, sort: v.sort}
	if err := v.start(ctx); err != nil {
		return nil, err
	}
	return v.out, nil
}

type viewing struct {
	stream
	wish *protocol.View
}

func (v *viewing) ask(l link) (link, error) {
	if err := request(l, v.wish); err != nil {
		return nil, err
	}
	return &acknowledging{link: l}, nil
}

func (v *viewing) sort(m protocol.Message) (pass protocol.Message, last bool, err error) {
	switch m := m.(type) {
	case *protocol.Rows:
		return m, false, nil
	case *protocol.SessionClose:
		return m, true, nil
	case *protocol.Error:
		if m.RequestID == v.wish.RequestID {
			return nil, true, m
		}
	}
	return nil, false, nil // to the same agent, about something else
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
