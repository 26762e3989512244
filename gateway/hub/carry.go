package hub

import (
	"errors"
	"runtime"
	"sync"

	"terminalproxy/protocol"
)

const (
	// ownTurns is how many participants are served by who had something for them. With more of them it would be kept too long.
	ownTurns = 8
	// perRunner is for how many participants more another goroutine is worth its start.
	perRunner = 64
)

// Carry has the participant's messages fetched with Take and not with Next: turn is called when there may be some, by whoever put them
// there, without a lock of the hub's. It must not wait. Until Take has nothing, it is not called again. Carry is called once, before
// the first message is handled.
func (p *Peer) Carry(turn func()) {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	p.out.turn, p.out.turns = turn, &p.hub.turns
	p.out.wake()
}

// Take is [Peer.Next] for who does not wait, not even for the hub's lock: it has neither a message nor an error while there is nothing.
func (p *Peer) Take() (protocol.Message, error) {
	for {
		m, err := p.out.fetch()
		if records, ok := m.(*protocol.ChatRecords); ok {
			go p.heard(records)
		}
		if !errors.Is(err, errBehind) {
			return m, err
		}
		go p.catchUp()
	}
}

// turns are the participants whose messages are to be carried. Where many become due at once, by one message to the hub, who gave that
// message carries those of the first and other goroutines the rest; none runs while there is nothing.
type turns struct {
	mu      sync.Mutex
	due     []*outbox
	pledged int // callers that look after what is due when they have let go of the hub's lock
	runners int
}

// add is called under the lock of an outbox.
func (t *turns) add(o *outbox) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = append(t.due, o)
	if t.pledged == 0 {
		t.hire()
	}
}

// pledge says that the caller will call keep, soon and without a lock.
func (t *turns) pledge() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pledged++
}

func (t *turns) keep() {
	var own [ownTurns]*outbox
	t.mu.Lock()
	t.pledged--
	n := t.some(own[:])
	t.hire()
	t.mu.Unlock()
	for _, o := range own[:n] {
		o.turn()
	}
}

// some takes out what is due first. The caller holds the lock.
func (t *turns) some(into []*outbox) (n int) {
	n = copy(into, t.due)
	if t.due = t.due[n:]; len(t.due) == 0 {
		t.due = nil
	}
	return n
}

// hire has others look after what is due. The caller holds the lock.
func (t *turns) hire() {
	for len(t.due) > t.runners*perRunner && t.runners < runtime.GOMAXPROCS(0) {
		t.runners++
		go t.run() // ends when nothing is due
	}
}

func (t *turns) run() {
	var own [ownTurns]*outbox
	for {
		t.mu.Lock()
		n := t.some(own[:])
		if n == 0 {
			t.runners--
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		for _, o := range own[:n] {
			o.turn()
		}
	}
}
