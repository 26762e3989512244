package child

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// GroupLeader looks at /proc: a few system calls, and one for each descriptor of the group's other
// processes, if there are any. It takes three calls while no process has run since the last look of
// BlockedOn. ok is false when the leader is gone or another user's. It may be called from any
// goroutine until Close.
func (c *Child) GroupLeader() (l GroupLeader, ok bool) {
	group := c.ForegroundGroup()
	if group == 0 {
		return GroupLeader{}, false
	}
	files := c.files.beginLook(group)
	defer files.end()
	found, still := files.confirmStill(group)
	if still && files.still.leader != nil {
		return *files.still.leader, true
	}
	l, ok = c.readLeader(files, group)
	if ok && still && !found.Reads { // a look that finds a read leaves out other processes
		files.still.leader = &l
	}
	return l, ok
}

// readLeader is GroupLeader without what an earlier look found.
func (c *Child) readLeader(files *procFiles, group int) (l GroupLeader, ok bool) {
	l.Group = group
	exe, err := os.Readlink("/proc/" + strconv.Itoa(group) + "/exe")
	if err != nil {
		return l, false
	}
	l.Exe = exe
	text, err := files.readPart(group, "cmdline", maxArgs)
	if err != nil || len(text) == 0 || len(text) == maxArgs { // a longer one is unknown
		return l, false
	}
	l.Args = arguments(text)
	line, err := c.statSlave()
	if err != nil {
		return l, false
	}
	for p := range family(files, c.pid, group) {
		if p.line = line; p.pid != group && p.isIn(group) && p.holdsTerminal() {
			l.Crowd = true
			break
		}
	}
	return l, true
}

// holdsTerminal reports whether the process has the terminal open. It is true if the kernel does
// not tell.
func (p *process) holdsTerminal() bool {
	fds, err := listNames(p.dir + "/fd")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return false // it has ended
	}
	if err != nil {
		return true
	}
	for _, fd := range fds {
		if n, err := strconv.ParseUint(fd, 10, 31); err == nil && p.isTerminal(n) {
			return true
		}
	}
	return false
}

// statSlave returns the result of stat(2) for the slave. Its name stays the same file while the
// master is open.
func (t *terminal) statSlave() (*unix.Stat_t, error) {
	if known := t.stat.Load(); known != nil {
		return known, nil
	}
	at := new(unix.Stat_t)
	if err := unix.Stat(t.slave, at); err != nil {
		return nil, err //nolint:wrapcheck // the caller asks only whether it is known
	}
	t.stat.Store(at)
	return at, nil
}
