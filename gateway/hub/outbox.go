package hub

import (
	"container/list"
	"errors"
	"sync"
	"sync/atomic"

	"terminalproxy/protocol"
)

// The reasons for which a participant's messages end; see [Peer.Next].
var (
	ErrLeft      = errors.New("the participant left")
	ErrForbidden = errors.New("this role may not send that message")
	ErrSlow      = errors.New("messages were not read in time")
	ErrClosed    = errors.New("the gateway is closing")
	ErrMoved     = errors.New("the session moved to another gateway")
)

// maxQueue bounds the messages that wait for one participant. Snapshots do not count: there is one
// per session.
const maxQueue = 256

// maxLive and maxBytes bound the live output that waits for one participant. Beyond them all of it
// is dropped.
const (
	maxLive  = 1024
	maxBytes = 256 << 10
)

// errBehind reports that live output was dropped and the participant reads again, so it can be
// repainted.
var errBehind = errors.New("live output was left out")

// outbox is the queue of one participant: messages in order, with at most one snapshot per session,
// the newest. It never blocks the sender; a participant that lets it overflow is cut off.
type outbox struct {
	ready    chan struct{} // holds a token when waitPop may find a message
	counters *counters

	mu      sync.Mutex
	turn    func() // see [Peer.SetNotify]; nil if waitPop waits instead
	carrier *carrier
	busy    bool // turn is due or running
	queue   list.List
	slots   map[string]*list.Element // snapshots in the queue, by session
	deltas  map[string]*deltaState   // by session, for participants that asked for changes
	reason  error                    // set once the outbox has ended
	live    int                      // messages of live output in the queue
	bytes   int
	behind  bool // live output was dropped
}

// deltaState describes the last snapshot that a participant received of a session whose changes it
// asked for.
type deltaState struct {
	lastSent    *protocol.Snapshot // nil before the first
	knowsMoves  bool               // it understands moved rows
	knowsDeltas bool               // it understands protocol.SnapshotDelta
}

// counters holds the parts of Stats that count over time.
type counters struct {
	frames                                              atomic.Uint64
	droppedFrames, droppedSnapshots, droppedOutput, cut atomic.Uint64
}

func newOutbox(counters *counters) *outbox {
	return &outbox{
		ready:    make(chan struct{}, 1),
		counters: counters,
		slots:    make(map[string]*list.Element),
		deltas:   make(map[string]*deltaState),
	}
}

// put appends m. A snapshot replaces an older one of its session that was never sent. It goes to
// the end, so that it does not overtake earlier events.
func (o *outbox) put(m protocol.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason != nil {
		return
	}
	if output, ok := m.(*protocol.Output); ok {
		o.putLiveLocked(output)
		return
	}
	snapshot, ok := m.(*protocol.Snapshot)
	switch {
	case ok:
		if old := o.slots[snapshot.SessionID]; old != nil {
			o.queue.Remove(old)
			o.counters.droppedSnapshots.Add(1)
		}
		o.slots[snapshot.SessionID] = o.queue.PushBack(m)
	case o.queue.Len()-len(o.slots)-o.live >= maxQueue:
		o.counters.cut.Add(1)
		o.stopLocked(ErrSlow)
	default:
		o.queue.PushBack(m)
	}
	o.wakeLocked()
}

// asIs is a message that another gateway made for the participant.
type asIs struct{ protocol.Message }

// putAsIs appends m unchanged. A snapshot is a delta to the one before it, and does not replace it.
// room reports whether the participant keeps up.
func (o *outbox) putAsIs(m protocol.Message) (room bool) {
	_, part := m.(protocol.SnapshotPart)
	if !part {
		o.put(m)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if part && o.reason == nil {
		o.queue.PushBack(asIs{m})
		o.wakeLocked()
	}
	return o.queue.Len()-o.live < maxQueue/4
}

func (o *outbox) hasRoom() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queue.Len()-o.live < maxQueue/4
}

