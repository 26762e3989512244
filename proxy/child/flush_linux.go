package child

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

// FlushInput drops what was written to the program and not yet read by it, the kernel's buffers on the way included.
// Flushing the master does not do that on Linux; flushing the slave does, and the kernel opens it for us by TIOCGPTPEER.
// The slave is closed again at once: an open one would hide the end of the program's output.
func (c *Child) FlushInput() error {
	// Without O_NOCTTY a proxy that leads a session without a terminal would take the program's for its own.
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return c.flushMaster()
	}
	defer unix.Close(int(slave))
	if err := unix.IoctlSetInt(int(slave), unix.TCFLSH, unix.TCIFLUSH); err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	return nil
}

// flushMaster is for kernels before 4.13: the one call drops the flip buffer, the other the line discipline's queue.
func (c *Child) flushMaster() error {
	if err := unix.IoctlSetInt(c.master, unix.TCFLSH, unix.TCOFLUSH); err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	now, err := unix.IoctlGetTermios(c.master, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	if err := unix.IoctlSetTermios(c.master, unix.TCSETSF, now); err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	return nil
}
