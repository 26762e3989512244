// Package remind tells that an agent waits for a user who does not look: once for each question,
// when it has stood for a while in which the user neither typed nor looked. It must not know what a
// question means, nor how the user is reminded.
package remind

import (
	"sync"
	"time"
)

// Question is what waits for the user.
type Question struct {
	Number uint64 // tells it from others; 0 without a question
	Agent  string // its name, as people read it
	Held   bool   // the agent has the keyboard, and its input waits; else it asks for the keyboard
}

// Config is what a [Reminder] needs.
type Config struct {
	// After is how long a question stands without a look of the user before it is told.
	After time.Duration
	// Looked returns when the user last typed or looked. It is called from any goroutine.
	Looked func() time.Time
	// Tell is told. It is called from a goroutine of its own, which Close waits for.
	Tell func(Question)
}

// Reminder waits with the newest question. Any goroutine may call its methods.
type Reminder struct {
	conf Config

	mu    sync.Mutex
	open  Question
	asked time.Time
	timer *time.Timer // nil while nothing waits
	wg    sync.WaitGroup
	ended bool
}

// New makes a reminder without a question.
func New(conf Config) *Reminder { return &Reminder{conf: conf} }

// SetQuestion says which question stands now. It costs nothing where that has not changed.
func (r *Reminder) SetQuestion(q Question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q == r.open || r.ended {
		return
	}
	r.open = q
	r.stopLocked()
	if q.Number != 0 {
		r.asked = time.Now()
		r.waitLocked(r.conf.After)
	}
}

func (r *Reminder) stopLocked() {
	if r.timer != nil && r.timer.Stop() {
		r.wg.Done()
	}
	r.timer = nil
}

// waitLocked looks again after d.
func (r *Reminder) waitLocked(d time.Duration) {
	q := r.open
	r.wg.Add(1)
	r.timer = time.AfterFunc(d, func() {
		defer r.wg.Done()
		r.remindOrWait(q)
	})
}

// remindOrWait tells a question, or waits on if the user has looked since.
func (r *Reminder) remindOrWait(q Question) {
	r.mu.Lock()
	if q != r.open || r.ended {
		r.mu.Unlock()
		return
	}
	since := r.asked
	if looked := r.conf.Looked(); looked.After(since) {
		since = looked
	}
	if left := r.conf.After - time.Since(since); left > 0 {
		r.waitLocked(left)
		r.mu.Unlock()
		return
	}
	r.timer = nil
	r.mu.Unlock()
	r.conf.Tell(q)
}

// Close ends the waiting, and waits for who is being told.
func (r *Reminder) Close() {
	r.mu.Lock()
	r.ended = true
	r.stopLocked()
	r.mu.Unlock()
	r.wg.Wait()
}
