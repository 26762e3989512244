package handshake

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair returns a dialled connection and its far end.
func pair(t *testing.T, within time.Duration) (*Conn, net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ln.Close()) }()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path)
	require.NoError(t, err)
	far, err := ln.Accept()
	require.NoError(t, err)
	c, err := Bound(conn, within)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = c.Close(), far.Close() })
	return c, far
}

// flood writes until the far end has gone.
func flood(far net.Conn) {
	for piece := make([]byte, 8<<10); ; {
		if _, err := far.Write(piece); err != nil {
			return
		}
	}
}

func TestBytesAreCountedUntilTheHandshakeIsDoneR75(t *testing.T) {
	c, far := pair(t, time.Minute)
	go flood(far) // ends with the connection
	got, err := io.Copy(io.Discard, io.LimitReader(c, 4*MaxBytes))
	require.ErrorIs(t, err, ErrTooLong)
	require.EqualValues(t, MaxBytes, got)
	require.NoError(t, c.Done())
	_, err = io.ReadFull(c, make([]byte, 2*MaxBytes))
	require.NoError(t, err, "afterwards there is no bound")
}

func TestTheTimeIsThatOfTheWholeHandshakeR75(t *testing.T) {
	c, far := pair(t, 30*time.Millisecond)
	go func() { // a drip that keeps every single read alive; ends with the connection
		for {
			if _, err := far.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	require.NoError(t, c.SetDeadline(time.Time{}))
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Hour)))
	_, err := io.Copy(io.Discard, c)
	require.ErrorIs(t, err, ErrTooSlow)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, c.Done())
	_, err = c.Read(make([]byte, 1))
	require.NoError(t, err, "afterwards there is no deadline")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(-time.Second)))
	require.NoError(t, c.SetWriteDeadline(time.Now().Add(time.Second)))
	_, err = c.Read(make([]byte, 1))
	require.True(
		t,
		errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, ErrTooSlow),
		"%v",
		err,
	)
}
