package client

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// TestR75ALyingGatewayIsBounded: an endless handshake is given up, memory stays flat, and the error says what is wrong.
func TestR75ALyingGatewayIsBounded(t *testing.T) {
	for name, lie := range map[string]struct{ first, again string }{
		"endless header": {"HTTP/1.1 101 Switching Protocols\r\nX: ", strings.Repeat("x", 4096)},
		"endless lines":  {"HTTP/1.1 101 Switching Protocols\r\n", strings.Repeat("X-Line: y\r\n", 400)},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var all sync.WaitGroup
			all.Go(func() { // ends with the listener
				for {
					conn, err := ln.Accept()
					if err != nil {
						return
					}
					all.Go(func() { // ends when the other end closes
						_, err := conn.Write([]byte(lie.first))
						for err == nil {
							_, err = conn.Write([]byte(lie.again))
						}
						_ = conn.Close()
					})
				}
			})
			defer func() { _ = ln.Close(); all.Wait() }()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			addr := ln.Addr().String()
			c := start(t, Config{
				URL:  "ws://" + addr + protocol.PathAgent,
				Dial: func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", addr) },
			})
			_, err = c.Sessions(within(t))
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, handshake.ErrTooLong)
			_, unreachable := errors.AsType[*Unreachable](err)
			require.True(t, unreachable)
			require.Contains(t, err.Error(), addr)
			require.Contains(t, err.Error(), "not a gateway")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
		})
	}
}
