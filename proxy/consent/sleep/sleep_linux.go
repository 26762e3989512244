package sleep

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept is how far the clock that goes on during a suspension is ahead of the one that stands still (clock_gettime(2)). It is
// never more than the truth: what passes between the two readings makes it less. 0 if the kernel does not say.
func slept() time.Duration {
	var a, b unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &a) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &b) != nil {
		return 0
	}
	return time.Duration(a.Nano() - b.Nano())
}
