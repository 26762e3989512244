// Package call turns a participant of the switchboard into function calls: it sends a request and waits for its answer.
// The doors whose protocols ask and answer (HTTP, MCP) stand on it. It knows neither of them, and nothing of tokens.
package call

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
)

// Peer is one participant of the switchboard. Handle is called from one goroutine at a time, Next from another.
type Peer interface {
	// Handle takes a request. It does not wait.
	Handle(m protocol.Message)
	// Next is the next message for the participant; an error is its end.
	Next(done <-chan struct{}) (protocol.Message, error)
	// Leave is called once, last.
	Leave()
}

// Caller makes calls in the name of one participant. All methods may be called from any goroutine.
type Caller struct {
	join   func() Peer
	peer   Peer
	prefix string
	count  atomic.Uint64
	stop   chan struct{} // closed by Close
	ended  chan struct{} // closed when no answer can come any more
	closer sync.Once
	why    error // of ended

	handling sync.Mutex // one Handle at a time
	mu       sync.Mutex
	waiting  map[string][]chan protocol.Message // by request id
}

// New makes a caller. join makes a participant: one at once, and one more for every [Caller.Subscribe]. Close must be
// called in the end.
func New(join func() Peer) *Caller {
	c := &Caller{
		join: join, peer: join(), prefix: strings.ToLower(rand.Text()[:8]),
		stop: make(chan struct{}), ended: make(chan struct{}), waiting: make(map[string][]chan protocol.Message),
	}
	go c.pump() // ends with the participant, or with Close, which waits for it
	return c
}

// Ended is closed when the participant is no more: by Close, or because the switchboard ended it.
func (c *Caller) Ended() <-chan struct{} { return c.ended }

// Err is why the participant ended, once Ended is closed.
func (c *Caller) Err() error { return c.why }

// Close takes the participant out of the switchboard. Calls under way return.
func (c *Caller) Close() {
	c.closer.Do(func() { close(c.stop) })
	<-c.ended
}

// pump hands answers to those who wait. What nobody waits for is passed over.
func (c *Caller) pump() {
	defer close(c.ended)
	defer c.peer.Leave()
	for {
		m, err := c.peer.Next(c.stop)
		if err != nil {
			c.why = err
			return
		}
		id := protocol.RequestID(m)
		c.mu.Lock()
		if waiting := c.waiting[id]; len(waiting) > 0 {
			waiting[0] <- m // has room for one, and gets one
			c.waiting[id] = waiting[1:]
		}
		c.mu.Unlock()
	}
}

// NextID is a request id that this caller has not used.
func (c *Caller) NextID() string { return fmt.Sprintf("%s-%d", c.prefix, c.count.Add(1)) }

// Call sends a request, which has a request id, and waits for its answer. An answer that is an error is returned as
// one. When ctx ends first, a proxy that waits for a fact, or for the user's answer, is told that nobody else does.
func (c *Caller) Call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	id, answer := protocol.RequestID(m), make(chan protocol.Message, 1)
	c.mu.Lock()
	c.waiting[id] = append(c.waiting[id], answer)
	c.mu.Unlock()
	defer c.forget(id, answer)
	c.handle(m)
	select {
	case m := <-answer:
		return unwrap(m)
	case <-ctx.Done():
		switch m.(type) {
		case *protocol.Wait, *protocol.ControlRequest:
			c.handle(&protocol.Cancel{RequestID: id, SessionID: protocol.SessionID(m)})
		}
		return nil, context.Cause(ctx)
	case <-c.ended:
	}
	select {
	case m := <-answer: // it came before the end
		return unwrap(m)
	default:
		return nil, c.why
	}
}

func unwrap(m protocol.Message) (protocol.Message, error) {
	if refusal, ok := m.(*protocol.Error); ok {
		return nil, refusal
	}
	return m, nil
}

func (c *Caller) handle(m protocol.Message) {
	c.handling.Lock()
	defer c.handling.Unlock()
	c.peer.Handle(m)
}

func (c *Caller) forget(id string, answer chan protocol.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var rest []chan protocol.Message
	for _, a := range c.waiting[id] {
		if a != answer {
			rest = append(rest, a)
		}
	}
	if len(rest) == 0 {
		delete(c.waiting, id)
		return
	}
	c.waiting[id] = rest
}

