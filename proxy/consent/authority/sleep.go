package authority

import "time"

// minSleep is the shortest sleep that counts: the two clocks are read one after the other.
const minSleep = time.Second

// sleepWatch notices how long this computer slept (was suspended). Go measures time with the
// monotonic clock, which excludes sleep.
type sleepWatch struct {
	// total returns how long the computer slept since it started.
	total func() time.Duration
	last  time.Duration
}

// sinceLast returns how long the computer slept since the last call.
func (w *sleepWatch) sinceLast() time.Duration {
	d := w.total() - w.last
	if d < minSleep {
		return 0
	}
	w.last += d
	return d
}
