package child

import "golang.org/x/sys/unix"

// LeaveNoCore has a crash of this process leave no file with what was typed and shown. It is called
// when the program, whose own limit stays what it was, has been started.
func LeaveNoCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil && limit.Cur != 0 {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
}
