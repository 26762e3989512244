// Package descriptors sees that a process can open the few files without which Go's runtime ends it with a trace of its own.
package descriptors

import (
	"errors"

	"golang.org/x/sys/unix"
)

// least is what the smallest session opens beside its standard input, output and error.
const least = 10

// Hint is what to do about the error of Enough.
const Hint = "raise the limit of open files, as with: ulimit -n 1024"

// Enough fails where the limit of open files leaves too few descriptors. It is to be called before anything waits: for timers
// and sockets the runtime needs two, and gives no error.
func Enough() error {
	for range least {
		fd, err := unix.Dup(0)
		if err != nil {
			return errors.New("this process can open too few files")
		}
		defer func() { _ = unix.Close(fd) }()
	}
	return nil
}
