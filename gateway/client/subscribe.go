package client

import (
	"context"
	"errors"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
)

// backlog bounds the messages that wait for a slow reader. Snapshots do not add up: an older one that nobody fetched
// gives way to the next.
const backlog = 256

// Subscribe streams the snapshots (at most one per every, 0 for the proxy's own rhythm), the control and blackout
// messages, the user's notes and the end of one session. Every snapshot carries all rows, and no rolling text: over the wire
// go the rows that changed. The stream lives through a
// change of gateway; it is closed when ctx ends, the session is closed or forgotten, or no gateway comes back. A slow
// reader gets the newest snapshot, not every one.
//
// A subscription has a connection of its own, so that its reader's pace is nobody else's.
func (c *Client) Subscribe(ctx context.Context, sessionID string, every time.Duration) (<-chan protocol.Message, error) {
	m := &protocol.SessionsSubscribe{RequestID: c.nextID(), SessionID: sessionID, EveryMs: every.Milliseconds(), Changes: true}
	if fe, ok := errors.AsType[*protocol.FieldError](protocol.Check(m)); ok {
		return nil, fe.Reply()
	}
	s := &subscription{client: c, wish: m, out: make(chan protocol.Message)}
	// From here on ctx ends by its own end, by Close, and when the stream does.
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(c.ctx, cancel)
	ws, err := s.open(ctx, false)
	if err != nil {
		unhook()
		cancel()
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		cancel()
		_ = ws.Close()
		return nil, ErrClosed
	}
	c.wg.Go(func() {
		defer unhook()
		defer cancel()
		defer close(s.out)
		s.run(ctx, ws)
	})
	return s.out, nil
}

type subscription struct {
	client *Client
	wish   *protocol.SessionsSubscribe
	out    chan protocol.Message
}

// open makes a connection and subscribes on it. It returns when the gateway has said yes.
func (s *subscription) open(ctx context.Context, again bool) (*websocket.Conn, error) {
	ws, err := s.client.dial(ctx, again)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = ws.Close() })()
	if err := request(ws, s.wish); err != nil {
		_ = ws.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return ws, nil
}

// run streams until the subscription is over, over as many connections as that takes.
func (s *subscription) run(ctx context.Context, ws *websocket.Conn) {
	for {
		if over := s.stream(ctx, ws); over || ctx.Err() != nil {
			return
		}
		var err error
		if ws, err = s.reopen(ctx); err != nil {
			s.client.cfg.Log.Debug("subscription ended", "error", err)
			return
		}
	}
}

// reopen subscribes again. A gateway that just took over does not know the session before its proxy came back: for a
// while "no such session" is no answer.
func (s *subscription) reopen(ctx context.Context) (*websocket.Conn, error) {
	for began := time.Now(); ; {
		ws, err := s.open(ctx, true)
		if err == nil {
			return ws, nil
		}
		refusal, refused := errors.AsType[*protocol.Error](err)
		passing := !refused || refusal.Code == protocol.CodeNoSession || refusal.Code == protocol.CodeUnavailable
		if _, gone := errors.AsType[*Unreachable](err); gone || !passing || ctx.Err() != nil || time.Since(began) > patience {
			return nil, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// stream passes on what one connection brings, and reports whether the session is over.
func (s *subscription) stream(ctx context.Context, ws *websocket.Conn) (over bool) {
	defer watchStream(ws)()
	in := make(chan protocol.Message)
	done := make(chan struct{})
	// The reader ends when the socket is closed below; then it closes in.
	go func() {
		defer close(in)
		next := frames(ws)
		var last *protocol.Snapshot
		for {
			m, err := next()
			if err != nil {
				return
			}
			if part, ok := m.(*protocol.Snapshot); ok {
				if last, ok = part.Complete(last); !ok {
					return // the gateway and this end disagree: begin afresh
				}
				m = last
			}
			select {
			case in <- m:
			case <-done:
				return
			}
		}
	}()
	defer func() {
		close(done)
		_ = ws.Close()
		for range in { // until the reader has ended
		}
	}()
	return s.pump(ctx, in)
}

func (s *subscription) pump(ctx context.Context, in <-chan protocol.Message) (over bool) {
	var queue []protocol.Message
	for in != nil || len(queue) > 0 {
		var out chan<- protocol.Message
		var first protocol.Message
		if len(queue) > 0 {
			out, first = s.out, queue[0]
		}
		select {
		case <-ctx.Done():
			return true
		case out <- first:
			queue = queue[1:]
		case m, ok := <-in:
			switch {
			case !ok:
				in = nil
			case s.ends(m):
				over, in = true, nil
				if _, closed := m.(*protocol.SessionClose); closed {
					queue = append(queue, m)
				}
			case len(queue) >= backlog:
				in = nil // the reader sleeps: begin afresh with the newest snapshot
			default:
				queue = enqueue(queue, m)
			}
		}
	}
	return over
}

// ends reports whether m is the last message of the stream.
func (s *subscription) ends(m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.SessionClose:
		return true
	case *protocol.Error:
		return m.RequestID == s.wish.RequestID
	}
	return false
}

// enqueue appends m; a snapshot takes the place of one that nobody fetched.
func enqueue(queue []protocol.Message, m protocol.Message) []protocol.Message {
	if _, ok := m.(*protocol.Snapshot); ok {
		for i, old := range queue {
			if _, ok := old.(*protocol.Snapshot); ok {
				queue = append(queue[:i:i], queue[i+1:]...)
				break
			}
		}
	}
	return append(queue, m)
}
