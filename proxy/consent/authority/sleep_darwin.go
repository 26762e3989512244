package authority

import (
	"time"

	"golang.org/x/sys/unix"
)

// totalSleep returns how far the clock that counts sleep is ahead of Go's clock, which does not
// (clock_gettime(3): CLOCK_MONOTONIC, CLOCK_UPTIME_RAW). It is untested on a real Mac.
func totalSleep() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &all) != nil ||
		unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
