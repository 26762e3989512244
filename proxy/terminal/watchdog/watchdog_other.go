//go:build !linux

package watchdog

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios      = unix.TIOCGETA
	ioctlSetTermiosDrain = unix.TIOCSETAW
)

// Self returns a path that starts this program again, "" if it is unknown.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// createMemory makes a file and unlinks it at once.
func createMemory(size int) (fd int, err error) {
	f, err := os.CreateTemp("", Name)
	if err != nil {
		return -1, fmt.Errorf("make memory: %w", err)
	}
	defer f.Close()
	_ = os.Remove(f.Name())
	if err := f.Truncate(int64(size)); err != nil {
		return -1, fmt.Errorf("make memory: %w", err)
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("make memory: %w", err)
	}
	cerr := conn.Control(func(raw uintptr) {
		fd, err = unix.FcntlInt(raw, unix.F_DUPFD_CLOEXEC, 3)
	})
	if cerr != nil || err != nil {
		return -1, fmt.Errorf("make memory: %w", err)
	}
	return fd, nil
}
