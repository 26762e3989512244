package child

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// LineMost is the length of the longest line that the kernel collects (canonical mode), in bytes
// without its end. It drops the rest of a longer one (termios(3), n_tty.c).
const LineMost = 4095

const (
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

// The bounds of [stealInput]: the number of reads, each of which gets one line at most, and the
// time for the program to leave a read.
//
// stealFor bounds how long the pump, and so the user's next key, waits when control ends while the
// program sits in a read, has bytes on their way and gets no processor. Measured: 0.12 ms on an
// idle machine, and over 80 ms in one of a hundred with four busy loops a processor. A program that
// has ended or is stopped is in no read, so nothing waits for it. The kernel has no event for the
// end of another process's read, so it is tried again after stealStep.
const (
	stealMax  = 4096
	stealFor  = 100 * time.Millisecond
	stealStep = 20 * time.Microsecond
)

// FlushInput drops the bytes that were written to the program and that it has not read, including
// those in the kernel's buffers on the way, and returns their number. A line that the kernel still
// collects (canonical mode) is dropped, too, but not counted. On Linux flushing the master does not
// do that; flushing the slave does, and TIOCGPTPEER opens it.
func (t *terminal) FlushInput() (unread int, err error) {
	slave, err := t.openSlave()
	if err != nil {
		return 0, t.flushMaster()
	}
	defer unix.Close(slave)
	unread = stealInput(slave)
	if err := unix.IoctlSetInt(slave, unix.TCFLSH, unix.TCIFLUSH); err != nil {
		return unread, fmt.Errorf("flush input: %w", err)
	}
	return unread, nil
}

// stealInput reads the waiting input in the program's place and returns the number of bytes. It
// does not ask for the number and then drop them, since the program could read some in between.
//
// While the program itself is in a read, about to take the input, the kernel lets no other process
// read. That ends as soon as the program gets a processor. If it gets none for stealFor, bytes that
// the kernel has not delivered yet are not counted (a poll delivers only if the queue is empty);
// only the program waits for them, and it would also read the user's next key.
func stealInput(slave int) (unread int) {
	if unix.SetNonblock(slave, true) != nil {
		return waitingInput(slave)
	}
	buf := make([]byte, 4096)
	began := time.Now()
	for range stealMax {
		n, err := unix.Read(slave, buf)
		switch {
		case err == nil && n > 0:
			clear(buf[:n]) // it may be the user's
			unread += n
		case err == nil, err == unix.EINTR: // an end of file that was typed is a line of no bytes
		case waitingInput(slave) == 0, time.Since(began) > stealFor:
			return unread + waitingInput(slave)
		default:
			// time.Sleep takes a millisecond at least
			_ = unix.Nanosleep(&unix.Timespec{Nsec: stealStep.Nanoseconds()}, nil)
		}
	}
	return unread + waitingInput(slave)
}

// CountQueued is CountUnread and then HasOutput, in one system call: poll(2) checks its descriptors
// in order.
func (t *terminal) CountQueued() (unread int, output bool) {
	slave, err := t.openSlave()
	if err != nil {
		return 0, t.HasOutput()
	}
	defer unix.Close(slave)
	fds := []unix.PollFd{
		{Fd: int32(slave), Events: unix.POLLIN},
		{Fd: int32(t.master), Events: unix.POLLIN},
	}
	pollNow(fds)
	if fds[0].Revents&unix.POLLIN != 0 {
		unread = countInput(slave)
	}
	return unread, fds[1].Revents&unix.POLLIN != 0
}

// waitingInput returns how many bytes the kernel has for a reader of the slave now.
func waitingInput(slave int) int {
	if !readable(slave) { // a poll makes the kernel first deliver the bytes on their way
		return 0
	}
	return countInput(slave)
}

// countInput is waitingInput of a slave that can be read.
func countInput(slave int) int {
	n, err := unix.IoctlGetInt(slave, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return max(1, n) // a line end that is not part of the line counts as one byte
}

// flushMaster is for kernels before 4.13. One call drops the flip buffer, the other the line
// discipline's queue.
func (t *terminal) flushMaster() error {
	if err := unix.IoctlSetInt(t.master, unix.TCFLSH, unix.TCOFLUSH); err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	now, err := unix.IoctlGetTermios(t.master, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	if err := unix.IoctlSetTermios(t.master, unix.TCSETSF, now); err != nil {
		return fmt.Errorf("flush input: %w", err)
	}
	return nil
}

// CountUnread returns how many bytes of its input the program could read now, 0 if the kernel does
// not tell. A line that the kernel edits (canonical mode) does not count before its end. It may be
// called on any goroutine while the master is open.
func (t *terminal) CountUnread() int {
	slave, err := t.openSlave()
	if err != nil {
		return 0
	}
	defer unix.Close(slave)
	return waitingInput(slave)
}

// openSlave opens the program's side of its terminal, by TIOCGPTPEER (Linux 4.13). The caller must
// close it again at once: an open one would hide the end of the program's output.
func (t *terminal) openSlave() (int, error) {
	// Without O_NOCTTY a proxy that leads a session without a terminal would take the program's for
	// its own.
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(t.master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return -1, errno
	}
	return int(slave), nil
}
