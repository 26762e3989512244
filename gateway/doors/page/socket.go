package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

var (
	errHello  = errors.New("the first frame must be a hello with a ticket")
	errMoved  = errors.New("the gateway is unreachable or has moved: connect again")
	errUnread = errors.New("the page keeps sending refused messages and does not read the answers")
)

// closedError is the reason of a page's end, retryLaterError the reason why it must connect later.
type (
	closedError     struct{ error }
	retryLaterError struct{ error }
)

func (e closedError) Unwrap() error { return e.error }

// TurnAway answers a request for which there is no room. A WebSocket gets the reason in its close
// frame, because a page cannot read anything else.
func (d *Door) TurnAway(w http.ResponseWriter, r *http.Request, why error) {
	w.Header().Set("Connection", "close")
	if !websocket.IsWebSocketUpgrade(r) {
		withSecurityHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet { // a person reads the answer
				http.Error(w, why.Error(), http.StatusTooManyRequests)
				return
			}
			writeError(w, &refusal{status: http.StatusTooManyRequests, message: why.Error()})
		})).ServeHTTP(w, r)
		return
	}
	w.Header().Del("Connection")
	socket, err := d.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	c := &conn{door: d, socket: socket}
	c.sendClose(retryLaterError{why})
	c.drainRead()
	_ = socket.Close()
}

// serveSocket serves a page's WebSocket to its end.
func (d *Door) serveSocket(w http.ResponseWriter, r *http.Request) {
	free, ok := d.reserveSlot(d.strangers, auth.Address(r.RemoteAddr), maxStrangers)
	if !ok {
		d.TurnAway(w, r, errCrowd)
		return
	}
	defer func() { free() }()
	if !d.addConn() {
		http.Error(w, context.Cause(d.ctx).Error(), http.StatusServiceUnavailable)
		return
	}
	defer d.wg.Done()
	socket, err := d.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	c := &conn{
		door:     d,
		socket:   socket,
		refusals: make(chan []byte, maxRefusals),
		replays:  make(chan protocol.Message, maxRecordsRequests),
	}
	defer func() { _ = socket.Close() }()
	v, leave, err := c.readHello()
	if err != nil {
		c.sendClose(err)
		c.drainRead()
		return
	}
	free()
	free = leave
	c.page, c.filter = v, filter{now: d.cfg.Now, rights: termsRights(v.opening.terms)}
	c.serveFrames(r)
}

// termsRights returns the rights of the pages of an opening.
func termsRights(t Terms) rights.Set {
	return rights.Set{
		Who:     "a page of the role " + string(t.Role),
		Can:     rights.OfPage(t.Role),
		Session: t.Session,
		Until:   t.Expires,
	}
}

// addConn counts a connection that Close waits for. It returns false if the door is closed.
func (d *Door) addConn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return false
	}
	d.wg.Add(1)
	return true
}

// conn is one WebSocket of a page with its connection to the gateway.
type conn struct {
	door   *Door
	socket *websocket.Conn
	page   *visitor
	link   Link
	filter filter // owned by the reader, except toPage
	// refusals are frames for the page. The reader queues them, because a write may wait for the
	// page, and a reclaim must not wait with it.
	refusals chan []byte
	// replays are requests about recordings, answered one at a time.
	replays chan protocol.Message
	// ending is set when a close frame is sent. Later frames are ignored.
	ending  atomic.Bool
	writing sync.Mutex // gorilla allows one writer
}

// readHello waits for the first frame. Nothing is sent before it.
func (c *conn) readHello() (v *visitor, free func(), err error) {
	defer context.AfterFunc(c.door.ctx, func() { _ = c.socket.SetReadDeadline(time.Now()) })()
	c.socket.SetReadLimit(maxBody)
	c.socket.SetPingHandler(func(string) error { return nil })
	if err := c.socket.SetReadDeadline(time.Now().Add(c.door.cfg.Times.Hello)); err != nil {
		return nil, nil, err
	}
	kind, frame, err := c.socket.ReadMessage()
	if c.door.ctx.Err() != nil {
		return nil, nil, closedError{context.Cause(c.door.ctx)}
	}
	var in struct{ Type, Ticket string }
	if err != nil || kind != websocket.TextMessage || json.Unmarshal(frame, &in) != nil ||
		in.Type != "hello" {
		return nil, nil, errHello
	}
	return c.door.useTicket(in.Ticket)
}

