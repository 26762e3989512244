//go:build !linux

package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

// StopSelf stops this process. The Go runtime cannot go back to the default of a signal that it was told to catch, so it is
// SIGSTOP, whatever sig is.
func StopSelf(unix.Signal) { _ = unix.Kill(os.Getpid(), unix.SIGSTOP) }
