package client

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
	"terminalproxy/protocol/handshake"
)

// The clients of a restarting gateway do not reconnect in step.
func TestClientsComeBackSpreadAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := make(map[time.Duration]bool)
		for range 20 {
			c := New(Config{})
			c.dialer.restarts.Store(time.Now().UnixNano())
			began := time.Now()
			require.NoError(t, c.dialer.spreadReconnects(t.Context()))
			waits[time.Since(began)] = true
			require.Less(t, time.Since(began), handshake.Spread)
			time.Sleep(handshake.Spread + 1)
			began = time.Now()
			require.NoError(t, c.dialer.spreadReconnects(t.Context()))
			require.Zero(t, time.Since(began), "later there is no need")
		}
		require.Greater(t, len(waits), 15)
	})
}

// A gateway that announced its restart may take longer than one that is gone.
func TestARestartIsWaitedForLonger(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := New(Config{URL: "ws://localhost" + protocol.PathAgent, Dial: func(context.Context) (net.Conn, error) {
				return nil, errors.New("refused")
			}})
			began, bound := time.Now(), patience
			if restarts {
				c.dialer.restarts.Store(began.UnixNano())
				bound = restartPatience
			}
			_, err := c.dialer.dialGateway(t.Context(), true)
			require.ErrorContains(t, err, "no gateway answers")
			require.GreaterOrEqual(t, time.Since(began), bound)
			require.Less(t, time.Since(began), bound+longestWait+handshake.Spread)
			require.NoError(t, c.Close())
		})
	}
}

func TestAGatewayThatRestartsSaysSo(t *testing.T) {
	for code, restarts := range map[int]bool{websocket.CloseServiceRestart: true, websocket.CloseGoingAway: false} {
		dial := fake.Gateway(t, func(c fake.Conn) {
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "bye"), time.Now().Add(fake.Soon))
			_, _, _ = c.ReadMessage() // its answer
		})
		c := New(Config{URL: "ws://localhost" + protocol.PathAgent, Dial: dial})
		s, err := c.dialer.dialGateway(t.Context(), false)
		require.NoError(t, err)
		_, err = s.next()
		require.ErrorIs(t, err, errLost)
		require.Equal(t, restarts, c.dialer.restarts.Load() != 0)
		s.close()
		require.NoError(t, c.Close())
	}
}
