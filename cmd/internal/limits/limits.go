// Package limits sees that a process has the few files and the address space without which Go's runtime ends it with a
// trace of its own.
package limits

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	// fewestFiles is what the smallest session opens beside its standard input, output and error.
	fewestFiles = 10
	// leastSpace is the address space in bytes that a session needs: Go reserves some 730 MiB as it starts (below that it ends
	// before main), and 64 MiB more for each time that the heap outgrows what it has.
	leastSpace = 1 << 30
)

// Shortage is the error of a limit that is too low.
type Shortage struct{ Say, Hint string }

// Error implements error.
func (s *Shortage) Error() string { return s.Say }

// Check returns which limit of the process is too low, nil for none. It is to be called before anything waits: for timers and sockets the
// runtime needs two descriptors, and gives no error.
func Check() *Shortage {
	for range fewestFiles {
		fd, err := unix.Dup(0)
		if err != nil {
			return &Shortage{Say: "this process can open too few files", Hint: "raise the limit of open files, as with: ulimit -n 1024"}
		}
		defer func() { _ = unix.Close(fd) }()
	}
	var space unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil && space.Cur < leastSpace {
		return &Shortage{
			Say:  fmt.Sprintf("memory: the limit of %d KiB of address space is too low", space.Cur>>10),
			Hint: fmt.Sprintf("raise the limit of address space, as with: ulimit -v %d", leastSpace>>10),
		}
	}
	return nil
}
