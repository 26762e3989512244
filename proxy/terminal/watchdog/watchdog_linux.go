package watchdog

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios      = unix.TCGETS
	ioctlSetTermiosDrain = unix.TCSETSW
)

// Self returns a path that starts this program again, even if its file was replaced.
func Self() string { return "/proc/self/exe" }

// createMemory makes an unnamed file.
func createMemory(size int) (fd int, err error) {
	fd, err = unix.MemfdCreate(Name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make memory: %w", err)
	}
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("make memory: %w", err)
	}
	return fd, nil
}
