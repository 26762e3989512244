// Package sleep measures how long this computer slept (was suspended) since it started. Go measures
// time with the monotonic clock, which excludes sleep. The package must not depend on how the time
// is used.
package sleep

import "time"

// minSleep is the shortest sleep that counts: the two clocks are read one after the other.
const minSleep = time.Second

// Watch notices sleep. The zero Watch is ready. It is not safe for concurrent use.
type Watch struct {
	// Total returns how long the computer slept since it started; nil asks the kernel.
	Total func() time.Duration

	last    time.Duration
	hasLast bool
}

// SleepSinceLast returns how long the computer slept since the last call, 0 on the first call.
func (w *Watch) SleepSinceLast() time.Duration {
	total := w.Total
	if total == nil {
		total = totalSleep
	}
	now := total()
	if !w.hasLast {
		w.last, w.hasLast = now, true
	}
	d := now - w.last
	if d < minSleep {
		return 0
	}
	w.last = now
	return d
}
