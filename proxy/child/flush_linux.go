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
func (c *Child) FlushInput() error {
	slave, err := c.openSlave()
	if err != nil {
		return c.flushMaster()
	}
	defer unix.Close(slave)
	if err := unix.IoctlSetInt(slave, unix.TCFLSH, unix.TCIFLUSH); err != nil {
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