// Sessions lists the sessions that the participant may see.
func (c *Caller) Sessions(ctx context.Context) ([]protocol.SessionInfo, error) {
	got, err := ask[*protocol.SessionsListResult](ctx, c, &protocol.SessionsList{RequestID: c.NextID()})
	if err != nil {
		return nil, err
	}
	return got.Sessions, nil
}

// Read asks for a frame. An empty RequestID is filled in, in m; so it is by the methods below.
func (c *Caller) Read(ctx context.Context, m *protocol.Read) (*protocol.ReadResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.ReadResult](ctx, c, m)
}

// Wait asks for a fact.
func (c *Caller) Wait(ctx context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.WaitResult](ctx, c, m)
}

// Input types.
func (c *Caller) Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.InputResult](ctx, c, m)
}

// Request asks the user for control and returns when it is decided: with a grant, or with the revoke that says why not.
// When ctx ends first, the request stays open with the user.
func (c *Caller) Request(ctx context.Context, m *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
	c.fill(&m.RequestID)
	answer, err := c.Call(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	switch answer := answer.(type) {
	case *protocol.ControlGrant:
		return answer, nil, nil
	case *protocol.ControlRevoke:
		return nil, answer, nil
	}
	return nil, nil, unexpected(m, answer)
}

// Release gives control back, or takes an open request back.
func (c *Caller) Release(ctx context.Context, m *protocol.ControlRelease) error {
	c.fill(&m.RequestID)
	_, err := c.Call(ctx, m)
	return err
}

// Say writes to the user of a session; see package client.
func (c *Caller) Say(ctx context.Context, m *protocol.Note) (protocol.Waiting, error) {
	c.fill(&m.RequestID)
	done, err := ask[*protocol.Done](ctx, c, m)
	if err != nil {
		return "", err
	}
	return done.Waiting, nil
}

// Subscribe is [Caller.Stream] with snapshots that carry all rows, at most one per every.
func (c *Caller) Subscribe(ctx context.Context, sessionID string, every time.Duration) (<-chan protocol.Message, error) {
	return c.Stream(ctx, &protocol.SessionsSubscribe{SessionID: sessionID, EveryMs: every.Milliseconds()})
}

// Stream streams what happens to one session, as m wants it: the newest snapshot at once, later ones, control and blackout
// messages, and its end, after which the channel is closed. It is closed, too, when ctx or the caller ends. A slow reader
// gets the newest snapshot, not every one.
func (c *Caller) Stream(ctx context.Context, m *protocol.SessionsSubscribe) (<-chan protocol.Message, error) {
	peer := c.join()
	wanted := *m
	wanted.RequestID = "subscribe"
	peer.Handle(&wanted)
	first, err := peer.Next(ctx.Done())
	if err == nil {
		first, err = unwrap(first)
	}
	if _, ok := first.(*protocol.Done); err == nil && !ok {
		err = fmt.Errorf("the switchboard answered a subscription with a %s", protocol.KindOf(first))
	}
	if err != nil {
		peer.Leave()
		return nil, err
	}
	out := make(chan protocol.Message)
	go func() { // ends with ctx, with the session, or with the participant
		defer close(out)
		defer peer.Leave()
		for {
			m, err := peer.Next(ctx.Done())
			if err != nil || protocol.RequestID(m) == "subscribe" {
				return
			}
			if protocol.SessionID(m) != wanted.SessionID {
				continue // to the same agent, about another session
			}
			select {
			case out <- m:
			case <-ctx.Done():
				return
			}
			if _, closed := m.(*protocol.SessionClose); closed {
				return
			}
		}
	}()
	return out, nil
}

func (c *Caller) fill(id *string) {
	if *id == "" {
		*id = c.NextID()
	}
}

// ask is Call for a request with one kind of answer.
func ask[T protocol.Message](ctx context.Context, c *Caller, m protocol.Message) (T, error) {
	var none T
	answer, err := c.Call(ctx, m)
	if err != nil {
		return none, err
	}
	t, ok := answer.(T)
	if !ok {
		return none, unexpected(m, answer)
	}
	return t, nil
}

func unexpected(m, answer protocol.Message) error {
	return errors.New("the switchboard answered a " + protocol.KindOf(m) + " with a " + protocol.KindOf(answer))
}
