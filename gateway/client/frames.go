package client

import (
	"context"
	"fmt"
	"sync"

	"terminalproxy/protocol"
)

// Frames is one connection to a gateway on which somebody else speaks: messages go out, and what comes in is given as it is. It
// is not made again when it ends. Any goroutine may call Send and Close, one at a time Next.
type Frames struct {
	socket  *socket
	unguard func()
	closing sync.Once
}

// Open makes a connection. The configuration's Key is of no use here. Without a gateway the error is an [*Unreachable], and a
// *[protocol.Error] when the gateway refused.
func Open(ctx context.Context, cfg Config) (*Frames, error) {
	c := newClient(cfg)
	defer c.stop(ErrClosed)
	l, err := c.dial(ctx, false)
	if err != nil {
		return nil, err
	}
	return &Frames{socket: l, unguard: l.guard()}, nil
}

// Send passes m on. A *[protocol.FieldError] is the sender's mistake, any other error the end.
func (f *Frames) Send(m protocol.Message) error { return f.socket.send(m) }

// Next is the next frame. An error is the end: the gateway went away, was stopped, or closed the connection.
func (f *Frames) Next() ([]byte, error) {
	if err := f.socket.alive(); err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	_, frame, err := f.socket.ws.ReadMessage()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	f.socket.heard.Add(1)
	return frame, nil
}

// Close ends the connection, and Next with it.
func (f *Frames) Close() {
	f.closing.Do(f.unguard)
	f.socket.close()
}
