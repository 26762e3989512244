package tty

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// left is the state of a [Terminal] that has left its user's terminal for a while. Its descriptors
// keep their numbers, so that a poll of them keeps waiting.
type left struct {
	now  atomic.Bool
	size cells // of the terminal that was left
	// keyboard is the read end of a pipe to which nothing is written; once means that it was made.
	keyboard int
	once     bool
}

// IsLeft reports whether the terminal was left. Any goroutine may ask.
func (t *Terminal) IsLeft() bool { return t.left.now.Load() }

// LeaveDevice leaves the user's terminal: from now on there is neither keyboard nor screen, output
// is dropped, and the size stays the same. No goroutine may read, write or poll meanwhile.
func (t *Terminal) LeaveDevice() error {
	l := &t.left
	if cols, rows, err := t.Size(); err == nil {
		l.size.setSize(cols, rows)
	}
	if !l.once {
		var pipe [2]int
		if err := unix.Pipe(pipe[:]); err != nil {
			return fmt.Errorf("leave the terminal: %w", err)
		}
		unix.CloseOnExec(pipe[0])
		unix.CloseOnExec(pipe[1])
		t.own = append(t.own, pipe[:]...)
		l.keyboard, l.once = pipe[0], true
	}
	nowhere, err := unix.Open(os.DevNull, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	defer unix.Close(nowhere)
	l.now.Store(true)
	t.saved = nil
	return errors.Join(duplicateDescriptor(l.keyboard, t.in), duplicateDescriptor(nowhere, t.out))
}

// OpenBoth opens a terminal to read from and to write to, for [Terminal.TakeDevice]. It fails
// unless both files are terminals.
func OpenBoth(in, out *os.File) (*Terminal, error) {
	next, err := Open(in, out)
	if err != nil {
		return nil, err
	}
	if !next.inTTY || !next.outTTY ||
		!allowsAccess(next.in, unix.O_RDONLY) || !allowsAccess(next.out, unix.O_WRONLY) {
		next.Close()
		return nil, errors.New("standard input and output must be a terminal")
	}
	return next, nil
}

// allowsAccess reports whether a descriptor is open for an access mode.
func allowsAccess(fd, access int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && (flags&unix.O_ACCMODE == unix.O_RDWR || flags&unix.O_ACCMODE == access)
}

// TakeDevice continues after LeaveDevice at a terminal of OpenBoth, which the caller closes
// afterwards. No goroutine may read, write or poll meanwhile. After an error the terminal is still
// left.
func (t *Terminal) TakeDevice(next *Terminal) error {
	err := errors.Join(duplicateDescriptor(next.in, t.in), duplicateDescriptor(next.out, t.out))
	if err != nil {
		return errors.Join(fmt.Errorf("take the terminal: %w", err), t.LeaveDevice())
	}
	t.write = next.write
	t.left.now.Store(false)
	return nil
}
