package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// link is a connection to a gateway that a test plays.
type link struct {
	sent   chan protocol.Message
	frames chan string // for the page
	done   chan struct{}
	once   sync.Once
}

func newLink() *link {
	return &link{sent: make(chan protocol.Message, 100), frames: make(chan string), done: make(chan struct{})}
}

func (l *link) Send(m protocol.Message) error {
	l.sent <- m
	return nil
}

func (l *link) Next() ([]byte, error) {
	select {
	case f, ok := <-l.frames:
		if ok {
			return []byte(f), nil
		}
	case <-l.done:
	}
	return nil, errors.New("gone")
}

func (l *link) Close() { l.once.Do(func() { close(l.done) }) }

// ended waits until the page's side has closed it.
func (l *link) ended(t *testing.T) {
	t.Helper()
	select {
	case <-l.done:
	case <-time.After(fake.Soon):
		require.FailNow(t, "the connection to the gateway is left open")
	}
}

// nth returns the link of the nth connection, from 0 on, of those not asked for yet.
func (h *house) nth(n int) <-chan *link {
	out := make(chan *link, 1)
	for range n - 1 {
		<-h.links
	}
	out <- <-h.links
	return out
}

// socket is a page's WebSocket.
type socket struct {
	t  testing.TB
	ws *websocket.Conn
}

// knock dials without a word.
func (h *house) knock(headers ...string) (*socket, int) {
	h.t.Helper()
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}}
	ws, resp, err := dialer.DialContext(h.t.Context(), "ws://"+h.at+"/v1/page", header)
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if err != nil {
		require.NotNil(h.t, resp, "%v", err)
		return nil, resp.StatusCode
	}
	h.t.Cleanup(func() { _ = ws.Close() })
	require.NoError(h.t, ws.SetReadDeadline(time.Now().Add(fake.Soon)))
	return &socket{h.t, ws}, resp.StatusCode
}

// dial dials and shows a ticket.
func (h *house) dial(ticket string, headers ...string) (*socket, int) {
	h.t.Helper()
	s, status := h.knock(headers...)
	if s != nil {
		s.say(`{"type":"hello","ticket":"` + ticket + `"}`)
	}
	return s, status
}

func (h *house) connect(ticket string) *socket {
	h.t.Helper()
	s, status := h.dial(ticket)
	require.NotNil(h.t, s, "%d", status)
	return s
}

func (s *socket) say(frame string) {
	s.t.Helper()
	require.NoError(s.t, s.ws.WriteMessage(websocket.TextMessage, []byte(frame)))
}

// next returns the next frame.
func (s *socket) next() (fields map[string]any) {
	s.t.Helper()
	_, frame, err := s.ws.ReadMessage()
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(frame, &fields))
	return fields
}

// end returns the close frame, which must be the next frame.
func (s *socket) end() (code int, why string) {
	s.t.Helper()
	_, frame, err := s.ws.ReadMessage()
	closed, ok := errors.AsType[*websocket.CloseError](err)
	require.True(s.t, ok, "%s %v", frame, err)
	return closed.Code, closed.Text
}

func (s *socket) ends(code int, words string) {
	s.t.Helper()
	got, why := s.end()
	require.Equal(s.t, code, got)
	require.Contains(s.t, why, words)
}

func (s *socket) leave() { _ = s.ws.Close() }

// visit returns a page with its connection, after the welcome.
func (h *house) visit() (*socket, *link) {
	h.t.Helper()
	s := h.connect(h.newPage().ticket())
	require.Equal(h.t, "welcome", s.next()["type"])
	return s, <-h.links
}

// admitOwners makes an opening whose pages are owners, who may all enter.
func (c *setup) admitOwners() {
	c.Role = auth.RoleOwner
	c.Admit = func(context.Context, page.Visitor) (func(), error) { return func() {}, nil }
}

// visitAsOwner is visit for an opening of admitOwners.
func (h *house) visitAsOwner() (*socket, *link) {
	h.t.Helper()
	b := h.newPage()
	b.waitFor(http.StatusOK)
	s := h.connect(b.ticket())
	require.Equal(h.t, "welcome", s.next()["type"])
	return s, <-h.links
}

func TestTheWelcome(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Session = "vim-1" })
	b := h.newPage()
	got := h.connect(b.ticket()).next()
	require.Equal(t, "welcome", got["type"])
	require.Equal(t, b.id, got["page"])
	require.Equal(t, "viewer", got["role"])
	require.Equal(t, "vim-1", got["session"])
	require.Equal(t, "v7", got["version"])
	require.EqualValues(t, h.clock.time().UnixMilli(), got["now"])
	require.Greater(t, got["expires"], got["now"])
}