// end sets the reason that follows the messages in the queue. The first reason stays.
func (o *outbox) end(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason == nil {
		o.reason = reason
	}
	o.wakeLocked()
}

// endReason returns why the outbox ended, or nil.
func (o *outbox) endReason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reason
}

// cut ends the outbox at once.
func (o *outbox) cut(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason == nil {
		o.stopLocked(reason)
	}
	o.wakeLocked()
}

func (o *outbox) stopLocked(reason error) {
	o.reason = reason
	o.queue.Init()
	clear(o.slots)
	o.live, o.bytes, o.behind = 0, 0, false
}

// putLiveLocked appends live output, or drops all that waits if it is too much. One message always
// fits.
func (o *outbox) putLiveLocked(m *protocol.Output) {
	switch {
	case o.behind: // until the participant reads again
		o.counters.droppedOutput.Add(1)
	case o.live > 0 && (o.live >= maxLive || o.bytes+len(m.DataB64) > maxBytes):
		for e := o.queue.Front(); e != nil; {
			next := e.Next()
			if _, ok := e.Value.(*protocol.Output); ok {
				o.queue.Remove(e)
			}
			e = next
		}
		o.counters.droppedOutput.Add(uint64(o.live) + 1) //nolint:gosec // a length
		o.live, o.bytes, o.behind = 0, 0, true
	default:
		o.queue.PushBack(m)
		o.live++
		o.bytes += len(m.DataB64)
	}
	o.wakeLocked()
}

// wakeLocked makes the participant's transport fetch messages.
func (o *outbox) wakeLocked() {
	if o.turn != nil {
		if !o.busy {
			o.busy = true
			o.carrier.addDue(o.turn)
		}
		return
	}
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// waitPop removes the first message. It waits for one until done is closed.
func (o *outbox) waitPop(done <-chan struct{}) (protocol.Message, error) {
	for {
		if m, err := o.tryPop(); m != nil || err != nil {
			return m, err
		}
		select {
		case <-o.ready:
		case <-done:
			return nil, ErrLeft
		}
	}
}

func (o *outbox) tryPop() (protocol.Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.popLocked()
}

// popOrEndTurn is tryPop for the carrier. If the outbox is empty, the turn ends.
func (o *outbox) popOrEndTurn() (protocol.Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m, err := o.popLocked()
	if m == nil && err == nil {
		o.busy = false
	}
	return m, err
}

// popLocked removes the first message.
func (o *outbox) popLocked() (protocol.Message, error) {
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
		return o.deltaForLocked(m), nil
	case *protocol.Output:
		o.live--
		o.bytes -= len(m.DataB64)
	}
	return m, nil
}

// setSnapshotForm sets the form of a session's later snapshots: whole, or only the changes.
func (o *outbox) setSnapshotForm(m *protocol.SessionsSubscribe) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.deltas, m.SessionID)
	if m.Changes {
		o.deltas[m.SessionID] = &deltaState{knowsMoves: m.Moves, knowsDeltas: m.Deltas}
	}
}

// clearSnapshotForm forgets a session whose snapshots come from another gateway now.
func (o *outbox) clearSnapshotForm(sessionID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.deltas, sessionID)
}

// snapshotForm returns the form of a session's snapshots.
func (o *outbox) snapshotForm(sessionID string) (form protocol.SessionsSubscribe) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if state := o.deltas[sessionID]; state != nil {
		form.Changes, form.Moves, form.Deltas = true, state.knowsMoves, state.knowsDeltas
	}
	return form
}

// deltaForLocked reduces a snapshot to the changes since the participant's last one. It runs when
// the snapshot is fetched, because a replaced snapshot is never sent.
func (o *outbox) deltaForLocked(m *protocol.Snapshot) protocol.Message {
	state := o.deltas[m.SessionID]
	if state == nil {
		return m
	}
	last := state.lastSent
	state.lastSent = m
	if state.knowsDeltas {
		return m.DeltaOrNews(last, state.knowsMoves)
	}
	return m.News(last, state.knowsMoves)
}
