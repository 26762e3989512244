package fake

import (
	"context"
	"net"
	"sync"
)

// Pipes returns a listener in memory and its dialer, for a test in a time of its own. Each end
// seems to be on another machine.
func Pipes() (net.Listener, Dialer) {
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	return p, func(ctx context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case p.conns <- remote{far}:
			return remote{near}, nil
		case <-p.done:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

type remote struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (remote) RemoteAddr() net.Addr { return &net.TCPAddr{} }
