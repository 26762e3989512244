package main

import (
	"os"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy"
	"terminalproxy/proxy/terminal/child"
)

// isInsideSession reports whether agents see the program already: this terminal is shared, and no
// nested session is wanted.
func (f *flags) isInsideSession() bool {
	return f.Agent && !f.Nested && os.Getenv(proxy.SessionVariable) != ""
}

// runInside runs the program in place of this process, and refuses flags that need a session of the
// program's own. It returns only with an error.
func (f *flags) runInside(given []int) error {
	for _, name := range f.typed {
		if name != "agent" {
			return usageError(
				"leave out --"+name+", or add --nested to share PROGRAM too (the outer "+
					"session's keys win)",
				"--%s: this shell already runs inside the session %s, which agents see", name,
				os.Getenv(proxy.SessionVariable),
			)
		}
	}
	return child.ReplaceProcess(f.Command, f.Args, given)
}

// canWrite reports whether a descriptor that is not one of the standard three is open for writing.
func canWrite(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return fd > 2 && err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY
}
