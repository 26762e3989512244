// Package sleep knows how long this computer has slept (been suspended) since it was started: the monotonic clock, by which Go
// measures time, leaves that out. It must not know what for.
package sleep

import "time"

// least is the shortest sleep that counts: the two clocks are read one after the other.
const least = time.Second

// Watch notices sleep. The zero Watch is ready; it belongs to one goroutine.
type Watch struct {
	// Total is how long the computer has slept; nil asks the kernel.
	Total func() time.Duration

	known time.Duration
	begun bool
}

// Since is how long the computer has slept since the last call, 0 at the first one.
func (w *Watch) Since() time.Duration {
	total := w.Total
	if total == nil {
		total = slept
	}
	now := total()
	if !w.begun {
		w.known, w.begun = now, true
	}
	d := now - w.known
	if d < least {
		return 0
	}
	w.known = now
	return d
}