func TestATicketOpensOneConnection(t *testing.T) {
	h := openDoor(t, nil)
	b := h.newPage()
	used, old := b.ticket(), b.ticket()
	require.Equal(t, "welcome", h.connect(used).next()["type"])
	code, why := h.connect(used).end()
	require.Equal(t, 1008, code)
	require.Contains(t, why, "was used")
	pushed := b.ticket()
	for range 8 { // at most 8 may be open; the oldest goes
		b.ticket()
	}
	h.clock.pass(time.Millisecond)
	expired := b.ticket()
	for name, ticket := range map[string]string{"pushed out": pushed, "none": "", "guessed": strings.Repeat("a", 26)} {
		code, why := h.connect(ticket).end()
		require.Equal(t, 1008, code, name)
		require.Contains(t, why, "the ticket is unknown", name)
	}
	h.clock.pass(31 * time.Second)
	for name, ticket := range map[string]string{"expired": expired, "old": old} {
		code, _ := h.connect(ticket).end()
		require.Equal(t, 1008, code, name)
	}
	require.Len(t, h.links, 1, "no gateway was dialled for them")
}

// A ticket ends with its page.
func TestATicketEndsWithItsPage(t *testing.T) {
	h := openDoor(t, nil)
	b := h.newPage()
	ticket := b.ticket()
	for range 8 {
		h.clock.pass(time.Millisecond)
		h.newPage()
	}
	code, why := h.connect(ticket).end()
	require.Equal(t, 1008, code)
	require.Contains(t, why, "other pages took its place")
	require.Empty(t, h.links, "the gateway was dialled for it")
}

func TestTheFirstFrameIsAHello(t *testing.T) {
	h := openDoor(t, nil)
	b := h.newPage()
	for name, frame := range map[string]string{
		"another message": `{"type":"sessions.list","requestId":"1"}`,
		"no JSON":         "hello",
		"no ticket":       `{"type":"hello"}`,
		"not its type":    `{"ticket":"` + b.ticket() + `"}`,
	} {
		s, _ := h.knock()
		s.say(frame)
		code, _ := s.end()
		require.Equal(t, 1008, code, name)
	}
	s, _ := h.knock()
	require.NoError(t, s.ws.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"hello","ticket":"`+b.ticket()+`"}`)))
	code, _ := s.end()
	require.Equal(t, 1008, code, "binary")
	s, _ = h.knock()
	s.say(`{"type":"hello","ticket":"` + b.ticket() + `","pad":"` + strings.Repeat("a", 5000) + `"}`)
	code, _ = s.end()
	require.Equal(t, 1009, code, "too large")
	require.Empty(t, h.links, "nobody dialled the gateway")
}

// A silent connection gets nothing, not even a pong, and is cut off. The number of silent
// connections is bounded.
func TestNothingIsSentBeforeTheHello(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Times.Hello = time.Second })
	s, _ := h.knock()
	s.ws.SetPongHandler(func(string) error {
		require.Fail(t, "a pong")
		return nil
	})
	require.NoError(t, s.ws.WriteControl(websocket.PingMessage, []byte("x"), time.Now().Add(time.Second)))
	s.ends(1008, "hello")
}

func TestSilentConnectionsAreBounded(t *testing.T) {
	h := openDoor(t, nil)
	var silent []*socket
	for range 64 {
		s, _ := h.knock()
		require.NotNil(t, s)
		silent = append(silent, s)
	}
	s, _ := h.knock()
	s.ends(websocket.CloseTryAgainLater, "64 connections from your address")
	silent[0].leave()
	b := h.newPage()
	for until, frame := time.Now().Add(fake.Soon), []byte(nil); frame == nil; {
		require.True(t, time.Now().Before(until), "the connection that left still counts")
		s, _ := h.knock()
		require.NotNil(t, s)
		_ = s.ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","ticket":"`+b.ticket()+`"}`))
		if _, got, err := s.ws.ReadMessage(); err == nil {
			require.Contains(t, string(got), `"welcome"`)
			frame = got
		}
	}
}

// A page that sees everything gets frames unchanged, even of kinds that this version does not know.
func TestFramesPassAsTheyAre(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	const frame = `{"type":"of.a.newer.gateway", "x":1}`
	l.frames <- frame
	_, got, err := s.ws.ReadMessage()
	require.NoError(t, err)
	require.Equal(t, frame, string(got))
}