// serveFrames forwards frames until one of the ends closes.
func (c *conn) serveFrames(r *http.Request) {
	over := c.connectGateway(r)
	if over == nil {
		over = c.copyFrames()
	} else {
		c.sendClose(over)
		c.drainRead()
	}
	c.door.cfg.Log.Debug("a page's connection ended", "page", c.page.ID, "error", over)
}

// connectGateway connects to the gateway and sends the page's welcome.
func (c *conn) connectGateway(r *http.Request) error {
	terms := c.page.opening.terms
	if terms.Count != nil {
		if err := terms.Count(r); err != nil {
			return retryLaterError{err}
		}
	}
	link, err := terms.Dial(c.page.ctx)
	switch {
	case c.page.ctx.Err() != nil:
		if err == nil {
			link.Close()
		}
		return closedError{context.Cause(c.page.ctx)}
	case err != nil:
		c.door.cfg.Log.Info("a page could not reach the gateway", "error", err)
		return errMoved
	}
	c.link = link
	welcome, err := json.Marshal(struct {
		Type    string `json:"type"`
		Page    string `json:"page"`
		Role    string `json:"role"`
		Expires int64  `json:"expires"`
		Session string `json:"session"`
		Version string `json:"version"`
		Now     int64  `json:"now"`
	}{
		"welcome",
		c.page.ID,
		string(c.page.Role),
		terms.Expires.UnixMilli(),
		terms.Session,
		c.door.cfg.Version,
		c.door.cfg.Now().UnixMilli(),
	})
	if err == nil {
		err = c.write(welcome)
	}
	if err != nil {
		link.Close()
	}
	return err
}

// copyFrames forwards frames in both directions. It returns when a direction or the page ends, and
// leaves nothing running.
func (c *conn) copyFrames() (over error) {
	// the end of each direction, and that of a bad frame
	ends, done, read := make(chan error, 3), make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	// All of them end by done, by the link or by the socket, which are closed below.
	wg.Go(func() { defer close(read); c.readPage(ends) })
	wg.Go(func() { ends <- c.writePage() })
	wg.Go(func() { c.writeRefusalsAndPings(done) })
	ctx, cancel := context.WithCancel(c.page.ctx)
	wg.Go(func() { c.answerRecords(ctx) })
	select {
	case over = <-ends:
	case <-c.page.ctx.Done():
	}
	if c.page.ctx.Err() != nil { // the page has ended, so it must not reconnect
		over = closedError{context.Cause(c.page.ctx)}
	}
	close(done)
	cancel()
	c.link.Close()
	c.sendClose(over)
	select {
	case <-read:
	case <-time.After(c.door.cfg.Times.Linger): // the reader is stuck
	}
	_ = c.socket.Close()
	wg.Wait()
	return over
}

// readPage forwards the page's permitted messages. After the first error it keeps reading, so that
// the page can read the reason.
func (c *conn) readPage(ends chan<- error) {
	c.socket.SetReadLimit(protocol.MaxAgentMessage) // beyond it gorilla sends close 1009
	c.socket.SetPingHandler(nil)
	c.socket.SetPongHandler(func(string) error { return c.extendDeadline() })
	for {
		if err := c.extendDeadline(); err != nil {
			ends <- err
			return
		}
		kind, frame, err := c.socket.ReadMessage()
		if errors.Is(err, websocket.ErrReadLimit) {
			c.sendClose(nil)
			c.drainRead()
		}
		if err != nil {
			ends <- err
			return
		}
		if c.ending.Load() {
			continue
		}
		if err := c.handleFrame(kind, frame); err != nil {
			c.ending.Store(true)
			ends <- err
		}
	}
}

