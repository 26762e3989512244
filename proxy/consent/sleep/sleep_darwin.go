package sleep

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept is how far the clock that goes on while the computer sleeps is ahead of the one that stands still, which is Go's
// (clock_gettime(3): CLOCK_MONOTONIC, CLOCK_UPTIME_RAW). Nobody has tried it.
func slept() time.Duration {
	var a, b unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &a) != nil || unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &b) != nil {
		return 0
	}
	return time.Duration(a.Nano() - b.Nano())
}
