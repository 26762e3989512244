package client

import (
	"context"
	"sync"

	"terminalproxy/protocol"
)

// Peer is a participant of a switchboard in this process. Handle is called from one goroutine at a
// time, Next from another.
type Peer interface {
	// Handle accepts a request without waiting.
	Handle(m protocol.Message)
	// Next returns the next message for the participant; an error ends it.
	Next(done <-chan struct{}) (protocol.Message, error)
	// IsGathering reports whether proxies may still be reconnecting to the switchboard.
	IsGathering() bool
	// Leave removes the participant from the switchboard, which ends Next. It is called once, from
	// any goroutine.
	Leave()
}

// NewInProcess returns a client of a switchboard in this process. join adds a participant: one at
// once, whose end is the client's end, and one more for every stream.
func NewInProcess(join func() Peer) *Client {
	c := newClient(Config{})
	c.open = func(context.Context, bool) (link, error) { return &participant{peer: join()}, nil }
	_, _ = c.ensureConn(c.ctx) // joining cannot fail
	return c
}

// participant is a link to a switchboard in this process.
type participant struct {
	peer     Peer
	handling sync.Mutex // one Handle at a time
	leaving  sync.Once
}

func (p *participant) sendMessage(m protocol.Message) error {
	p.handling.Lock()
	defer p.handling.Unlock()
	p.peer.Handle(m)
	return nil
}

func (p *participant) next() (protocol.Message, error) { return p.peer.Next(nil) }

func (p *participant) close() { p.leaving.Do(p.peer.Leave) }

func (p *participant) isGathering() bool { return p.peer.IsGathering() }

func (p *participant) startWatch() *watch { return &watch{stop: func() {}} }

func (p *participant) guardLink() (stop func()) { return func() {} }
