package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// passing is a short-lived connection to a gateway: each answers one request, or ends at it.
type passing struct {
	answer func(m protocol.Message) (reply protocol.Message, last bool)
	out    chan protocol.Message
	over   chan struct{}
}

func (p *passing) sendMessage(m protocol.Message) error {
	reply, last := p.answer(m)
	if reply != nil {
		p.out <- reply
	}
	if last {
		close(p.over)
	}
	return nil
}

func (p *passing) next() (protocol.Message, error) {
	select {
	case m := <-p.out:
		return m, nil
	case <-p.over:
	}
	select {
	case m := <-p.out: // sent before the end
		return m, nil
	default:
		return nil, errLost
	}
}

func (p *passing) close() {
	select {
	case <-p.over:
	default:
		close(p.over)
	}
}
func (p *passing) isGathering() bool  { return true }
func (p *passing) startWatch() *watch { return &watch{stop: func() {}} }
func (p *passing) guardLink() func()  { return func() {} }

// throughMany makes a client of one gateway after another; answer is told the gateway's number.
func throughMany(answer func(n int, m protocol.Message) (reply protocol.Message, last bool)) *Client {
	c, n := newClient(Config{Key: "secret"}), 0
	c.open = func(context.Context, bool) (link, error) {
		n++
		number := n
		return &passing{
			answer: func(m protocol.Message) (protocol.Message, bool) { return answer(number, m) },
			out:    make(chan protocol.Message, 8), over: make(chan struct{}),
		}, nil
	}
	return c
}

// A missing session is waited for once, however often the gateway changes.
func TestAMissingSessionIsMissedOnce(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, c *Client) error{
		"read": func(ctx context.Context, c *Client) error {
			_, err := c.Read(ctx, &protocol.Read{SessionID: "x"})
			return err
		},
		"start": func(ctx context.Context, c *Client) error {
			_, err := c.Start(ctx, &protocol.ProxyStart{Command: "x"})
			return err
		},
		"list": func(ctx context.Context, c *Client) error {
			_, err := c.Sessions(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				c := throughMany(func(_ int, m protocol.Message) (protocol.Message, bool) {
					asked++
					last := asked%20 == 0 // another gateway every second
					switch m := m.(type) {
					case *protocol.SessionsList:
						return &protocol.SessionsListResult{RequestID: m.RequestID}, last
					case *protocol.ProxyStart:
						return &protocol.Error{RequestID: m.RequestID, Code: protocol.CodeUnavailable, Message: "no host"}, last
					}
					return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeNoSession, Message: "unknown"}, last
				})
				began := time.Now()
				err := ask(t.Context(), c)
				require.Equal(t, name != "list", err != nil)
				require.Equal(t, gatherTime, time.Since(began))
				require.NoError(t, c.Close())
			})
		})
	}
}

// The longer the gateway was away, the less often its proxies try to reach it, and the longer a
// session may be missing.
func TestASessionIsMissedLongerAfterALongAbsence(t *testing.T) {
	for away, bound := range map[time.Duration]time.Duration{0: gatherTime, time.Second: 6 * time.Second, 8 * time.Second: longestGather} {
		synctest.Test(t, func(t *testing.T) {
			c := throughMany(func(n int, m protocol.Message) (protocol.Message, bool) {
				if n == 1 {
					return nil, true
				}
				return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeNoSession, Message: "unknown"}, false
			})
			open := c.open
			c.open = func(ctx context.Context, again bool) (link, error) {
				if again {
					time.Sleep(away)
				}
				return open(ctx, again)
			}
			began := time.Now()
			_, err := c.Wait(t.Context(), &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}, TimeoutMs: 600_000})
			require.ErrorContains(t, err, "unknown")
			require.Equal(t, away+bound, time.Since(began))
			require.NoError(t, c.Close())
		})
	}
}

// A longer wait survives every change of gateway.
func TestALongWaitLivesThroughManyGateways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		began := time.Now()
		c := throughMany(func(n int, m protocol.Message) (protocol.Message, bool) {
			asked++
			require.Equal(t, 600_000-time.Since(began).Milliseconds(), m.(*protocol.Wait).TimeoutMs, "what is left of it")
			switch {
			case asked%20 != 0: // its proxy needs a second to reconnect
				return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeNoSession, Message: "unknown"}, false
			case n < 10:
				return nil, true
			}
			return &protocol.WaitResult{RequestID: protocol.RequestID(m), Met: true}, false
		})
		r, err := c.Wait(t.Context(), &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}, TimeoutMs: 600_000})
		require.NoError(t, err)
		require.True(t, r.Met)
		require.NoError(t, c.Close())
	})
}

// The gateway before may have passed on an input that has no receipt. So the answer of the next one,
// that its session is gone, its program has ended or nothing was typed, is none.
func TestSentInputIsNotReportedAsRefused(t *testing.T) {
	refuse := func(code protocol.Code) protocol.Message {
		return &protocol.Error{RequestID: "i", Code: code, Message: "it is over"}
	}
	untyped := &protocol.InputResult{ID: "i", RequestID: "i", SessionID: "x", Status: protocol.StatusRefused, Reason: protocol.CodeUnavailable, Message: "nothing was typed"}
	for _, answer := range []protocol.Message{refuse(protocol.CodeNoSession), refuse(protocol.CodeExited), untyped} {
		synctest.Test(t, func(t *testing.T) {
			c := throughMany(func(n int, _ protocol.Message) (protocol.Message, bool) {
				if n == 1 {
					return nil, true
				}
				return answer, false
			})
			_, err := c.Input(t.Context(), &protocol.Input{RequestID: "i", SessionID: "x", Data: "y"})
			require.ErrorContains(t, err, "it is unknown whether the terminal.input took effect")
			require.NoError(t, c.Close())
		})
	}
	c := throughMany(func(int, protocol.Message) (protocol.Message, bool) { return untyped, false })
	got, err := c.Input(t.Context(), &protocol.Input{RequestID: "i", SessionID: "x", Data: "y"})
	require.NoError(t, err)
	require.Equal(t, untyped, got)
	require.NoError(t, c.Close())
}
