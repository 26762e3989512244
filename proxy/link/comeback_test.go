package link

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/handshake"
)

// On the local socket another process takes over at once, and so a session is back at once. The
// proxies of a restarting remote gateway come back one by one.
func TestProxiesComeBackSpreadAfterARestart(t *testing.T) {
	ended := func(code int) error {
		return fmt.Errorf("read from the gateway: %w", &websocket.CloseError{Code: code})
	}
	require.Equal(t, handshake.Spread, firstDelay(ended(websocket.CloseServiceRestart)))
	require.Equal(t, firstBackoff, firstDelay(ended(websocket.CloseGoingAway)))
	require.Equal(t, firstBackoff, firstDelay(errors.New("connection reset")))
	require.Greater(t, handshake.Spread, 2*firstBackoff)
}
