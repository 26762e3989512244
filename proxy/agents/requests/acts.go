package requests

import "sync"

// actsMost bounds the prompts and answers that wait for a slow disk.
const actsMost = 256

// acts does what happens in the conversation with a coding agent, one act after another, on a
// goroutine of its own: a conversation with a journal waits for the disk, and the user's keys must
// not. The goroutine lives as long as an act waits.
type acts struct {
	mu      sync.Mutex
	idle    sync.Cond // of mu
	waiting []func(over bool)
	working bool
	over    bool // the session ends: the acts that still wait are called with over set
}

func newActs() *acts {
	a := new(acts)
	a.idle.L = &a.mu
	return a
}

// queueAct has do called after all acts before it.
func (a *acts) queueAct(do func(over bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, do)
	if !a.working {
		a.working = true
		go a.doActs()
	}
}

// isFull reports whether too many acts wait.
func (a *acts) isFull() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) >= actsMost
}

func (a *acts) doActs() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 {
		do, over := a.waiting[0], a.over
		a.waiting = a.waiting[1:]
		a.mu.Unlock()
		do(over)
		a.mu.Lock()
	}
	a.working = false
	a.idle.Broadcast()
}

// awaitIdle returns when no act is left.
func (a *acts) awaitIdle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.working {
		a.idle.Wait()
	}
}

// endActs refuses the acts that wait, and returns when no goroutine is left.
func (a *acts) endActs() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.awaitIdle()
}
