package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

// stream receives the messages of one session, over as many connections as that takes. Each
// connection is the stream's own, so that a slow reader delays only itself.
type stream struct {
	client *Client
	// requestStream sends the request on a new connection and returns the link to read from.
	requestStream func(link) (link, error)
	// sortMessage returns the message to pass to the reader, or nil, and whether it was the last
	// one. An error ends the stream.
	sortMessage func(protocol.Message) (pass protocol.Message, last bool, err error)
	out         chan protocol.Message
	err         error // why the messages ended; set before out is closed
	cancel      context.CancelFunc

	mu   sync.Mutex
	link link // nil without a connection
}

// start makes the first connection. After that the stream ends with ctx, with the client, or when
// sortMessage reports the last message.
func (s *stream) start(ctx context.Context) error {
	c := s.client
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(c.ctx, cancel)
	s.out, s.cancel = make(chan protocol.Message), func() { unhook(); cancel() }
	l, err := s.openLink(ctx, false)
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
	c.wg.Go(func() { // ends as described at start
		defer s.cancel()
		defer close(s.out)
		s.run(ctx, l)
	})
	return nil
}

// streamWish streams the messages that a wish brings of its session: the result of take for each,
// unless it is nil. The stream ends with the session or the refusal of the wish. read wraps each
// new connection for reading; it may be nil.
func (c *Client) streamWish(
	ctx context.Context, wish protocol.Message, read func(link) link,
	take func(protocol.Message) protocol.Message,
) (<-chan protocol.Message, error) {
	if err := protocol.Check(wish); err != nil {
		return nil, asReply(err)
	}
	s := &stream{client: c}
	s.requestStream = func(l link) (link, error) {
		err := requestOn(l, wish)
		if err == nil && read != nil {
			l = read(l)
		}
		return l, err
	}
	s.sortMessage = func(m protocol.Message) (pass protocol.Message, last bool, err error) {
		if refusal, ok := m.(*protocol.Error); ok && refusal.RequestID == protocol.RequestID(wish) {
			return nil, true, refusal
		}
		if protocol.SessionID(m) != protocol.SessionID(wish) {
			return nil, false, nil // for the same participant, about another session
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

// keepOnly is a take of [Client.streamWish] that passes on the messages of one type.
func keepOnly[T protocol.Message](m protocol.Message) protocol.Message {
	if _, ok := m.(T); ok {
		return m
	}
	return nil
}

// openLink makes a connection and sends the request on it.
func (s *stream) openLink(ctx context.Context, again bool) (link, error) {
	made, err := s.client.openLink(ctx, again)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, made.close)()
	l, err := s.requestStream(made)
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
		over, err := s.passMessages(ctx, l)
		if !over && ctx.Err() == nil {
			if l, err = s.reopenLink(ctx); err == nil {
				continue
			}
			s.client.cfg.Log.Debug("stream ended", "error", err)
		}
		s.err = err
		return
	}
}

// reopenLink sends the request again. A gateway that just took over does not know the session until
// its proxy is back: for a while "no such session" is not final.
func (s *stream) reopenLink(ctx context.Context) (link, error) {
	var since time.Time // of the first failure, without the time in which no gateway answered
	for {
		l, err := s.openLink(ctx, true)
		refusal, refused := errors.AsType[*protocol.Error](err)
		passing := !refused || refusal.Code == protocol.CodeNoSession ||
			refusal.Code == protocol.CodeUnavailable
		_, gone := errors.AsType[*Unreachable](err)
		final := err == nil || gone || !passing
		if final || ctx.Err() != nil {
			return l, err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > longestGather {
			return l, err
		}
		if err := pace.Pause(ctx, gatherPause); err != nil {
			return nil, err
		}
	}
}

// passMessages passes the messages of one connection to the reader, and reports whether the stream
// is over.
func (s *stream) passMessages(ctx context.Context, l link) (over bool, err error) {
	defer func() {
		l.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.link = nil
	}()
	defer context.AfterFunc(ctx, l.close)()
	defer l.guardLink()()
	for {
		m, err := l.next()
		switch {
		case ctx.Err() != nil:
			return true, nil
		case errors.Is(err, errLost):
			return false, nil // another connection follows
		case err != nil:
			return true, err
		}
		m, last, err := s.sortMessage(m)
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

// sendOnLink sends a message on the stream's connection, or returns errLost if there is no
// connection.
func (s *stream) sendOnLink(m protocol.Message) error {
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l == nil {
		return errLost
	}
	return l.sendMessage(m)
}
