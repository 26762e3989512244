package overlay

import (
	"time"

	"terminalproxy/proxy/screen"
)

// Loop is the goroutine that owns the terminal model.
type Loop interface {
	// Post runs do there after everything fed before; it reports false where the loop has ended.
	Post(do func(now time.Time)) bool
	// Try waits for that, but for at most limit. When that has passed do is not run any more, unless it has begun; then late is
	// called there when do would have been. over says that the loop has ended.
	Try(limit time.Duration, do func(now time.Time), late func()) (ran, over bool)
	// TryAround is Try for what is to be done before a chunk is fed, and after it. Either may be run without the other where
	// time is short; the chunk is fed.
	TryAround(limit time.Duration, before func(now time.Time), chunk []byte, after func(now time.Time), late func()) (ran, over bool)
	// Model is for functions that run there, as are the following.
	Model() *screen.Screen
	// Moved says that the model's rows were moved.
	Moved(now time.Time)
	// Hold keeps what the program writes from the model until then, zero for no longer.
	Hold(until time.Time)
}

const (
	// modelPatience is how long the user's terminal waits for the model.
	modelPatience = 50 * time.Millisecond
	// behindLeast is how long nothing is drawn at least after the model was behind: a program that keeps it busy shall not have
	// the terminal wait each time.
	behindLeast = 500 * time.Millisecond
)

// Behind reports whether the model is behind, so that nothing can be drawn. It may be called from any goroutine.
func (p *Painter) Behind() bool { return p.behind.Load() }

// try runs do on the goroutine of the model, which has to be where the terminal is, unless the model is behind by more than
// modelPatience: the user's terminal does not wait for it.
func (p *Painter) try(do func(now time.Time)) (ran, over bool) {
	if p.behind.Load() {
		p.again = time.Time{}
		return false, false
	}
	ran, over = p.conf.Loop.Try(modelPatience, do, p.catchUp(time.Now()))
	p.note(ran, over)
	return ran, over
}

// note notes whether the model was behind.
func (p *Painter) note(ran, over bool) {
	if !ran && !over {
		p.behind.Store(true)
		p.again = time.Time{}
	}
}

// catchUp is what is called when a model that is behind has caught up.
func (p *Painter) catchUp(now time.Time) func() {
	return func() {
		time.AfterFunc(behindLeast-time.Since(now), func() {
			p.behind.Store(false)
			if p.conf.CaughtUp != nil {
				p.conf.CaughtUp()
			}
		})
	}
}

// patience is how long to wait for the model now.
func (p *Painter) patience() time.Duration {
	if p.behind.Load() {
		return 0
	}
	return modelPatience
}
