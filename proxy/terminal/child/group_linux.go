package child

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// GroupLeader looks at /proc: a few system calls, and one for each descriptor of the group's other
// processes, if there are any. ok is false when the leader is gone or another user's. It may be
// called from any goroutine until Close.
func (c *Child) GroupLeader() (l GroupLeader, ok bool) {
	l.Group = c.ForegroundGroup()
	if l.Group == 0 {
		return l, false
	}
	dir := "/proc/" + strconv.Itoa(l.Group)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return l, false
	}
	l.Exe = exe
	text, err := procPart(dir+"/cmdline", maxArgs)
	if err != nil || len(text) == 0 || len(text) == maxArgs { // a longer one is not known
		return l, false
	}
	l.Args = arguments(text)
	var line unix.Stat_t
	if unix.Stat(c.slave, &line) != nil {
		return l, false
	}
	for p := range foreground(c.pid, l.Group, new(Blocked)) {
		if p.line = &line; p.pid != l.Group && p.holdsTerminal() {
			l.Crowd = true
			break
		}
	}
	return l, true
}

// holdsTerminal reports whether the process has the terminal open. It says yes if the kernel does
// not tell.
func (p *process) holdsTerminal() bool {
	fds, err := os.ReadDir(p.dir + "/fd")
	if os.IsNotExist(err) {
		return false // it has ended
	}
	if err != nil {
		return true
	}
	for _, fd := range fds {
		if n, err := strconv.ParseUint(fd.Name(), 10, 31); err == nil && p.isTerminal(n) {
			return true
		}
	}
	return false
}
