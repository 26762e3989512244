//go:build !linux

package child

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// LineMost is the length of the longest line that the kernel collects (canonical mode), in bytes
// without its end: MAX_CANON.
const LineMost = 1023

const (
	ioctlGetTermios = unix.TIOCGETA
	ioctlSetTermios = unix.TIOCSETA
)

// BlockedOn returns only the foreground group here: known is false, since only Linux reports more.
func (c *Child) BlockedOn() (a Blocked, known bool) {
	return Blocked{Group: c.ForegroundGroup()}, false
}

// GroupLeader returns only the group here.
func (c *Child) GroupLeader() (GroupLeader, bool) {
	return GroupLeader{Group: c.ForegroundGroup()}, false
}

// CountUnread is 0 here: it is implemented only on Linux.
func (t *terminal) CountUnread() int { return 0 }

// CountQueued is CountUnread and then HasOutput.
func (t *terminal) CountQueued() (unread int, output bool) { return 0, t.HasOutput() }

// FlushInput drops what was written to the program and not yet read by it. The BSDs keep one queue
// for both sides; the slave is opened by name for as long as the call takes. Only Linux reports how
// much that was.
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
