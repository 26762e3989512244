package child

import (
	"errors"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// ptyPair is a new PTY. Both descriptors are closed in what is executed; the master does not block, and the slave does, as programs
// expect. Neither is an *os.File, which would turn blocking behind our back at the first call of its Fd method, so that neither a
// deadline nor Close woke a write.
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
	if p.master, err = take(ptmx, true); err != nil {
		return p, err
	}
	if p.slave, err = take(tty, false); err != nil {
		_ = unix.Close(p.master)
	}
	return p, err
}

// take is a duplicate of f outside of the Go runtime's files.
func take(f *os.File, nonblock bool) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	cerr := conn.Control(func(raw uintptr) {
		fd, err = unix.FcntlInt(raw, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err = errors.Join(cerr, err); err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, nonblock); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
