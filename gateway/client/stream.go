package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"terminalproxy/protocol"
)

// stream is what comes of one session, over as many connections as that takes. Each of them is the stream's own, so that
// its reader's pace is nobody else's.
type stream struct {
	client *Client
	// ask asks on a new connection, and gives what is to be read then.
	ask func(link) (link, error)
	// sort gives what is passed on of a message, nil for nothing, and whether it was the last one. An error is the end.
	sort   func(protocol.Message) (pass protocol.Message, last bool, err error)
	out    chan protocol.Message
	err    error // why the messages ended; set before out is closed
	cancel context.CancelFunc

	mu   sync.Mutex
	link link // nil while there is none
}

// start makes the first connection. After that the stream ends with ctx, with the client, or as sort says.
func (s *stream) start(ctx context.Context) error {
	c := s.client
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(c.ctx, cancel)
	s.out, s.cancel = make(chan protocol.Message), func() { unhook(); cancel() }
	l, err := s.open(ctx, false)
	if err != nil {
		s.cancel()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		s.cancel()
		l.close()
		return c.Err()
	}
	c.wg.Go(func() { // ends as said above
		defer s.cancel()
		defer close(s.out)
		s.run(ctx, l)
	})
	return nil
}

// wished streams what a wish brings of its session: what take gives of each message, nil for nothing, to the session's end or the refusal
// of the wish. read is what is read of each connection.
func (c *Client) wished(ctx context.Context, wish protocol.Message, read func(link) link, take func(protocol.Message) protocol.Message) (<-chan protocol.Message, error) {
	if err := protocol.Check(wish); err != nil {
		return nil, asReply(err)
	}
	s := &stream{client: c}
	s.ask = func(l link) (link, error) {
		if err := request(l, wish); err != nil {
			return nil, err
		}
		return read(l), nil
	}
	s.sort = func(m protocol.Message) (pass protocol.Message, last bool, err error) {
		if refusal, ok := m.(*protocol.Error); ok && refusal.RequestID == protocol.RequestID(wish) {
			return nil, true, refusal
		}
		if protocol.SessionID(m) != protocol.SessionID(wish) {
			return nil, false, nil // to the same participant, about something else
		}
		if _, last = m.(*protocol.SessionClose); last {
			return m, true, nil
		}
		return take(m), false, nil
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s.out, nil
}

// open makes a connection and asks on it.
func (s *stream) open(ctx context.Context, again bool) (link, error) {
	made, err := s.client.reach(ctx, again)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, made.close)()
	l, err := s.ask(made)
	if err != nil {
		made.close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = l
	return l, nil
}

func (s *stream) run(ctx context.Context, l link) {
	for {
		over, err := s.pass(ctx, l)
		if !over && ctx.Err() == nil {
			if l, err = s.reopen(ctx); err == nil {
				continue
			}
			s.client.cfg.Log.Debug("stream ended", "error", err)
		}
		s.err = err
		return
	}
}

// reopen asks again. A gateway that just took over does not know the session before its proxy came back: for a while "no
// such session" is no answer.
func (s *stream) reopen(ctx context.Context) (link, error) {
	for began := time.Now(); ; {
		l, err := s.open(ctx, true)
		refusal, refused := errors.AsType[*protocol.Error](err)
		passing := !refused || refusal.Code == protocol.CodeNoSession || refusal.Code == protocol.CodeUnavailable
		if _, gone := errors.AsType[*Unreachable](err); err == nil || gone || !passing || ctx.Err() != nil || time.Since(began) > patience {
			return l, err
		}
		if err := pause(ctx, gatherPause); err != nil {
			return nil, err
		}
	}
}

// pass passes on what one connection brings, and reports whether the stream is over.
func (s *stream) pass(ctx context.Context, l link) (over bool, err error) {
	defer func() {
		l.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.link = nil
	}()
	defer context.AfterFunc(ctx, l.close)()
	defer l.guard()()
	for {
		m, err := l.next()
		switch {
		case ctx.Err() != nil:
			return true, nil
		case errors.Is(err, errLost):
			return false, nil // there will be another connection
		case err != nil:
			return true, err
		}
		m, last, err := s.sort(m)
		if err != nil {
			return true, err
		}
		if m != nil {
			select {
			case s.out <- m:
			case <-ctx.Done():
				return true, nil
			}
		}
		if last {
			return true, nil
		}
	}
}

// send says something on the stream's connection. While there is none it is lost, and send says so.
func (s *stream) send(m protocol.Message) error {
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l == nil {
		return errLost
	}
	return l.send(m)
}
