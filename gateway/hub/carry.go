package hub

import (
	"runtime"
	"sync"
)

const (
	// ownTurns is how many participants one caller serves itself. More would delay the caller.
	ownTurns = 8
	// perWorker is how many due participants justify another goroutine.
	perWorker = 64
)

// carrier delivers messages of many participants. If one message to the hub makes many of them due,
// its sender serves the first and worker goroutines serve the rest. Workers end when the queue is
// empty.
type carrier struct {
	mu       sync.Mutex
	due      []func() // the turns of outboxes
	deferred int      // callers that will call runDeferred
	workers  int
}

// addDue queues an outbox's turn. The caller holds the outbox's lock.
func (t *carrier) addDue(turn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = append(t.due, turn)
	if t.deferred == 0 {
		t.startWorkersLocked()
	}
}

// deferDelivery announces that the caller will call runDeferred soon, without a lock.
func (t *carrier) deferDelivery() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deferred++
}

func (t *carrier) runDeferred() {
	var own [ownTurns]func()
	t.mu.Lock()
	t.deferred--
	n := t.takeDueLocked(own[:])
	t.startWorkersLocked()
	t.mu.Unlock()
	for _, turn := range own[:n] {
		turn()
	}
}

func (t *carrier) takeDueLocked(into []func()) (n int) {
	n = copy(into, t.due)
	if t.due = t.due[n:]; len(t.due) == 0 {
		t.due = nil
	}
	return n
}

func (t *carrier) startWorkersLocked() {
	for len(t.due) > t.workers*perWorker && t.workers < runtime.GOMAXPROCS(0) {
		t.workers++
		go t.run() // ends when the queue is empty
	}
}

func (t *carrier) run() {
	var own [ownTurns]func()
	for {
		t.mu.Lock()
		n := t.takeDueLocked(own[:])
		if n == 0 {
			t.workers--
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		for _, turn := range own[:n] {
			turn()
		}
	}
}
