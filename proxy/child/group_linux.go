package child

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// GroupLeader is the process that leads the foreground process group.
type GroupLeader struct {
	Group int
	Exe   string   // path of its executable
	Args  []string // its arguments, the first is its own name
	// Crowd: another process of the group has the terminal open.
	Crowd bool
}

// maxArgs bounds what is read of a command line, in bytes.
const maxArgs = 4 << 10

// GroupLeader looks at /proc: a few system calls, and one for each descriptor of the group's other processes, of which there
// are none as a rule. ok is false when the leader is gone or another user's. It may be called from any goroutine until Close.
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
	if l.Args, ok = arguments(dir + "/cmdline"); !ok {
		return l, false
	}
	var line unix.Stat_t
	if unix.Stat(c.slave, &line) != nil {
		return l, false
	}
	for p := range foreground(c.pid, l.Group) {
		if p.line = &line; p.pid != l.Group && p.holds() {
			l.Crowd = true
			break
		}
	}
	return l, true
}

// arguments reads a command line (proc(5)). One that is longer than maxArgs is not known.
func arguments(path string) ([]string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	room := make([]byte, maxArgs)
	n, err := f.Read(room)
	if err != nil || n == len(room) {
		return nil, false
	}
	return strings.Split(strings.TrimRight(string(room[:n]), "\x00"), "\x00"), true
}

// holds reports whether the process has the terminal open. What the kernel does not tell counts as yes.
func (p *process) holds() bool {
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
