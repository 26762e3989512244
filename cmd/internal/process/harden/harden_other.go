//go:build !linux

package harden

// closeMemory does nothing: on these systems a process has no such switch for itself alone.
func closeMemory() {}

func openMemory() {}

func closeOnExec() (given []int) {
	for fd := 3; fd < 256; fd++ {
		if closeIfInherited(fd) {
			given = append(given, fd)
		}
	}
	return given
}
