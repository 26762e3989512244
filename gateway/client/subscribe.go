package client

import (
	"context"
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
)

// backlog bounds the messages that wait for a slow reader. Snapshots do not add up: the next one
// replaces one that was not read.
const backlog = 256

// Subscribe streams the snapshots (at most one per every, 0 for the proxy's own rhythm), the
// control and blackout messages, the user's notes and the end of one session. Every snapshot
// carries all rows, and no rolling text; the wire carries only the rows that changed. The stream
// lives through a change of gateway; it is closed when ctx ends, the session is closed or
// forgotten, or no gateway comes back. A slow reader gets the newest snapshot, not every one.
func (c *Client) Subscribe(
	ctx context.Context, sessionID string, every time.Duration,
) (<-chan protocol.Message, error) {
	m := &protocol.SessionsSubscribe{
		SessionID: sessionID,
		EveryMs:   every.Milliseconds(),
		Changes:   true,
	}
	return c.streamSnapshots(ctx, m, false)
}

// Stream is [Client.Subscribe] with snapshots as m wants them: with the rolling text, or, with
// Changes, without what the previous snapshot had.
func (c *Client) Stream(
	ctx context.Context, m *protocol.SessionsSubscribe,
) (<-chan protocol.Message, error) {
	return c.streamSnapshots(ctx, m, m.Changes)
}

// streamSnapshots subscribes with m. lean: the reader gets only what the previous snapshot did not
// have.
func (c *Client) streamSnapshots(
	ctx context.Context, m *protocol.SessionsSubscribe, lean bool,
) (<-chan protocol.Message, error) {
	wish := *m
	wish.Moves = wish.Changes              // wholeLink completes the snapshots
	wish.Deltas = wish.Changes && c.remote // without a wire there is nothing to shorten
	moves := m.Moves                       // the reader understands moved rows
	c.fillID(&wish.RequestID)
	var last *protocol.Snapshot // the reader's
	return c.streamWish(ctx, &wish, c.readWhole, func(m protocol.Message) protocol.Message {
		if snapshot, ok := m.(*protocol.Snapshot); ok && lean {
			news := snapshot.News(last, moves)
			last = snapshot
			return news
		}
		return m
	})
}

// readWhole reads snapshots with all rows, and gives a slow reader the newest.
func (c *Client) readWhole(l link) link {
	l = &wholeLink{link: l}
	if c.remote {
		return readAhead(l)
	}
	return l // the switchboard keeps the newest snapshot until it is read
}

// wholeLink completes each snapshot to all rows.
type wholeLink struct {
	link
	last *protocol.Snapshot
}

func (w *wholeLink) next() (protocol.Message, error) {
	m, err := w.link.next()
	part, ok := m.(protocol.SnapshotPart)
	if !ok || err != nil {
		return m, err
	}
	if w.last, ok = part.Complete(w.last); !ok {
		return nil, errLost // the gateway and this end disagree: start over
	}
	return w.last, nil
}

// aheadLink reads a link before its reader asks, so that the newest snapshot waits for a slow
// reader.
type aheadLink struct {
	link
	ready chan struct{} // holds a token when there may be something for next
	done  chan struct{} // closed when read ends

	mu    sync.Mutex
	queue []protocol.Message
	err   error // why the messages end; set after the last one
}

func readAhead(l link) *aheadLink {
	a := &aheadLink{link: l, ready: make(chan struct{}, 1), done: make(chan struct{})}
	go a.read() // ends with the link; close waits
	return a
}

func (a *aheadLink) read() {
	defer close(a.done)
	for {
		m, err := a.link.next()
		if !a.putMessage(m, err) {
			return
		}
	}
}

// putMessage queues a message, and reports whether more may follow.
func (a *aheadLink) putMessage(m protocol.Message, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.err = err
	case len(a.queue) >= backlog:
		a.err = errLost // the reader is too slow: start over with the newest snapshot
	default:
		a.queue = enqueue(a.queue, m)
	}
	select {
	case a.ready <- struct{}{}:
	default:
	}
	return a.err == nil
}

func (a *aheadLink) next() (protocol.Message, error) {
	for {
		if m, err := a.takeMessage(); m != nil || err != nil {
			return m, err
		}
		<-a.ready
	}
}

func (a *aheadLink) takeMessage() (protocol.Message, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return nil, a.err
	}
	m := a.queue[0]
	a.queue = a.queue[1:]
	return m, nil
}

func (a *aheadLink) close() {
	a.link.close()
	<-a.done
}

// enqueue appends m; a snapshot replaces one that was not read.
func enqueue(queue []protocol.Message, m protocol.Message) []protocol.Message {
	if _, ok := m.(*protocol.Snapshot); ok {
		queue = slices.DeleteFunc(
			queue,
			func(old protocol.Message) bool { _, ok := old.(*protocol.Snapshot); return ok },
		)
	}
	return append(queue, m)
}
