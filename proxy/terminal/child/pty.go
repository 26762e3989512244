package child

import (
	"errors"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// ptyPair is a new PTY. Both descriptors are closed on exec. The master does not block; the slave
// does, as programs expect. Neither is an *os.File: the first call of its Fd method would make it
// block, and then neither a deadline nor Close would wake a write.
type ptyPair struct {
	master, slave int
	name          string
}

// openPTY makes a PTY.
func openPTY() (p ptyPair, err error) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		return p, err
	}
	defer ptmx.Close()
	defer tty.Close()
	p.name = tty.Name()
	if p.master, err = moveOut(ptmx, true); err != nil {
		return p, err
	}
	if p.slave, err = moveOut(tty, false); err != nil {
		_ = unix.Close(p.master)
	}
	return p, err
}

// openStreams returns descriptors for the program's standard input, output and error: duplicates of
// the given streams, and the terminal for the others.
func openStreams(streams []*os.File, tty int) (stdio [3]uintptr, shut func(), err error) {
	var own []int
	shut = func() {
		for _, fd := range own {
			_ = unix.Close(fd)
		}
	}
	for i := range stdio {
		stdio[i] = uintptr(tty)
		if i >= len(streams) || streams[i] == nil {
			continue
		}
		fd, err := duplicate(streams[i])
		if err != nil {
			shut()
			return stdio, nil, err
		}
		own, stdio[i] = append(own, fd), uintptr(fd)
	}
	return stdio, shut, nil
}

// withGiven returns the program's descriptors by their numbers: stdio and the given ones.
func withGiven(stdio [3]uintptr, given []int) []uintptr {
	files := stdio[:]
	for _, fd := range given {
		for len(files) <= fd {
			files = append(files, ^uintptr(0))
		}
		files[fd] = uintptr(fd)
	}
	return files
}

// duplicate returns a duplicate of f outside of the Go runtime's files.
func duplicate(f *os.File) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	cerr := conn.Control(func(raw uintptr) {
		fd, err = unix.FcntlInt(raw, unix.F_DUPFD_CLOEXEC, 3)
	})
	return fd, errors.Join(cerr, err)
}

// moveOut is duplicate, and makes the descriptor non-blocking or blocking.
func moveOut(f *os.File, nonblock bool) (int, error) {
	fd, err := duplicate(f)
	if err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, nonblock); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
