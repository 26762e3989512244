package client

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// talk is a gateway of which a test speaks every line itself.
func talk(t *testing.T, serve func(say func(protocol.Message), hear func() protocol.Message)) Config {
	t.Helper()
	upgrader := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.Close() }()
		serve(func(m protocol.Message) {
			frame, err := protocol.Encode(m)
			if err != nil || ws.WriteMessage(websocket.TextMessage, frame) != nil {
				_ = ws.Close()
			}
		}, func() protocol.Message {
			_, frame, err := ws.ReadMessage()
			if err != nil {
				return nil
			}
			m, _ := protocol.Decode(frame, protocol.MaxMessage)
			return m
		})
	}))
	t.Cleanup(s.Close)
	return configFor(s)
}

func repaint() *protocol.Output {
	return &protocol.Output{ID: "o", SessionID: "sh-1", DataB64: []byte("all"), Repaint: true, Cols: 80, Rows: 24}
}

func TestASeatLivesThroughAChangeOfGateway(t *testing.T) {
	heard := make(chan protocol.Message, 64)
	visits := new(atomic.Int64)
	cfg := talk(t, func(say func(protocol.Message), hear func() protocol.Message) {
		first := visits.Add(1) == 1
		for m := hear(); m != nil; m = hear() {
			heard <- m
			switch m := m.(type) {
			case *protocol.Attach:
				say(&protocol.Done{RequestID: m.RequestID})
			case *protocol.Watch:
				say(repaint())
			case *protocol.Typed:
				if first {
					return // the gateway goes away
				}
				say(&protocol.SessionClose{ID: "c", SessionID: "sh-1", ExitCode: 3})
			}
		}
	})
	c := start(t, cfg)
	at, err := c.Attach(within(t), "sh-1", 90, 30, true)
	require.NoError(t, err)
	require.True(t, (<-at.Messages()).(*protocol.Output).Repaint)
	require.NoError(t, at.Type([]byte("x")))
	require.True(t, (<-at.Messages()).(*protocol.Output).Repaint, "from the next gateway")
	require.NoError(t, at.Type(make([]byte, protocol.MaxTyped+1)))
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
	cfg := talk(t, func(say func(protocol.Message), hear func() protocol.Message) {
		if m := hear(); m != nil {
			say(&protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeForbidden, Message: "this is the user's own terminal"})
		}
		hear()
	})
	_, err := start(t, cfg).Attach(within(t), "sh-1", 90, 30, true)
	require.ErrorContains(t, err, "the user's own terminal")

	cfg = talk(t, func(say func(protocol.Message), hear func() protocol.Message) {
		hear()
		say(&protocol.Error{Code: protocol.CodeNoSession, Message: "there is no session"})
		hear()
	})
	at, err := start(t, cfg).Attach(within(t), "sh-1", 90, 30, false)
	require.NoError(t, err)
	_, more := <-at.Messages()
	require.False(t, more)
	require.ErrorContains(t, at.Err(), "there is no session")
}

func TestDetachingEndsTheAttachment(t *testing.T) {
	cfg := talk(t, func(say func(protocol.Message), hear func() protocol.Message) {
		for m := hear(); m != nil; m = hear() {
			if a, ok := m.(*protocol.Attach); ok {
				say(&protocol.Done{RequestID: a.RequestID})
			}
		}
	})
	at, err := start(t, cfg).Attach(within(t), "sh-1", 90, 30, true)
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
	cfg, conns := fake(t, func(n int64, m protocol.Message) protocol.Message {
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
	cfg.Key, cfg.Passing = "k", true
	c := start(t, cfg)
	id, err := c.Start(within(t), &protocol.ProxyStart{Command: "sh"})
	require.NoError(t, err)
	require.Equal(t, "sh-1", id)
	require.Len(t, ids, 3)
	require.Equal(t, ids[0], ids[1])
	require.Equal(t, ids[0], ids[2])
	require.EqualValues(t, 2, conns.Load())
}

func TestAStartThatFailsIsASentence(t *testing.T) {
	cfg, _ := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		return &protocol.ProxyStarted{ID: "i", RequestID: protocol.RequestID(m), Error: "sh: command not found"}
	})
	_, err := start(t, cfg).Start(within(t), &protocol.ProxyStart{Command: "sh"})
	require.EqualError(t, err, "sh: command not found")
}

func TestThePassingIdentityIsSaid(t *testing.T) {
	headers := make(chan http.Header, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		http.Error(w, "no", http.StatusForbidden)
	}))
	t.Cleanup(s.Close)
	cfg := configFor(s)
	cfg.Key, cfg.Passing = "secret", true
	_, err := start(t, cfg).Sessions(within(t))
	require.Error(t, err)
	h := <-headers
	require.Equal(t, "secret", h.Get(HeaderKey))
	require.NotEmpty(t, h.Get(HeaderPassing))
}
