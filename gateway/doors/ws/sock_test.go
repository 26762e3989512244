package ws

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dated keeps the current write deadline.
type dated struct {
	net.Conn
	until time.Time
	were  int // deadlines other than zero
}

func (d *dated) SetWriteDeadline(t time.Time) error {
	d.until = t
	if !t.IsZero() {
		d.were++
	}
	return d.Conn.SetWriteDeadline(t)
}

// A deadline left behind wakes an idle process.
func TestNoWriteLeavesADeadline(t *testing.T) {
	near, far := net.Pipe()
	defer func() { _, _ = near.Close(), far.Close() }()
	go func() { _, _ = io.Copy(io.Discard, far) }() // ends with the pipe
	conn := &dated{Conn: near}
	s := newSock(conn)

	more, err := s.tryWrite([]byte("a message"))
	require.NoError(t, err)
	require.NoError(t, more(time.Now().Add(time.Hour)), "a pipe takes nothing at once")
	require.True(t, conn.were == 1 && conn.until.IsZero(), "a message that waited")

	require.NoError(t, s.SetWriteDeadline(time.Now().Add(time.Hour)))
	_, err = s.Write([]byte("ping"))
	require.NoError(t, err)
	require.True(t, conn.were == 2 && conn.until.IsZero(), "a control frame")

	s.queueControl([]byte("pong"))
	s.writeQueuedControl()
	require.True(t, conn.were == 3 && conn.until.IsZero(), "a control frame that came late")
}
