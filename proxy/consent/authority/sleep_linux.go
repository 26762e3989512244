package authority

import (
	"time"

	"golang.org/x/sys/unix"
)

// totalSleep returns how far the clock that counts sleep is ahead of the one that does not
// (clock_gettime(2)). It is never too long: time that passes between the two readings shortens it.
// It is 0 if the kernel does not support the clocks.
func totalSleep() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil ||
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
