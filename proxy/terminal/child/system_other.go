//go:build !linux

package child

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// LineMost is how long a line may be that the kernel collects (canonical mode), in bytes without
// its end: MAX_CANON.
const LineMost = 1023

const (
	ioctlGetTermios = unix.TIOCGETA
	ioctlSetTermios = unix.TIOCSETA
)

// BlockedOn says what the processes in the foreground do with the terminal. Only Linux tells;
// elsewhere known is false, and the group all that there is.
func (c *Child) BlockedOn() (a Blocked, known bool) {
	return Blocked{Group: c.ForegroundGroup()}, false
}

// GroupLeader knows nothing here but the group.
func (c *Child) GroupLeader() (GroupLeader, bool) {
	return GroupLeader{Group: c.ForegroundGroup()}, false
}

// CountUnread returns how many bytes of its input the program could read now and has not; only
// Linux is asked.
func (t *terminal) CountUnread() int { return 0 }

// CountQueued is CountUnread and then HasOutput.
func (t *terminal) CountQueued() (unread int, output bool) { return 0, t.HasOutput() }

// FlushInput drops what was written to the program and not yet read by it. The BSDs keep one queue
// for both sides; the slave is opened by name for as long as the call takes. How much that was is
// only known on Linux.
func (t *terminal) FlushInput() (unread int, err error) {
	slave, err := unix.Open(t.slave, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("flush input: %w", err)
	}
	defer unix.Close(slave)
	if err := unix.IoctlSetPointerInt(slave, unix.TIOCFLUSH, unix.TCIFLUSH); err != nil {
		return 0, fmt.Errorf("flush input: %w", err)
	}
	return 0, nil
}

// WatchEnd is for Linux only.
func WatchEnd(int, int64, func()) (stop func(), ok bool) { return nil, false }
