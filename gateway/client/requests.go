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

// SessionList is [Client.Sessions] with what the gateway says of sessions that are missing.
func (c *Client) SessionList(ctx context.Context) (*protocol.SessionsListResult, error) {
	for gather := c.Gather(); ; {
		list, err := c.pages(ctx)
		if err != nil {
			return nil, err
		}
		if len(list.Sessions) == 0 {
			if again, err := gather.Again(ctx); err != nil {
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

// pages asks for the list, page by page.
func (c *Client) pages(ctx context.Context) (*protocol.SessionsListResult, error) {
	list := &protocol.SessionsListResult{}
	for after := ""; ; {
		r, err := ask[*protocol.SessionsListResult](ctx, c, &protocol.SessionsList{RequestID: c.NextID(), Paged: true, After: after})
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
	c.fill(&m.RequestID)
	return ask[*protocol.ReadResult](ctx, c, m)
}

// Wait asks for a fact. A connection lost meanwhile costs nothing of the time that m allows: the rest of it goes into
// the repeated request.
func (c *Client) Wait(ctx context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.WaitResult](ctx, c, m)
}

// Input types. With a lasting identity an input whose receipt was lost is repeated under its id, which cannot type it
// twice; without one, a lost receipt is an error that says so.
func (c *Client) Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.InputResult](ctx, c, m)
}

// Request asks the user for control and returns when it is decided: with a grant, or with a revoke that says why not.
// When ctx's deadline comes first, the request stays open with the user, and Release takes it back; any other end of ctx does.
func (c *Client) Request(ctx context.Context, m *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
	c.fill(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	m.Program, m.Parent = c.cfg.Program, c.cfg.Parent
	if err := c.prove(ctx, m); err != nil {
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
	return nil, nil, unexpected(m, answer)
}

// Release gives control back, or takes an open request back.
func (c *Client) Release(ctx context.Context, m *protocol.ControlRelease) error {
	c.fill(&m.RequestID)
	answer, err := c.Call(ctx, m)
	if err != nil {
		return err
	}
	switch answer.(type) {
	case *protocol.Done, *protocol.ControlRevoke:
		return nil
	}
	return unexpected(m, answer)
}

// Say writes to the user of a session, and as a viewer to its agent. It reports what a message to the user waits
// for, "" for nothing: it stands on the screen. From and AgentName are filled in when they are empty.
func (c *Client) Say(ctx context.Context, m *protocol.Note) (protocol.Waiting, error) {
	c.fill(&m.RequestID)
	if m.From == "" {
		m.From = protocol.FromAgent
	}
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	done, err := ask[*protocol.Done](ctx, c, m)
	if err != nil {
		return "", err
	}
	return done.Waiting, nil
}

// Decide does what an owner decided. It is for connections as a viewer or an owner.
func (c *Client) Decide(ctx context.Context, m *protocol.ControlDecide) error {
	return c.do(ctx, m, &m.RequestID)
}

// Start has the host that m.HostKey names start a program, and returns the session's id when the session can be read. With
// an identity (Config.Key) a start whose answer was lost is repeated under its id, which cannot start it twice.
func (c *Client) Start(ctx context.Context, m *protocol.ProxyStart) (sessionID string, err error) {
	c.fill(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	for gather := c.Gather(); ; {
		got, err := ask[*protocol.ProxyStarted](ctx, c, m)
		refused, ok := errors.AsType[*protocol.Error](err)
		switch {
		case ok && refused.Code == protocol.CodeUnavailable:
			// A gateway that just took over learns its hosts as they find it.
			if again, err := gather.Again(ctx); !again || err != nil {
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

// End ends a session that this agent started; as a viewer on the local socket or as an owner, any that an agent started.
// It returns when the end has begun.
func (c *Client) End(ctx context.Context, m *protocol.Close) error {
	return c.do(ctx, m, &m.RequestID)
}

// do is a request that is answered by a word that it was done. id is its own.
func (c *Client) do(ctx context.Context, m protocol.Message, id *string) error {
	c.fill(id)
	_, err := ask[*protocol.Done](ctx, c, m)
	return err
}

func (c *Client) fill(id *string) {
	if *id == "" {
		*id = c.NextID()
	}
}
