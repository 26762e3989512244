package client

import (
	"errors"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
	"terminalproxy/protocol/handshake"
)

// The client gives up an endless handshake, its memory stays flat, and the error says what is
// wrong.
func TestALyingGatewayIsBoundedR75(t *testing.T) {
	for _, name := range []string{"endless header", "endless lines", "no line end at all"} { // an interim answer is already a refusal
		t.Run(name, func(t *testing.T) {
			lie := fake.Lies[name]
			addr, dial := fake.Server(t, "tcp", func(c net.Conn) { fake.Flood(c, lie.First, lie.Again) })
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := start(t, Config{URL: "ws://" + addr + protocol.PathAgent, Dial: dial}).Sessions(fake.Within(t))
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
