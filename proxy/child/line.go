package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Line is what the program's terminal does with what is typed (termios(3)).
type Line struct {
	Canonical   bool // ICANON
	Echo        bool // ECHO
	EchoNewline bool // ECHONL
}

// Line asks for the line settings, which takes one system call. It may be called from any goroutine until Close.
func (c *Child) Line() (Line, error) {
	now, err := unix.IoctlGetTermios(c.master, ioctlGetTermios)
	if err != nil {
		return Line{}, fmt.Errorf("line settings: %w", err)
	}
	return Line{
		Canonical: now.Lflag&unix.ICANON != 0, Echo: now.Lflag&unix.ECHO != 0, EchoNewline: now.Lflag&unix.ECHONL != 0,
	}, nil
}

// Relays reports whether the foreground program has started other programs that still run. Only Linux tells.
func (c *Child) Relays() bool {
	group, err := unix.IoctlGetInt(c.master, unix.TIOCGPGRP)
	if err != nil || group <= 0 {
		return false
	}
	pid := strconv.Itoa(group)
	children, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	return err == nil && len(bytes.TrimSpace(children)) > 0
}
