package main

import (
	"os"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy"
	"terminalproxy/proxy/child"
)

// inside reports whether agents see the program without our doing: this terminal is shared, and no session within it is wanted.
func (f *flags) inside() bool {
	return f.Agent && !f.Nested && os.Getenv(proxy.SessionVariable) != ""
}

// within runs the program in place of this process, and refuses what only a session of the program's own could do. It returns only
// with an error.
func (f *flags) within() error {
	for _, name := range f.typed {
		if name != "agent" {
			return wrong("leave out --"+name+", or add --nested to share PROGRAM as well (the outer session's keys win)",
				"--%s: this shell already runs inside the session %s, which agents see", name, os.Getenv(proxy.SessionVariable))
		}
	}
	return child.Replace(f.Command, f.Args)
}

// canWrite reports whether a descriptor that is not one of the standard three is open for writing.
func canWrite(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return fd > 2 && err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY
}
