package child

import (
	"bytes"
	"fmt"
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

// maxChain bounds [Child.Chain].
const maxChain = 6

// Chain is the name of the foreground program, then that of the first program which it has started and which still runs,
// and so on: sudo, sudo, vim. Names are the kernel's, of at most 15 bytes. Only Linux tells; elsewhere it is empty.
func (c *Child) Chain() []string {
	pid, err := unix.IoctlGetInt(c.master, unix.TIOCGPGRP)
	var names []string
	for err == nil && pid > 0 && len(names) < maxChain {
		name, gone := procFile(pid, "comm")
		if gone != nil {
			break
		}
		names = append(names, string(name))
		children, gone := procFile(pid, "task/"+strconv.Itoa(pid)+"/children")
		first, _, _ := bytes.Cut(children, []byte(" "))
		if pid, err = strconv.Atoi(string(first)); gone != nil {
			break
		}
	}
	return names
}
