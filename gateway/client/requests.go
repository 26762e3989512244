package client

import (
	"cmp"
	"context"
	"errors"

	"terminalproxy/protocol"
)

// Sessions lists the sessions that this agent may see.
func (c *Client) Sessions(ctx context.Context) ([]protocol.SessionInfo, error) {
	list, err := c.SessionList(ctx)
	if err != nil {
		return nil, err
	}
	return list.Sessions, nil
}

// SessionList is [Client.Sessions] with the gateway's report about missing sessions.
func (c *Client) SessionList(ctx context.Context) (*protocol.SessionsListResult, error) {
	for gather := c.Gather(); ; {
		list, err := c.readListPages(ctx)
		if err != nil {
			return nil, err
		}
		if len(list.Sessions) == 0 {
			if again, err := gather.WaitToRetry(ctx); err != nil {
				return nil, err
			} else if again {
				continue
			}
		}
		if list.Incomplete != nil && c.cfg.Incomplete != nil {
			c.cfg.Incomplete(list.Incomplete)
		}
		return list, nil
	}
}

// readListPages reads the list, page by page.
func (c *Client) readListPages(ctx context.Context) (*protocol.SessionsListResult, error) {
	list := &protocol.SessionsListResult{}
	for after := ""; ; {
		m := &protocol.SessionsList{RequestID: c.NextID(), Paged: true, After: after}
		r, err := callFor[*protocol.SessionsListResult](ctx, c, m)
		if err != nil {
			return nil, err
		}
		list.Incomplete = cmp.Or(r.Incomplete, list.Incomplete)
		if list.Sessions = append(list.Sessions, r.Sessions...); r.Next == "" || r.Next == after {
			return list, nil
		}
		after = r.Next
	}
}

// Read asks for a frame. An empty RequestID is filled in, in m.
func (c *Client) Read(ctx context.Context, m *protocol.Read) (*protocol.ReadResult, error) {
	c.fillID(&m.RequestID)
	got, err := callFor[*protocol.ReadResult](ctx, c, m)
	if err == nil {
		err = got.CheckFor(m)
	}
	return got, err
}

// Wait waits for a condition. A lost connection does not extend the time that m allows: the
// repeated request carries the remaining time.
func (c *Client) Wait(ctx context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
	c.fillID(&m.RequestID)
	return callFor[*protocol.WaitResult](ctx, c, m)
}

// Input types into a session. With a lasting identity, an input whose receipt was lost is repeated
// under its id, so it is never typed twice; without one, Input fails and reports the lost receipt.
func (c *Client) Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error) {
	c.fillID(&m.RequestID)
	return callFor[*protocol.InputResult](ctx, c, m)
}

// Request asks the user for control and returns the decision: a grant, or a revoke with the reason.
// If ctx's deadline passes first, the request stays open with the user until Release withdraws it;
// any other end of ctx withdraws it at once.
func (c *Client) Request(
	ctx context.Context, m *protocol.ControlRequest,
) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
	c.fillID(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	m.Program, m.Parent = c.cfg.Program, c.cfg.Parent
	if err := c.signRequest(ctx, m); err != nil {
		return nil, nil, err
	}
	answer, err := c.Call(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	switch answer := answer.(type) {
	case *protocol.ControlGrant:
		return answer, nil, nil
	case *protocol.ControlRevoke:
		return nil, answer, nil
	}
	return nil, nil, unexpectedAnswer(m, answer)
}

// Release gives control back, or withdraws an open request.
func (c *Client) Release(ctx context.Context, m *protocol.ControlRelease) error {
	c.fillID(&m.RequestID)
	answer, err := c.Call(ctx, m)
	if err != nil {
		return err
	}
	switch answer.(type) {
	case *protocol.Done, *protocol.ControlRevoke:
		return nil
	}
	return unexpectedAnswer(m, answer)
}

// SendNote writes to the user of a session, and as a viewer to its agent. It returns why a message
// to the user is not shown yet, "" if it is on the screen. Empty From and AgentName are filled in.
func (c *Client) SendNote(ctx context.Context, m *protocol.Note) (protocol.Waiting, error) {
	c.fillID(&m.RequestID)
	if m.From == "" {
		m.From = protocol.FromAgent
	}
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	done, err := callFor[*protocol.Done](ctx, c, m)
	if err != nil {
		return "", err
	}
	return done.Waiting, nil
}

// Decide sends an owner's decision. It is for connections as a viewer or an owner.
func (c *Client) Decide(ctx context.Context, m *protocol.ControlDecide) error {
	return c.callForDone(ctx, m, &m.RequestID)
}

// Start makes the host that m.HostKey names start a program, and returns the session's id once the
// session can be read. With an identity (Config.Key), a start whose answer was lost is repeated
// under its id, so the program never starts twice.
func (c *Client) Start(ctx context.Context, m *protocol.ProxyStart) (sessionID string, err error) {
	c.fillID(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	for gather := c.Gather(); ; {
		got, err := callFor[*protocol.ProxyStarted](ctx, c, m)
		refused, ok := errors.AsType[*protocol.Error](err)
		switch {
		case ok && refused.Code == protocol.CodeUnavailable:
			// A gateway that just took over learns its hosts as they reconnect.
			if again, err := gather.WaitToRetry(ctx); !again || err != nil {
				return "", cmp.Or[error](err, refused)
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

// EndSession ends a session that this agent started; a viewer on the local socket or an owner may
// end any that an agent started. It returns when the end has begun.
func (c *Client) EndSession(ctx context.Context, m *protocol.Close) error {
	return c.callForDone(ctx, m, &m.RequestID)
}

// callForDone sends a request whose answer is Done. id is the request's own.
func (c *Client) callForDone(ctx context.Context, m protocol.Message, id *string) error {
	c.fillID(id)
	_, err := callFor[*protocol.Done](ctx, c, m)
	return err
}

func (c *Client) fillID(id *string) {
	if *id == "" {
		*id = c.NextID()
	}
}
