package harden

import (
	"math"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeMemory gives /proc/PID/mem, environ and fd to root, makes ptrace(2) and pidfd_getfd(2) fail,
// and prevents core files (PR_SET_DUMPABLE, prctl(2)). Executed programs do not inherit it.
func closeMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

func openMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }

func closeOnExec() (given []int) {
	const first = 3
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		_ = unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
		return nil
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first && closeIfInherited(fd) {
			given = append(given, fd)
		}
	}
	slices.Sort(given) // names come as text is sorted
	return given
}
