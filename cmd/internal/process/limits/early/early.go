// Package early ends the program gateway before main if it can open too few files. The package nuid
// of the NATS client reads random numbers as it is initialized; for that Go's runtime opens files,
// and ends the process with a stack trace if it cannot.
//
// Go initializes packages by their dependencies, then by their paths. nuid imports time; this
// package does not, and its path sorts before "time". So it must import nothing but syscall.
package early

import "syscall"

// message has the words of limits.FindShortage.
const message = "gateway: this process can open too few files\n" +
	"hint: raise the limit of open files, as with: ulimit -n 1024\n"

// opened is what the runtime opens for its first timer.
const opened = 3

func init() {
	for range opened {
		fd, err := syscall.Dup(0)
		if err == syscall.EMFILE {
			_, _ = syscall.Write(2, []byte(message))
			syscall.Exit(1)
		}
		if err == nil {
			defer func() { _ = syscall.Close(fd) }()
		}
	}
}
