package overlay

import (
	"time"

	"terminalproxy/proxy/terminal/screen"
)

// Loop is the goroutine that owns the terminal model.
type Loop interface {
	// Post runs do there after everything fed before. It reports false if the loop has ended.
	Post(do func(now time.Time)) bool
	// TryCall waits for do, but at most for limit. After that it drops do, unless do has begun, and
	// calls late in its place. over reports that the loop has ended.
	TryCall(limit time.Duration, do func(now time.Time), late func()) (ran, over bool)
	// TryAround is TryCall around the feeding of a chunk. Either function may run without the other
	// if time is short; the chunk is fed in any case.
	TryAround(
		limit time.Duration, before func(now time.Time), chunk []byte, after func(now time.Time),
		late func(),
	) (ran, over bool)
	// Model returns the terminal model. Only functions on the loop may call it and the following
	// methods.
	Model() *screen.Screen
	// NoteScreenChange notes that the model's rows were moved.
	NoteScreenChange(now time.Time)
	// HoldOutput keeps the program's output from the model until a time. The zero time ends that.
	HoldOutput(until time.Time)
}

const (
	// modelPatience bounds how long the user's terminal waits for the model.
	modelPatience = 50 * time.Millisecond
	// minBehind is the shortest time without drawing after the model was behind: a program that
	// keeps it busy must not make the terminal wait each time.
	minBehind = 500 * time.Millisecond
)

// IsBehind reports whether the model is behind, so that nothing can be drawn. It may be called from
// any goroutine.
func (p *Painter) IsBehind() bool { return p.behind.Load() }

// tryOnLoop runs do on the model's goroutine once the model shows the same as the terminal. It
// gives up if the model is behind by more than modelPatience.
func (p *Painter) tryOnLoop(do func(now time.Time)) (ran, over bool) {
	if p.behind.Load() {
		p.nextDraw = time.Time{}
		return false, false
	}
	ran, over = p.conf.Loop.TryCall(modelPatience, do, p.onCaughtUp(time.Now()))
	p.noteBehind(ran, over)
	return ran, over
}

func (p *Painter) noteBehind(ran, over bool) {
	if !ran && !over {
		p.behind.Store(true)
		p.nextDraw = time.Time{}
	}
}

// onCaughtUp returns the function to call when the model has caught up.
func (p *Painter) onCaughtUp(now time.Time) func() {
	return func() {
		time.AfterFunc(minBehind-time.Since(now), func() {
			p.behind.Store(false)
			if p.conf.CaughtUp != nil {
				p.conf.CaughtUp()
			}
		})
	}
}

// currentPatience returns how long to wait for the model now.
func (p *Painter) currentPatience() time.Duration {
	if p.behind.Load() {
		return 0
	}
	return modelPatience
}
