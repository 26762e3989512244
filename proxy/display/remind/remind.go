// Package remind reminds a user who is not looking that an agent waits: once for each question,
// after a while in which the user neither typed nor looked. It must not depend on the meaning of a
// question, or on how the user is reminded.
package remind

import (
	"sync"
	"time"
)

// Question is a question that waits for the user.
type Question struct {
	Number uint64 // distinguishes it from others; 0 without a question
	Agent  string // its name, as people read it
	Held   bool   // the agent has the keyboard, and its input waits; false: it asks for it
}

// Config configures a [Reminder].
type Config struct {
	// After is how long a question is open, while the user does not look, before the reminder.
	After time.Duration
	// LastLook returns when the user last typed or looked. It is called on any goroutine.
	LastLook func() time.Time
	// Remind sends the reminder. It is called on a separate goroutine, which Close waits for.
	Remind func(Question)
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

// SetQuestion sets the present question. It costs nothing if the question is unchanged.
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

// waitLocked checks again after d.
func (r *Reminder) waitLocked(d time.Duration) {
	q := r.open
	r.wg.Add(1)
	r.timer = time.AfterFunc(d, func() {
		defer r.wg.Done()
		r.remindOrWait(q)
	})
}

// remindOrWait sends the reminder, or waits again if the user has looked since.
func (r *Reminder) remindOrWait(q Question) {
	r.mu.Lock()
	if q != r.open || r.ended {
		r.mu.Unlock()
		return
	}
	since := r.asked
	if looked := r.conf.LastLook(); looked.After(since) {
		since = looked
	}
	if left := r.conf.After - time.Since(since); left > 0 {
		r.waitLocked(left)
		r.mu.Unlock()
		return
	}
	r.timer = nil
	r.mu.Unlock()
	r.conf.Remind(q)
}

// Close stops the reminders, and waits for a running call of Tell.
func (r *Reminder) Close() {
	r.mu.Lock()
	r.ended = true
	r.stopLocked()
	r.mu.Unlock()
	r.wg.Wait()
}
