//go:build !linux

package tty

import "golang.org/x/sys/unix"

const ioctlGetTermios = unix.TIOCGETA

// ttyName is the controlling terminal: these systems have no cheap way from a descriptor to its name.
func ttyName(int) string { return "/dev/tty" }
