package requests

import "sync"

// maxActions bounds the queued prompts and answers: a slow disk can hold them up.
const maxActions = 256

// actionQueue runs what people and agents do in the conversation with a coding agent, one action
// after another, on a goroutine of its own: a conversation with a journal waits for the disk, and
// the user's keys must not. The goroutine lives as long as an action waits.
type actionQueue struct {
	mu      sync.Mutex
	idle    sync.Cond // of mu
	waiting []func(closed bool)
	working bool
	closed  bool // the session ends: waiting actions are called with over set
}

func newActionQueue() *actionQueue {
	a := new(actionQueue)
	a.idle.L = &a.mu
	return a
}

// enqueue runs do after all earlier actions.
func (a *actionQueue) enqueue(do func(over bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, do)
	if !a.working {
		a.working = true
		go a.runActions()
	}
}

// isFull reports whether too many actions wait.
func (a *actionQueue) isFull() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) >= maxActions
}

func (a *actionQueue) runActions() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 {
		do, over := a.waiting[0], a.closed
		a.waiting = a.waiting[1:]
		a.mu.Unlock()
		do(over)
		a.mu.Lock()
	}
	a.working = false
	a.idle.Broadcast()
}

// awaitIdle returns when no action is left.
func (a *actionQueue) awaitIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.working {
		a.idle.Wait()
	}
}

// close cancels the waiting actions, and returns when the goroutine has ended.
func (a *actionQueue) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.awaitIdle()
}
