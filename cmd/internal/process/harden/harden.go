// Package harden protects the tokens and the program's terminal that this process holds from the
// user's other processes. It is against mistakes and against agents that act through the gateway: a
// process of the user can still type into the user's terminals and change the user's files.
package harden

import "golang.org/x/sys/unix"

// ProtectProcess closes this process to debuggers, and its memory, environment and descriptors to
// readers. The programs that it starts inherit only its standard streams. It returns the other
// descriptors that it was started with, in order. It must be the first call of a program. It
// ignores failures: the process is then as open as any other.
func ProtectProcess() (given []int) {
	closeMemory()
	return closeOnExec()
}

// closeIfInherited has a descriptor closed in the programs that are started, and reports whether it
// was not.
func closeIfInherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return false
	}
	unix.CloseOnExec(fd)
	return true
}

// CloseMemory closes this process to debuggers and other readers, but leaves descriptors as they
// are. It is for a program that others have to inspect first.
func CloseMemory() { closeMemory() }

// OpenMemory undoes CloseMemory, for a program that holds no secret now and has to be inspected
// again.
func OpenMemory() { openMemory() }
