package child

import "golang.org/x/sys/unix"

// LeaveNoCore prevents core dumps of this process, which would hold the text that was typed and
// shown. Call it after the program has started, so that the program keeps its own limit.
func LeaveNoCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil && limit.Cur != 0 {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
}
