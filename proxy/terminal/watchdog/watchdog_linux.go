package watchdog

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios      = unix.TCGETS
	ioctlSetTermiosDrain = unix.TCSETSW
)

// Self is the path by which this program can be started once more, also when its file was replaced meanwhile.
func Self() string { return "/proc/self/exe" }

// memory makes a file without a name.
func memory(size int) (fd int, err error) {
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
