package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
)

const (
	// gatherTime is how long after a reconnection a session may still be missing: a gateway that took over learns its
	// sessions as their proxies find it.
	gatherTime  = 3 * time.Second
	gatherPause = 50 * time.Millisecond
)

// errLost says that the connection ended before the answer came, and that another one may do better.
var errLost = errors.New("connection lost")

// link carries the messages of one connection.
type link interface {
	// send passes m on. A *protocol.FieldError is the sender's mistake, any other error the end of the connection. Any
	// goroutine may call it.
	send(m protocol.Message) error
	// next is the next message. An error is the end of the connection: with errLost another one can be made. One goroutine
	// at a time calls it.
	next() (protocol.Message, error)
	// close ends the connection, and next with it. Any goroutine may call it, more than once.
	close()
	// gathering reports whether the gateway had just taken over from another one, and may not know all of its sessions yet.
	gathering() bool
	// watch looks at the far end while a call waits for its answer.
	watch() *watch
	// guard closes the link when its far end is stopped, for links on which nobody waits for an answer; stop ends that.
	guard() (stop func())
}

// conn is a link on which calls are made: it hands answers to those who wait for them.
type conn struct {
	link link
	gone chan struct{} // closed by the reader when it ends
	// again is the time of the first message if another connection went before, or another gateway, else zero.
	again time.Time

	// sending orders requests and cancels on the link: a cancel is for all calls of its request id.
	sending sync.Mutex
	mu      sync.Mutex
	waiting map[string][]chan protocol.Message // by request id
}

// connect is the live connection, made if need be. One caller dials at a time, with its own context.
func (c *Client) connect(ctx context.Context) (*conn, error) {
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
	if old != nil && !old.ended() {
		return old, nil
	}
	l, err := c.reach(ctx, old != nil)
	if err != nil {
		return nil, err
	}
	return c.adopt(l, old != nil)
}

// reach makes a link, unless the client ends first.
func (c *Client) reach(ctx context.Context, again bool) (link, error) {
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

// adopt makes l the connection for calls.
func (c *Client) adopt(l link, again bool) (*conn, error) {
	made := &conn{link: l, gone: make(chan struct{}), waiting: make(map[string][]chan protocol.Message)}
	if again || l.gathering() {
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

// Gather bounds how long one call puts up with what a gateway that just took over does not know yet, however often the gateway
// changes meanwhile.
type Gather struct {
	client *Client
	since  time.Time // of the first answer in a row that did not know it
}

// Gather begins to bound a call. It belongs to the call's goroutine.
func (c *Client) Gather() *Gather { return &Gather{client: c} }

// Again reports, after a pause, whether asking again may bring more: the gateway may not know all of its sessions yet.
func (g *Gather) Again(ctx context.Context) (bool, error) {
	if g.since.IsZero() {
		g.since = time.Now()
	}
	if time.Since(g.since) >= gatherTime || !g.client.gathering() {
		return false, nil
	}
	return true, pause(ctx, gatherPause)
}

// known begins anew: what was asked for was there.
func (g *Gather) known() { g.since = time.Time{} }

// gathering reports whether the gateway may not know all of its sessions yet.
func (c *Client) gathering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil && time.Since(c.conn.again) < gatherTime
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *conn) ended() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

// call sends one request and waits for what answers it. errLost says that no answer can come any more.
func (k *conn) call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	id, answer := protocol.RequestID(m), make(chan protocol.Message, 1)
	defer k.forget(id, answer)
	if err := k.sendRequest(m, answer); err != nil {
		if _, own := errors.AsType[*protocol.FieldError](err); own {
			return nil, err
		}
		k.link.close()
		<-k.gone // what came before the end still counts
	}
	watch := k.link.watch()
	defer watch.stop()
	for over := false; !over; {
		select {
		case m := <-answer:
			return m, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-watch.tick:
			watch.look()
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

// sendRequest sends m, whose answer goes to the channel.
func (k *conn) sendRequest(m protocol.Message, answer chan protocol.Message) error {
	k.sending.Lock()
	defer k.sending.Unlock()
	id := protocol.RequestID(m)
	k.mu.Lock()
	k.waiting[id] = append(k.waiting[id], answer)
	k.mu.Unlock()
	return k.link.send(m)
}

// isAwaited reports whether a call waits for the answer to a request.
func (k *conn) isAwaited(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.waiting[id]) > 0
}

// cancel tells the gateway that m's caller waits no longer, for the reason why. A time limit that is over leaves a request for control
// with the user, and what is typed or said is; any other reason withdraws it. It says nothing while another call repeats m.
func (k *conn) cancel(m protocol.Message, why error) {
	over := errors.Is(why, context.DeadlineExceeded)
	switch m.(type) {
	case *protocol.Wait, *protocol.ControlRequest, *protocol.ChatAsk:
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
	_ = k.link.send(&protocol.Cancel{RequestID: protocol.RequestID(m), SessionID: protocol.SessionID(m), Withdraw: !over})
}

func (k *conn) forget(id string, answer chan protocol.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := slices.DeleteFunc(k.waiting[id], func(a chan protocol.Message) bool { return a == answer })
	if len(rest) == 0 {
		delete(k.waiting, id)
		return
	}
	k.waiting[id] = rest
}

// read hands answers to those who wait for them, until the connection ends. Where there is no other one, the client ends too.
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
		k.deliver(m)
	}
}

func (k *conn) deliver(m protocol.Message) {
	id := protocol.RequestID(m)
	k.mu.Lock()
	defer k.mu.Unlock()
	if waiting := k.waiting[id]; len(waiting) > 0 {
		select {
		case waiting[0] <- m:
			k.waiting[id] = waiting[1:]
		default: // it has its answer
		}
	}
}

// request sends m on a link that nobody reads yet and waits for the answer; one that is a refusal is the error.
func request(l link, m protocol.Message) error {
	if err := l.send(m); err != nil {
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
