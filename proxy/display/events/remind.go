package events

import (
	"sync"
	"time"
)

// openQuestion is a question that waits for the user.
type openQuestion struct {
	number uint64 // distinguishes it from others; 0 without a question
	agent  string // its name, as people read it
	held   bool   // the agent has the keyboard, and its input waits; false: it asks for it
}

// reminder reminds a user who is not looking that an agent waits: once for each question, after a
// while in which the user neither typed nor looked. Any goroutine may call its methods.
type reminder struct {
	// after is how long a question is open, while the user does not look, before the reminder.
	after time.Duration
	// lastLook returns when the user last typed or looked. It is called on any goroutine.
	lastLook func() time.Time
	// remind sends the reminder. It is called on a separate goroutine, which close waits for.
	remind func(openQuestion)

	mu    sync.Mutex
	open  openQuestion
	asked time.Time
	timer *time.Timer // nil while nothing waits
	wg    sync.WaitGroup
	ended bool
}

// setQuestion sets the present question. It costs nothing if the question is unchanged.
func (r *reminder) setQuestion(q openQuestion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q == r.open || r.ended {
		return
	}
	r.open = q
	r.stopLocked()
	if q.number != 0 {
		r.asked = time.Now()
		r.waitLocked(r.after)
	}
}

func (r *reminder) stopLocked() {
	if r.timer != nil && r.timer.Stop() {
		r.wg.Done()
	}
	r.timer = nil
}

// waitLocked checks again after d.
func (r *reminder) waitLocked(d time.Duration) {
	q := r.open
	r.wg.Add(1)
	r.timer = time.AfterFunc(d, func() {
		defer r.wg.Done()
		r.remindOrWait(q)
	})
}

// remindOrWait sends the reminder, or waits again if the user has looked since.
func (r *reminder) remindOrWait(q openQuestion) {
	r.mu.Lock()
	if q != r.open || r.ended {
		r.mu.Unlock()
		return
	}
	since := r.asked
	if looked := r.lastLook(); looked.After(since) {
		since = looked
	}
	if left := r.after - time.Since(since); left > 0 {
		r.waitLocked(left)
		r.mu.Unlock()
		return
	}
	r.timer = nil
	r.mu.Unlock()
	r.remind(q)
}

// close stops the reminders, and waits for a running call of remind.
func (r *reminder) close() {
	r.mu.Lock()
	r.ended = true
	r.stopLocked()
	r.mu.Unlock()
	r.wg.Wait()
}
