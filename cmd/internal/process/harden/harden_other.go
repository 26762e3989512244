//go:build !linux

package harden

import "golang.org/x/sys/unix"

// closeMemory does nothing: on these systems a process has no such switch for itself alone.
func closeMemory() {}

func openMemory() {}

func closeOnExec() {
	for fd := 3; fd < 256; fd++ {
		unix.CloseOnExec(fd) // ignores descriptors that are not open
	}
}
