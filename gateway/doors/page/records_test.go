package page_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
)

// shelf is a slow store of recordings.
type shelf struct {
	asked  chan protocol.Message
	answer chan struct{}
	closed chan struct{}
}

func newShelf() *shelf {
	return &shelf{make(chan protocol.Message, 10), make(chan struct{}), make(chan struct{})}
}

func (s *shelf) Answer(ctx context.Context, m protocol.Message) protocol.Message {
	s.asked <- m
	select {
	case <-s.answer:
	case <-ctx.Done():
	}
	return &protocol.RecordsReadResult{RequestID: protocol.RequestID(m), RecordID: "r-1", End: true}
}

func (s *shelf) Close() { close(s.closed) }

// owned is an owner's page with recordings.
func owned(t *testing.T, s *shelf) (*socket, *link) {
	h := openDoor(t, func(c *setup) {
		c.Role = auth.RoleOwner
		c.Admit = func(context.Context, page.Visitor) (func(), error) { return func() {}, nil }
		if s != nil {
			c.Records = func() page.Records { return s }
		}
	})
	b := h.newPage()
	b.waitFor(http.StatusOK)
	page := h.connect(b.ticket())
	page.next()
	return page, <-h.links
}

// The door answers about recordings itself, without the gateway, and no other request waits for
// that.
func TestTheDoorAnswersAboutRecordings(t *testing.T) {
	s := newShelf()
	p, l := owned(t, s)
	p.say(`{"type":"records.read","requestId":"1","recordId":"r-1"}`)
	<-s.asked
	p.say(`{"type":"terminal.control.decide","requestId":"2","sessionId":"vim-1","grant":false,"by":"x"}`)
	require.Equal(t, "terminal.control.decide", protocol.KindOf(<-l.sent), "what takes back does not wait for a recording")
	busy := map[any]bool{}
	for i := range 5 { // one is at work, four wait
		p.say(fmt.Sprintf(`{"type":"records.read","requestId":"more-%d","recordId":"r-1"}`, i))
	}
	got := p.next()
	require.Equal(t, "busy", got["code"], "%v", got)
	busy[got["requestId"]] = true
	for range 5 {
		s.answer <- struct{}{}
		got := p.next()
		require.Equal(t, "records.read.result", got["type"])
		require.False(t, busy[got["requestId"]])
	}
	require.Empty(t, l.sent)
	p.say(`{"type":"records.list","requestId":"3"}`)
	for range 5 {
		<-s.asked
	}
	p.leave() // in the middle of an answer
	<-s.closed
}

func TestADoorWithoutRecordings(t *testing.T) {
	p, l := owned(t, nil)
	p.say(`{"type":"records.list","requestId":"1"}`)
	require.Equal(t, "unavailable", p.next()["code"])
	require.Empty(t, l.sent)
}

// Recordings hold what a program printed at any time.
func TestAViewerGetsNoRecordings(t *testing.T) {
	s := newShelf()
	h := openDoor(t, func(c *setup) { c.Records = func() page.Records { return s } })
	p, l := h.visit()
	for _, ask := range []string{`"records.list","requestId":"1"`, `"records.read","requestId":"1","recordId":"r-1"`} {
		p.say(`{"type":` + ask + `}`)
		require.Equal(t, "forbidden", p.next()["code"])
	}
	require.Empty(t, l.sent)
	require.Empty(t, s.asked)
}
