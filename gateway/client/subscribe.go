package client

import (
	"context"
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
)

// backlog bounds the messages that wait for a slow reader. Snapshots do not add up: an older one that nobody fetched
// gives way to the next.
const backlog = 256

// Subscribe streams the snapshots (at most one per every, 0 for the proxy's own rhythm), the control and blackout
// messages, the user's notes and the end of one session. Every snapshot carries all rows, and no rolling text: over the wire
// go the rows that changed. The stream lives through a change of gateway; it is closed when ctx ends, the session is
// closed or forgotten, or no gateway comes back. A slow reader gets the newest snapshot, not every one.
func (c *Client) Subscribe(ctx context.Context, sessionID string, every time.Duration) (<-chan protocol.Message, error) {
	return c.subscribe(ctx, &protocol.SessionsSubscribe{SessionID: sessionID, EveryMs: every.Milliseconds(), Changes: true}, false)
}

// Stream is [Client.Subscribe] with snapshots as m wants them: with the rolling text, or, with Changes, without what the
// snapshot before had.
func (c *Client) Stream(ctx context.Context, m *protocol.SessionsSubscribe) (<-chan protocol.Message, error) {
	return c.subscribe(ctx, m, m.Changes)
}

// subscribe asks for m. lean: the reader gets only what the snapshot before did not have.
func (c *Client) subscribe(ctx context.Context, m *protocol.SessionsSubscribe, lean bool) (<-chan protocol.Message, error) {
	wish := *m
	wish.Moves, wish.Brief = wish.Changes, wish.Changes // it is made whole here
	moves := m.Moves                                    // the reader knows of rows that moved
	c.fill(&wish.RequestID)
	var last *protocol.Snapshot // that the reader has
	return c.wished(ctx, &wish, c.whole, func(m protocol.Message) protocol.Message {
		if snapshot, ok := m.(*protocol.Snapshot); ok && lean {
			news := snapshot.News(last, moves)
			last = snapshot
			return news
		}
		return m
	})
}

// whole is what is read of a connection: all rows, and of snapshots the newest for a slow reader.
func (c *Client) whole(l link) link {
	l = &whole{link: l}
	if c.remote {
		return readAhead(l)
	}
	return l // the switchboard keeps the newest snapshot until it is fetched
}

// whole is a link whose snapshots carry all rows.
type whole struct {
	link
	last *protocol.Snapshot
}

func (w *whole) next() (protocol.Message, error) {
	m, err := w.link.next()
	if part, ok := m.(*protocol.Snapshot); ok && err == nil {
		if w.last, ok = part.Complete(w.last); !ok {
			return nil, errLost // the gateway and this end disagree: begin afresh
		}
		return w.last, nil
	}
	return m, err
}

// ahead is a link that is read before its reader asks, so that the newest snapshot waits for a slow one.
type ahead struct {
	link
	ready chan struct{} // holds a token when there may be something for next
	done  chan struct{} // closed when the link is read no more

	mu    sync.Mutex
	queue []protocol.Message
	err   error // set when nothing follows
}

func readAhead(l link) *ahead {
	a := &ahead{link: l, ready: make(chan struct{}, 1), done: make(chan struct{})}
	go a.read() // ends with the link; close waits
	return a
}

func (a *ahead) read() {
	defer close(a.done)
	for {
		m, err := a.link.next()
		if !a.put(m, err) {
			return
		}
	}
}

// put reports whether more may follow.
func (a *ahead) put(m protocol.Message, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.err = err
	case len(a.queue) >= backlog:
		a.err = errLost // the reader sleeps: begin afresh with the newest snapshot
	default:
		a.queue = enqueue(a.queue, m)
	}
	select {
	case a.ready <- struct{}{}:
	default:
	}
	return a.err == nil
}

func (a *ahead) next() (protocol.Message, error) {
	for {
		if m, err := a.take(); m != nil || err != nil {
			return m, err
		}
		<-a.ready
	}
}

func (a *ahead) take() (protocol.Message, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return nil, a.err
	}
	m := a.queue[0]
	a.queue = a.queue[1:]
	return m, nil
}

func (a *ahead) close() {
	a.link.close()
	<-a.done
}

// enqueue appends m; a snapshot takes the place of one that nobody fetched.
func enqueue(queue []protocol.Message, m protocol.Message) []protocol.Message {
	if _, ok := m.(*protocol.Snapshot); ok {
		queue = slices.DeleteFunc(queue, func(old protocol.Message) bool { _, ok := old.(*protocol.Snapshot); return ok })
	}
	return append(queue, m)
}
