package client

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func repaint() *protocol.Output {
	return &protocol.Output{ID: "o", SessionID: "sh-1", DataB64: []byte("all"), Repaint: true, Cols: 80, Rows: 24}
}

func TestASeatLivesThroughAChangeOfGateway(t *testing.T) {
	heard := make(chan protocol.Message, 64)
	visits := new(atomic.Int64)
	cfg := talk(t, func(c fake.Conn) {
		first, gone := visits.Add(1) == 1, false
		for m, err := c.Next(); err == nil && !gone; m, err = c.Next() {
			heard <- m
			switch m := m.(type) {
			case *protocol.Attach:
				err = c.Send(&protocol.Done{RequestID: m.RequestID})
			case *protocol.Watch:
				err = c.Send(repaint())
			case *protocol.ViewerInput:
				if first {
					return // the gateway goes away
				}
				err = c.Send(&protocol.SessionClose{ID: "c", SessionID: "sh-1", ExitCode: 3})
			}
			gone = err != nil
		}
	})
	c := start(t, cfg)
	at, err := c.Attach(fake.Within(t), "sh-1", 90, 30, true)
	require.NoError(t, err)
	require.True(t, (<-at.Messages()).(*protocol.Output).Repaint)
	require.NoError(t, at.Type([]byte("x")))
	require.True(t, (<-at.Messages()).(*protocol.Output).Repaint, "from the next gateway")
	require.NoError(t, at.Type(make([]byte, protocol.MaxViewerInput+1)))
	require.Equal(t, 3, (<-at.Messages()).(*protocol.SessionClose).ExitCode)
	_, more := <-at.Messages()
	require.False(t, more)
	require.NoError(t, at.Err())
	var kinds []string
	for len(heard) > 0 {
		kinds = append(kinds, protocol.KindOf(<-heard))
	}
	require.Equal(t, []string{"terminal.attach", "terminal.watch", "terminal.typed", "terminal.attach", "terminal.watch", "terminal.typed"}, kinds[:6])
}

func TestAnAttachmentThatIsRefused(t *testing.T) {
	cfg := talk(t, func(c fake.Conn) {
		_ = c.Answer(func(m protocol.Message) protocol.Message {
			return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeForbidden, Message: "this is the user's own terminal"}
		})
	})
	_, err := start(t, cfg).Attach(fake.Within(t), "sh-1", 90, 30, true)
	require.ErrorContains(t, err, "the user's own terminal")

	cfg = talk(t, func(c fake.Conn) {
		_ = c.Answer(func(protocol.Message) protocol.Message {
			return &protocol.Error{Code: protocol.CodeNoSession, Message: "there is no session"}
		})
	})
	at, err := start(t, cfg).Attach(fake.Within(t), "sh-1", 90, 30, false)
	require.NoError(t, err)
	_, more := <-at.Messages()
	require.False(t, more)
	require.ErrorContains(t, at.Err(), "there is no session")
}

func TestDetachingEndsTheAttachment(t *testing.T) {
	cfg := talk(t, func(c fake.Conn) {
		_ = c.Answer(func(m protocol.Message) protocol.Message {
			if a, ok := m.(*protocol.Attach); ok {
				return &protocol.Done{RequestID: a.RequestID}
			}
			return nil
		})
	})
	at, err := start(t, cfg).Attach(fake.Within(t), "sh-1", 90, 30, true)
	require.NoError(t, err)
	require.NoError(t, at.Resize(50, 10))
	at.Detach()
	_, more := <-at.Messages()
	require.False(t, more)
	require.ErrorIs(t, at.Type([]byte("x")), errLost)
}

func TestAStartIsRepeatedUnderItsID(t *testing.T) {
	var mu sync.Mutex
	var ids []string
	cfg, conns := gateway(t, func(n int64, m protocol.Message) protocol.Message {
		start, ok := m.(*protocol.ProxyStart)
		if !ok {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, start.RequestID)
		switch n {
		case 1:
			return nil // the answer is lost
		case 2:
			if len(ids) == 2 { // it learns its hosts as they find it
				return &protocol.Error{RequestID: start.RequestID, Code: protocol.CodeUnavailable, Message: "no host"}
			}
		}
		return &protocol.ProxyStarted{ID: "i", RequestID: start.RequestID, SessionID: "sh-1"}
	})
	cfg.Key, cfg.Transient = "k", true
	c := start(t, cfg)
	id, err := c.Start(fake.Within(t), &protocol.ProxyStart{Command: "sh"})
	require.NoError(t, err)
	require.Equal(t, "sh-1", id)
	require.Len(t, ids, 3)
	require.Equal(t, ids[0], ids[1])
	require.Equal(t, ids[0], ids[2])
	require.EqualValues(t, 2, conns.Load())
}
