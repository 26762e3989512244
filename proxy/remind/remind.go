// Package remind tells that an agent waits for the user while nobody looks: once for each question, when it has stood for a while
// and in that time nobody typed or looked. It must not know what a question is, nor how somebody is reminded.
package remind

import (
	"sync"
	"time"
)

// Question is what waits for the user.
type Question struct {
	Number uint64 // tells it from others; 0 for none
	Agent  string // its name, as people read it
	Held   bool   // the agent has the keyboard, and waits with its input; else it asks for the keyboard
}

// Config is what a [Reminder] needs.
type Config struct {
	// After is how long a question stands, and nobody looks, before it is told.
	After time.Duration
	// Looked is when somebody typed or looked last. It is called from any goroutine.
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

// Open says which question stands now. It costs nothing where that has not changed.
func (r *Reminder) Open(q Question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q == r.open || r.ended {
		return
	}
	r.open = q
	r.stop()
	if q.Number != 0 {
		r.asked = time.Now()
		r.wait(r.conf.After)
	}
}

// stop ends the waiting. The lock is held.
func (r *Reminder) stop() {
	if r.timer != nil && r.timer.Stop() {
		r.wg.Done()
	}
	r.timer = nil
}

// wait looks again after d. The lock is held.
func (r *Reminder) wait(d time.Duration) {
	q := r.open
	r.wg.Add(1)
	r.timer = time.AfterFunc(d, func() {
		defer r.wg.Done()
		r.due(q)
	})
}

// due tells a question, unless somebody has looked since.
func (r *Reminder) due(q Question) {
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
		r.wait(left)
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
	r.stop()
	r.mu.Unlock()
	r.wg.Wait()
}
