package hub

import (
	"container/list"
	"errors"
	"sync"

	"terminalproxy/protocol"
)

// maxQueue bounds the messages that wait for one participant, snapshots not counted: of those there is one a session.
const maxQueue = 256

// maxLive and maxBytes bound the live output that waits for one participant. Beyond that all of it is left out.
const (
	maxLive  = 1024
	maxBytes = 256 << 10
)

// errBehind says that live output was left out, and that the participant takes messages again: now it can be repainted.
var errBehind = errors.New("live output was left out")

// outbox is what one participant has still to get, in order: messages, and for every session at most one snapshot, the
// newest. It never blocks who puts; who lets it overflow is cut off.
type outbox struct {
	ready chan struct{} // holds a token when there may be something for next
	count *counters

	mu     sync.Mutex
	turn   func() // see [Peer.Carry]; nil where next waits
	turns  *turns
	busy   bool // turn is due, or somebody is at it
	queue  list.List
	slots  map[string]*list.Element // snapshots in the queue, by session
	lean   map[string]*lean         // of the sessions whose changes it wants
	reason error                    // set when nothing may follow
	live   int                      // live output in the queue: messages, and their bytes
	bytes  int
	behind bool // live output was left out
}

// lean is what a participant has of a session whose changes it wants.
type lean struct {
	last  *protocol.Snapshot // nil for nothing yet
	moves bool               // it knows of rows that moved
	brief bool               // and of screens that have settled
}

func newOutbox(count *counters) *outbox {
	return &outbox{ready: make(chan struct{}, 1), count: count, slots: make(map[string]*list.Element), lean: make(map[string]*lean)}
}

// put appends m. A snapshot takes the place of an older one of its session, which then was never sent; its place is the
// end, so that it does not overtake what happened before it.
func (o *outbox) put(m protocol.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason != nil {
		return
	}
	if output, ok := m.(*protocol.Output); ok {
		o.putLive(output)
		return
	}
	snapshot, ok := m.(*protocol.Snapshot)
	switch {
	case ok:
		if old := o.slots[snapshot.SessionID]; old != nil {
			o.queue.Remove(old)
			o.count.droppedSnapshots.Add(1)
		}
		o.slots[snapshot.SessionID] = o.queue.PushBack(m)
	case o.queue.Len()-len(o.slots)-o.live >= maxQueue:
		o.count.cut.Add(1)
		o.stop(ErrSlow)
	default:
		o.queue.PushBack(m)
	}
	o.wake()
}

// asIs is a message from another gateway, where it was made for the participant.
type asIs struct{ protocol.Message }

// pass appends m as it is: a snapshot is what changes since the one before it, and does not take that one's place. room reports whether
// the participant keeps up.
func (o *outbox) pass(m protocol.Message) (room bool) {
	if _, ok := m.(*protocol.Snapshot); !ok {
		o.put(m)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := m.(*protocol.Snapshot); ok && o.reason == nil {
		o.queue.PushBack(asIs{m})
		o.wake()
	}
	return o.queue.Len()-o.live < maxQueue/4
}

func (o *outbox) room() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queue.Len()-o.live < maxQueue/4
}

// end lets next give what is in the queue, and then reason. The first reason stays.
func (o *outbox) end(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason == nil {
		o.reason = reason
	}
	o.wake()
}

// cause is why nothing follows; nil while something may.
func (o *outbox) cause() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reason
}

// cut ends at once.
func (o *outbox) cut(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason == nil {
		o.stop(reason)
	}
	o.wake()
}

func (o *outbox) stop(reason error) {
	o.reason = reason
	o.queue.Init()
	clear(o.slots)
	o.live, o.bytes, o.behind = 0, 0, false
}

// putLive appends live output, or leaves out what waits of it when that is too much. One message always fits.
func (o *outbox) putLive(m *protocol.Output) {
	switch {
	case o.behind: // until the participant takes messages again
		o.count.droppedOutput.Add(1)
	case o.live > 0 && (o.live >= maxLive || o.bytes+len(m.DataB64) > maxBytes):
		for e := o.queue.Front(); e != nil; {
			next := e.Next()
			if _, ok := e.Value.(*protocol.Output); ok {
				o.queue.Remove(e)
			}
			e = next
		}
		o.count.droppedOutput.Add(uint64(o.live) + 1) //nolint:gosec // a length
		o.live, o.bytes, o.behind = 0, 0, true
	default:
		o.queue.PushBack(m)
		o.live++
		o.bytes += len(m.DataB64)
	}
	o.wake()
}

// wake has what is there fetched. The caller holds the lock.
func (o *outbox) wake() {
	if o.turn != nil {
		if !o.busy {
			o.busy = true
			o.turns.add(o)
		}
		return
	}
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// next takes the first message out, waiting for one until done is closed.
func (o *outbox) next(done <-chan struct{}) (protocol.Message, error) {
	for {
		if m, err := o.take(); m != nil || err != nil {
			return m, err
		}
		select {
		case <-o.ready:
		case <-done:
			return nil, ErrLeft
		}
	}
}

func (o *outbox) take() (protocol.Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first()
}

// fetch is take for whose turn it is: without anything to fetch, the turn is over.
func (o *outbox) fetch() (protocol.Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m, err := o.first()
	if m == nil && err == nil {
		o.busy = false
	}
	return m, err
}

// first takes the first message out. The caller holds the lock.
func (o *outbox) first() (protocol.Message, error) {
	if o.behind && o.reason == nil {
		o.behind = false
		return nil, errBehind
	}
	first := o.queue.Front()
	if first == nil {
		return nil, o.reason
	}
	m, _ := o.queue.Remove(first).(protocol.Message)
	switch m := m.(type) {
	case asIs:
		return m.Message, nil
	case *protocol.Snapshot:
		delete(o.slots, m.SessionID)
		return o.news(m), nil
	case *protocol.Output:
		o.live--
		o.bytes -= len(m.DataB64)
	}
	return m, nil
}

// follow says how the snapshots of a session are wanted from the next one on: whole, or only what changes.
func (o *outbox) follow(m *protocol.SessionsSubscribe) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.lean, m.SessionID)
	if m.Changes {
		o.lean[m.SessionID] = &lean{moves: m.Moves, brief: m.Brief}
	}
}

// unfollow forgets how the snapshots of a session are wanted: they come from elsewhere now.
func (o *outbox) unfollow(sessionID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.lean, sessionID)
}

// follows is how the snapshots of a session are wanted.
func (o *outbox) follows(sessionID string) (wish protocol.SessionsSubscribe) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if has := o.lean[sessionID]; has != nil {
		wish.Changes, wish.Moves, wish.Brief = true, has.moves, has.brief
	}
	return wish
}

// news is what of a snapshot the participant does not have. It is made when the snapshot is fetched: what another one
// took the place of was never sent. The caller holds the lock.
func (o *outbox) news(m *protocol.Snapshot) *protocol.Snapshot {
	has := o.lean[m.SessionID]
	if has == nil {
		return m
	}
	news := m.News
	if has.brief {
		news = m.NewsOrBrief
	}
	part := news(has.last, has.moves)
	if m.Screen != nil {
		has.last = m
	}
	return part
}
