// Package handshake dials gateways: it bounds how much the far end may send, and how long it may
// take, until it has proven to be a gateway, and tries several in turn. Proxies and clients use it.
// It does not depend on the messages that the connections carry.
package handshake

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// MaxBytes bounds the bytes received before the handshake is done: HTTP headers take a few hundred
// bytes, and are read into memory.
const MaxBytes = 64 << 10

// ErrTooLong is wrapped by the error of a read after MaxBytes without the end of the handshake.
var ErrTooLong = fmt.Errorf("its handshake exceeds %d KiB: it is not a gateway", MaxBytes>>10)

// ErrTooSlow is wrapped by the error of a read after the deadline.
var ErrTooSlow = errors.New("it accepts the connection but does not finish the handshake in time")

// Conn is a connection whose handshake is bounded until Done.
type Conn struct {
	net.Conn
	end  time.Time
	left int // bytes that may still be read; only the reader uses it
	done atomic.Bool
}

// Bound bounds a connection that was just dialled: every read and write fails once within has
// passed, and reading fails after [MaxBytes]. Until Done, the caller cannot set a later deadline.
func Bound(conn net.Conn, within time.Duration) (*Conn, error) {
	c := &Conn{Conn: conn, end: time.Now().Add(within), left: MaxBytes}
	return c, conn.SetDeadline(c.end)
}

// Done lifts the bounds. Only the goroutine that did the handshake may call it, before any other
// goroutine reads.
func (c *Conn) Done() error {
	c.done.Store(true)
	return c.Conn.SetDeadline(time.Time{})
}

// NetConn returns the connection underneath, as of a TLS connection.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	if c.done.Load() {
		return c.Conn.Read(p)
	}
	if c.left == 0 {
		return 0, ErrTooLong
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w (%w)", ErrTooSlow, err)
	}
	return n, err
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.earlierDeadline(t)) }

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.Conn.SetReadDeadline(c.earlierDeadline(t))
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.Conn.SetWriteDeadline(c.earlierDeadline(t))
}

func (c *Conn) earlierDeadline(t time.Time) time.Time {
	if !c.done.Load() && (t.IsZero() || t.After(c.end)) {
		return c.end
	}
	return t
}