// sendClose sends the close frame for an end, and gives the page a moment to read it.
func (c *conn) sendClose(over error) {
	c.ending.Store(true)
	deadline := time.Now().Add(c.door.cfg.Times.Linger)
	if code := closeCode(over); code != 0 {
		_ = c.socket.WriteControl(
			websocket.CloseMessage,
			websocket.FormatCloseMessage(code, over.Error()),
			deadline,
		)
	}
	_ = c.socket.SetReadDeadline(deadline)
}

// closeCode returns the code of a close frame (RFC 6455, section 7.4), or 0 if none is sent.
func closeCode(over error) int {
	if errors.Is(over, errMoved) {
		return websocket.CloseServiceRestart
	}
	if _, later := errors.AsType[retryLaterError](over); later || errors.Is(over, errConnections) {
		return websocket.CloseTryAgainLater
	}
	if _, over := errors.AsType[closedError](over); over {
		return websocket.ClosePolicyViolation
	}
	for _, why := range []error{errHello, errTicket, errBadFrames, errUnread} {
		if errors.Is(over, why) {
			return websocket.ClosePolicyViolation
		}
	}
	return 0
}

// drainRead reads what a page is still sending, until sendClose's deadline: a socket closed with
// unread data resets the connection, and the close frame would be lost.
func (c *conn) drainRead() { _, _ = io.CopyN(io.Discard, c.socket.NetConn(), 8<<20) }

// extendDeadline postpones the read deadline, unless the connection is ending.
func (c *conn) extendDeadline() error {
	if c.ending.Load() {
		return nil
	}
	return c.socket.SetReadDeadline(time.Now().Add(c.door.cfg.Times.Silence))
}

func (c *conn) handleFrame(kind int, frame []byte) error {
	m, refused, err := c.filter.fromPage(kind, frame)
	if err != nil {
		return err
	}
	switch {
	case refused == nil && isRecordsRequest(m):
		if refused = c.queueRecordsRequest(m); refused == nil {
			return nil
		}
	case refused == nil:
		err := c.link.Send(m)
		fe, own := errors.AsType[*protocol.FieldError](err)
		if !own {
			return asMoved(err)
		}
		refused = fe.Reply()
	}
	reply, err := protocol.Encode(refused)
	if err != nil {
		return err
	}
	select {
	case c.refusals <- reply:
		return nil
	default:
		return errUnread
	}
}

// maxRefusals bounds the refusals that a page has not read.
const maxRefusals = 64

func asMoved(err error) error {
	if err != nil {
		return errMoved
	}
	return nil
}

// writePage forwards the gateway's frames.
func (c *conn) writePage() error {
	for {
		frame, err := c.link.Next()
		if err != nil {
			return errMoved
		}
		if frame = c.filter.toPage(frame); frame == nil {
			continue
		}
		if err := c.write(frame); err != nil {
			return err
		}
	}
}

// write sends one frame. A page that does not read it in time is disconnected, because the frame is
// then incomplete.
func (c *conn) write(frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.socket.SetWriteDeadline(time.Now().Add(c.door.cfg.Times.Write)); err != nil {
		return err
	}
	err := c.socket.WriteMessage(websocket.TextMessage, frame)
	if err != nil {
		_ = c.socket.NetConn().Close()
	}
	return err
}

// writeRefusalsAndPings writes the door's own frames to a page. Pings distinguish an idle page from
// a dead one.
func (c *conn) writeRefusalsAndPings(done <-chan struct{}) {
	tick := time.NewTicker(c.door.cfg.Times.Ping)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case frame := <-c.refusals:
			_ = c.write(frame) // a failure closes the connection, which the reader reports
		case <-tick.C:
			// This fails only when the connection is ending, which the reader reports.
			_ = c.socket.WriteControl(
				websocket.PingMessage,
				nil,
				time.Now().Add(c.door.cfg.Times.Write),
			)
		}
	}
}
