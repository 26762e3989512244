package client

import (
	"context"
	"fmt"
	"sync"

	"terminalproxy/protocol"
)

// Frames is a connection to a gateway for a caller that speaks the protocol itself: it sends
// messages and returns raw frames. It does not reconnect. Any goroutine may call Send and Close;
// one at a time may call Next.
type Frames struct {
	socket  *socket
	unguard func()
	closing sync.Once
}

// Open makes a connection. It ignores the configuration's Key. Without a gateway the error is an
// [*Unreachable]; a refusal is a *[protocol.Error].
func Open(ctx context.Context, cfg Config) (*Frames, error) {
	c := newClient(cfg)
	defer c.stop(ErrClosed)
	l, err := newDialer(&c.cfg).dialGateway(ctx, false)
	if err != nil {
		return nil, err
	}
	return &Frames{socket: l, unguard: l.guardLink()}, nil
}

// Send sends m. A *[protocol.FieldError] is the sender's mistake; any other error ends the
// connection.
func (f *Frames) Send(m protocol.Message) error { return f.socket.sendMessage(m) }

// Next returns the next frame. An error ends the connection: the gateway disappeared, was stopped,
// or closed it.
func (f *Frames) Next() ([]byte, error) {
	if err := f.socket.extendSilence(); err != nil {
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
