package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

const (
	// gatherTime bounds how long after a reconnection a session may be missing: a gateway that took
	// over learns its sessions as their proxies reconnect. After a longer absence they try less
	// often, so the bound grows by gatherGrowth times the absence, up to longestGather.
	gatherTime    = 3 * time.Second
	gatherGrowth  = 3
	longestGather = 15 * time.Second
	gatherPause   = 50 * time.Millisecond
)

// errLost means that the connection ended before the answer came, and that another connection may
// get one.
var errLost = errors.New("connection lost")

// link carries the messages of one connection.
type link interface {
	// sendMessage sends m. A *protocol.FieldError is the sender's mistake, any other error the end
	// of the connection. Any goroutine may call it.
	sendMessage(m protocol.Message) error
	// next returns the next message. An error ends the connection: after errLost another one can be
	// made. One goroutine at a time calls it.
	next() (protocol.Message, error)
	// close ends the connection and a pending next. Any goroutine may call it, more than once.
	close()
	// isGathering reports whether the gateway had just taken over from another one, and may not
	// know all of its sessions yet.
	isGathering() bool
	// startWatch checks the far end while a call waits for its answer.
	startWatch() *watch
	// guardLink closes an idle link when its far end is stopped; stop ends the guard.
	guardLink() (stop func())
}

// conn is a link for calls: it hands each answer to the call that waits for it.
type conn struct {
	link link
	gone chan struct{} // closed by the reader when it ends
	// again is the time of the first message if another connection or gateway preceded this one,
	// otherwise zero.
	again time.Time
	// gathers is how long after that a session may be missing.
	gathers time.Duration

	// sending orders requests and cancels on the link, because a cancel affects all calls of its
	// request id.
	sending sync.Mutex
	mu      sync.Mutex
	waiting map[string][]chan protocol.Message // by request id
}

// ensureConn returns the live connection and dials if necessary. One caller dials at a time, with
// its own context.
func (c *Client) ensureConn(ctx context.Context) (*conn, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		return nil, c.Err()
	}
	c.mu.Lock()
	old := c.conn
	c.mu.Unlock()
	if old != nil && !old.hasEnded() {
		return old, nil
	}
	began := time.Now()
	l, err := c.openLink(ctx, old != nil)
	if err != nil {
		return nil, err
	}
	return c.adoptLink(l, old != nil, time.Since(began))
}

// openLink makes a link, unless the client ends first.
func (c *Client) openLink(ctx context.Context, again bool) (link, error) {
	if c.ctx.Err() != nil {
		return nil, c.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	l, err := c.open(ctx, again)
	switch {
	case c.ctx.Err() == nil:
		return l, err
	case err == nil:
		l.close()
	}
	return nil, c.Err()
}

// adoptLink makes l the connection for calls. away is how long no gateway answered.
func (c *Client) adoptLink(l link, again bool, away time.Duration) (*conn, error) {
	made := &conn{
		link:    l,
		gone:    make(chan struct{}),
		waiting: make(map[string][]chan protocol.Message),
		gathers: min(gatherTime+gatherGrowth*away, longestGather),
	}
	if again || l.isGathering() {
		made.again = time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		l.close()
		return nil, c.Err()
	}
	c.conn = made
	// The reader ends when the link does: by the gateway, by its silence, or by Close, which waits.
	c.wg.Go(func() { made.read(c) })
	return made, nil
}

// Gather bounds how long one call tolerates a gateway that just took over and does not know all
// sessions yet, however often the gateway changes meanwhile.
type Gather struct {
	client *Client
	since  time.Time // of the first answer in a row that did not know it
}

// Gather starts the bound of one call. It belongs to the call's goroutine.
func (c *Client) Gather() *Gather { return &Gather{client: c} }

// WaitToRetry reports, after a pause, whether to ask again, because the gateway may not know all of
// its sessions yet.
func (g *Gather) WaitToRetry(ctx context.Context) (bool, error) {
	if g.since.IsZero() {
		g.since = time.Now()
	}
	if time.Since(g.since) >= g.client.gatherBound() {
		return false, nil
	}
	return true, pace.Pause(ctx, gatherPause)
}

// startOver resets the bound: the gateway knew the session.
func (g *Gather) startOver() { g.since = time.Time{} }

// gatherBound returns how long a call may find a session missing, 0 once the gateway knows all of
// its sessions.
func (c *Client) gatherBound() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || time.Since(c.conn.again) >= c.conn.gathers {
		return 0
	}
	return c.conn.gathers
}