func TestAnInvalidFrameIsAnsweredWithAnError(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	s.say(`{"type":"sessions.list"}`)
	require.Equal(t, "bad_message", s.next()["code"])
	s.say(`nonsense`)
	require.Equal(t, "bad_message", s.next()["code"])
	s.say(`{"type":"sessions.list","requestId":"1"}`)
	require.Equal(t, "sessions.list", protocol.KindOf(<-l.sent))
	for range 2 {
		s.say(`nonsense`)
		require.Equal(t, "bad_message", s.next()["code"])
	}
	s.say(`nonsense`)
	s.ends(1008, "three invalid frames")
	l.ended(t)
}

// The gateway's door reads a page's messages even if the page does not read the answers.
func TestATakeBackPassesAFullConnection(t *testing.T) {
	s, l := openDoor(t, func(c *setup) { c.admitOwners(); c.Times.Write = fake.Soon }).visitAsOwner()
	rows := `{"type":"of.a.newer.gateway","x":"` + strings.Repeat("x", 64<<10) + `"}`
	var written atomic.Int64
	var feeding sync.WaitGroup
	feeding.Go(func() {
		for {
			select {
			case l.frames <- rows:
				written.Add(1)
			case <-l.done:
				return
			}
		}
	})
	defer feeding.Wait()
	defer s.leave()
	before := int64(-1)
	require.Eventually(t, func() bool { // nothing more was taken between two looks
		now := written.Load()
		defer func() { before = now }()
		return now == before
	}, fake.Soon, 100*time.Millisecond)
	for range 10 {
		s.say(`{"type":"terminal.input","requestId":"1","sessionId":"vim-1","data":"x"}`)
	}
	s.say(`{"type":"terminal.control.decide","requestId":"back","sessionId":"vim-1","by":"x"}`)
	select {
	case m := <-l.sent:
		require.Equal(t, "back", protocol.RequestID(m))
	case <-time.After(fake.Soon):
		require.FailNow(t, "it waits behind answers that the page does not read")
	}
	for range 100 {
		s.say(`{"type":"sessions.list"}`)
	}
	l.ended(t) // it is cut off, since answers to it would pile up
}

func TestAnOversizedFrameClosesTheSocket(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	s.say(`{"type":"terminal.read","requestId":"1","sessionId":"vim-1","match":"` + strings.Repeat("€", 1024) + `","agentId":"` + strings.Repeat("a", 128) +
		`","x":"` + strings.Repeat("x", 50_000) + `"}`)
	require.Equal(t, "error", s.next()["type"])
	s.say(`{"type":"terminal.read","requestId":"1","sessionId":"vim-1","x":"` + strings.Repeat("x", protocol.MaxAgentMessage) + `"}`)
	code, _ := s.end()
	require.Equal(t, 1009, code)
	l.ended(t)
}

func TestAPagesEndIsItsConnectionsEnd(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	s.leave()
	l.ended(t)
}

func TestAGatewayThatGoesAway(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	close(l.frames)
	s.ends(1012, "the gateway is unreachable or has moved: connect again")
	l.ended(t)
	none := openDoor(t, func(c *setup) {
		c.Dial = func(context.Context) (page.Link, error) { return nil, errors.New("nobody serves") }
	})
	none.connect(none.newPage().ticket()).ends(1012, "")
}

func TestClosingTheDoorTellsItsPages(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	silent, _ := h.knock()
	closed := make(chan struct{})
	go func() { // ends with the door
		defer close(closed)
		h.door.Close()
	}()
	s.ends(1008, "closed in the terminal")
	_, _ = silent.end()
	l.ended(t)
	<-closed
}

// A page that reads nothing delays nothing: it is cut off, with its connection to the gateway.
func TestAStuckPageIsCutOff(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Times.Write = 50 * time.Millisecond })
	_, l := h.visit()
	other, ol := h.visit()
	big := `{"type":"terminal.rows","x":"` + strings.Repeat("x", 1<<20) + `"}`
	for stuck := false; !stuck; {
		select {
		case l.frames <- big:
		case <-l.done:
			stuck = true
		case <-time.After(fake.Soon):
			require.FailNow(t, "it holds its connection up")
		}
	}
	ol.frames <- `{"type":"x"}`
	require.Equal(t, "x", other.next()["type"])
}

func TestASilentPageIsCutOff(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Times.Ping, c.Times.Silence = 10*time.Millisecond, 200*time.Millisecond })
	_, l := h.visit() // its client answers no ping, since it does not read
	l.ended(t)
}
