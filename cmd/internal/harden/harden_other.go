//go:build !linux

package harden

import "golang.org/x/sys/unix"

// closeMemory does nothing: these systems have no such switch that a process could set for itself alone.
func closeMemory() {}

func closeOnExec() {
	for fd := 3; fd < 256; fd++ {
		unix.CloseOnExec(fd) // of those that are not open nothing is said
	}
}
