package client

import (
	"context"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// FollowChat streams the conversation with the coding agent in a session, from the record after the
// given number, 0 for all that are kept: *[protocol.ChatRecords], and at the end of the session
// terminal.session.close. Like [Client.View] it survives a change of gateway, and continues with
// the next record.
func (c *Client) FollowChat(
	ctx context.Context, sessionID string, after uint64,
) (<-chan protocol.Message, error) {
	wish := &protocol.ChatSubscribe{SessionID: sessionID, After: after}
	c.fillID(&wish.RequestID)
	return c.streamWish(ctx, wish, nil, func(m protocol.Message) protocol.Message {
		batch, ok := m.(*protocol.ChatRecords)
		if !ok {
			return nil
		}
		if n := len(batch.Records); n > 0 {
			wish.After = batch.Records[n-1].Number // another connection continues after it
		}
		return batch
	})
}

// ReadChat returns the kept records of the conversation with the coding agent in a session, and how
// many earlier ones are lost.
func (c *Client) ReadChat(
	ctx context.Context, sessionID string,
) (records []protocol.ChatRecord, lost uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, chatTimeout)
	defer cancel()
	return c.Records(ctx, sessionID, 0)
}

// Records returns the records with higher numbers than after. It waits for the first one until ctx
// or the session ends.
func (c *Client) Records(
	ctx context.Context, sessionID string, after uint64,
) (records []protocol.ChatRecord, lost uint64, err error) {
	ctx, cancel := context.WithCancel(ctx) // of the stream
	defer cancel()
	stream, err := c.FollowChat(ctx, sessionID, after)
	if err != nil {
		return nil, 0, err
	}
	for m := range stream {
		batch, ok := m.(*protocol.ChatRecords)
		if !ok {
			return records, lost, nil // the session has ended
		}
		records, lost = append(records, batch.Records...), lost+batch.Lost
		if !batch.More {
			return records, lost, nil
		}
	}
	return nil, 0, fmt.Errorf("the conversation did not arrive in time: %w", context.DeadlineExceeded)
}

// chatTimeout bounds the wait for a conversation. One that the user hides never arrives.
const chatTimeout = 20 * time.Second

// SendChat sends a message to the coding agent in a session: as an agent under a grant, or for a
// person.
func (c *Client) SendChat(ctx context.Context, m *protocol.ChatSend) (protocol.Waiting, error) {
	c.fillID(&m.RequestID)
	done, err := callFor[*protocol.Done](ctx, c, m)
	if err != nil {
		return "", err
	}
	return done.Waiting, nil
}

// Answer answers a request of a coding agent, for a person. An answer that comes too late is
// refused with [protocol.CodeAnswered].
func (c *Client) Answer(ctx context.Context, m *protocol.ChatAnswer) error {
	return c.callForDone(ctx, m, &m.RequestID)
}

// Interrupt ends the turn of a coding agent.
func (c *Client) Interrupt(ctx context.Context, m *protocol.ChatInterrupt) error {
	return c.callForDone(ctx, m, &m.RequestID)
}

// Ask puts a request to the people of a conversation and returns how it was closed. If ctx ends
// first, the request is withdrawn. An error never allows anything.
func (c *Client) Ask(ctx context.Context, m *protocol.ChatAsk) (*protocol.ChatAskResult, error) {
	c.fillID(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	return callFor[*protocol.ChatAskResult](ctx, c, m)
}