func (k *conn) hasEnded() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

// callOnce sends one request and waits for its answer. errLost means that the connection ended
// first.
func (k *conn) callOnce(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	id, answer := protocol.RequestID(m), make(chan protocol.Message, 1)
	defer k.forgetCall(id, answer)
	if err := k.sendRequest(m, answer); err != nil {
		if _, own := errors.AsType[*protocol.FieldError](err); own {
			return nil, err
		}
		k.link.close()
		<-k.gone // an answer that arrived before the end still counts
	}
	watch := k.link.startWatch()
	defer watch.stop()
	for over := false; !over; {
		select {
		case m := <-answer:
			return m, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-watch.tick:
			watch.checkGateway()
		case <-k.gone:
			over = true
		}
	}
	select {
	case m := <-answer:
		return m, nil
	default:
		return nil, errLost
	}
}

// sendRequest sends m; its answer goes to the channel.
func (k *conn) sendRequest(m protocol.Message, answer chan protocol.Message) error {
	k.sending.Lock()
	defer k.sending.Unlock()
	id := protocol.RequestID(m)
	k.mu.Lock()
	k.waiting[id] = append(k.waiting[id], answer)
	k.mu.Unlock()
	return k.link.sendMessage(m)
}

// isAwaited reports whether a call waits for the answer to a request.
func (k *conn) isAwaited(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.waiting[id]) > 0
}

// cancelRequest tells the gateway that m's caller has stopped waiting. After its deadline, a
// request for control stays open with the user, and input and notes still go through; for any other
// reason the gateway withdraws them. cancelRequest sends nothing while another call repeats m.
func (k *conn) cancelRequest(m protocol.Message, why error) {
	over := errors.Is(why, context.DeadlineExceeded)
	switch m.(type) {
	case *protocol.Wait, *protocol.ControlRequest, *protocol.ChatAsk, *protocol.SecretAsk:
	case *protocol.Input, *protocol.Note:
		if over {
			return
		}
	default:
		return
	}
	k.sending.Lock()
	defer k.sending.Unlock()
	if k.isAwaited(protocol.RequestID(m)) {
		return
	}
	// A connection that breaks here withdraws m as well.
	_ = k.link.sendMessage(&protocol.Cancel{
		RequestID: protocol.RequestID(m),
		SessionID: protocol.SessionID(m),
		Withdraw:  !over,
	})
}

func (k *conn) forgetCall(id string, answer chan protocol.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := slices.DeleteFunc(
		k.waiting[id],
		func(a chan protocol.Message) bool { return a == answer },
	)
	if len(rest) == 0 {
		delete(k.waiting, id)
		return
	}
	k.waiting[id] = rest
}

// read hands answers to waiting calls until the connection ends. If no other connection can be
// made, the client ends too.
func (k *conn) read(c *Client) {
	defer close(k.gone)
	defer k.link.close()
	for {
		m, err := k.link.next()
		if err != nil {
			c.cfg.Log.Debug("gateway connection ended", "error", err)
			if !errors.Is(err, errLost) {
				c.stop(err)
			}
			return
		}
		k.deliverAnswer(m)
	}
}

func (k *conn) deliverAnswer(m protocol.Message) {
	id := protocol.RequestID(m)
	k.mu.Lock()
	defer k.mu.Unlock()
	if waiting := k.waiting[id]; len(waiting) > 0 {
		select {
		case waiting[0] <- m:
			k.waiting[id] = waiting[1:]
		default: // the call has its answer already
		}
	}
}

// requestOn sends m on a link that has no reader yet and waits for the answer. It returns a refusal
// as the error.
func requestOn(l link, m protocol.Message) error {
	if err := l.sendMessage(m); err != nil {
		return err
	}
	for {
		answer, err := l.next()
		if err != nil {
			return err
		}
		if protocol.RequestID(answer) != protocol.RequestID(m) {
			continue
		}
		if refusal, ok := answer.(*protocol.Error); ok {
			return refusal
		}
		return nil
	}
}
