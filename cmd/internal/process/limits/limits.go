// Package limits checks that a process may use enough files and address space. With less, Go's
// runtime would end it with a stack trace.
package limits

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	// fewestFiles is what the smallest session opens beside its standard input, output and error.
	fewestFiles = 10
	// leastSpace is the address space in bytes that a session needs: Go reserves some 730 MiB as it
	// starts (with less it ends before main), and 64 MiB more each time that the heap outgrows it.
	leastSpace = 1 << 30
)

// Shortage is the error of a low limit.
type Shortage struct{ Say, Hint string }

// Error implements error.
func (s *Shortage) Error() string { return s.Say }

// FindShortage returns an error if a limit of the process is too low. It must be called before
// anything waits: the runtime needs two descriptors for timers and sockets, and reports no error.
func FindShortage() *Shortage {
	for range fewestFiles {
		fd, err := unix.Dup(0)
		if err != nil {
			return &Shortage{
				Say:  "this process can open too few files",
				Hint: "raise the limit of open files, as with: ulimit -n 1024",
			}
		}
		defer func() { _ = unix.Close(fd) }()
	}
	var space unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil && space.Cur < leastSpace {
		current, needed := space.Cur>>10, leastSpace>>10
		return &Shortage{
			Say:  fmt.Sprintf("memory: the limit of %d KiB of address space is too low", current),
			Hint: fmt.Sprintf("raise the limit of address space, as with: ulimit -v %d", needed),
		}
	}
	return nil
}
