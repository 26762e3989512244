//go:build !linux

package nonblock

import "golang.org/x/sys/unix"

// Read is read(2).
func Read(fd int, p []byte) (int, error) { return unix.Read(fd, p) }

// Write is write(2).
func Write(fd int, p []byte) (int, error) { return unix.Write(fd, p) }
