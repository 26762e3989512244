package child

import (
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Patience of Terminate: between the hangup and SIGTERM, and between that and SIGKILL.
const (
	hangupPatience = 2 * time.Second
	termPatience   = 3 * time.Second
	killPatience   = time.Second
	finishPatience = 500 * time.Millisecond
	sweepEvery     = 20 * time.Millisecond
)

// Terminate ends the program as a closing terminal does: SIGHUP and SIGCONT to the foreground group
// and the program's own, two seconds later SIGTERM, three seconds later SIGKILL to what is left of
// the program's session. It returns when ended is closed (the caller's [Child.Wait] returned), or
// after the kill. Processes that made a session of their own are left alone: they asked for that.
func (c *Child) Terminate(ended <-chan struct{}) {
	for i, step := range []struct {
		signals  []unix.Signal
		patience time.Duration
	}{
		{[]unix.Signal{unix.SIGHUP, unix.SIGCONT}, hangupPatience},
		{[]unix.Signal{unix.SIGTERM, unix.SIGCONT}, termPatience},
	} {
		if i > 0 && isClosed(ended) {
			return
		}
		for _, sig := range step.signals {
			c.signalGroups(sig)
		}
		select {
		case <-ended:
			return
		case <-c.hurry:
		case <-time.After(step.patience):
		}
	}
	if !isClosed(ended) {
		c.Kill()
	}
}

// isClosed reports whether ended is closed. The program's end is known then: its process id, and
// the descriptor of its terminal, may soon be another's.
func isClosed(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// Kill kills the program and all processes of its session at once. A leader ends by itself with the
// program, after it has reported that.
func (c *Child) Kill() {
	for _, pid := range sessionMembers(c.session) {
		if c.leader == nil || pid != c.leader.pid {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	_ = unix.Kill(-c.Pid(), unix.SIGKILL)
	if c.leader != nil {
		_ = unix.Kill(c.leader.pid, unix.SIGCONT) // it may have been stopped
	}
}

// Stop stops the program and its foreground job if the program has no leader. It uses SIGSTOP:
// their process groups are orphaned, since no process in their session can resume them, and the
// kernel discards SIGTSTP for such groups.
func (c *Child) Stop() { c.signalGroups(unix.SIGSTOP) }

// Signal sends the program and its group a signal, as the keys Ctrl+Z and Ctrl+C of a terminal do.
// A signal that stops the program needs a leader.
func (c *Child) Signal(sig unix.Signal) { _ = unix.Kill(-c.pid, sig) }

// TakeForeground takes the terminal's foreground from the program, if it has a leader, as a shell
// does that continues a job in the background: a process stops if it reads the terminal or changes
// its settings. ReturnForeground gives it back.
func (c *Child) TakeForeground() {
	if c.leader != nil {
		c.leader.sendOrder(orderBack)
	}
}

// ReturnForeground gives the terminal back to the process group from which TakeForeground took it.
func (c *Child) ReturnForeground() {
	if c.leader != nil {
		c.leader.sendOrder(orderFront)
	}
}

// Continue resumes processes that were stopped, by Stop or otherwise.
func (c *Child) Continue() { c.signalGroups(unix.SIGCONT) }

// IsStopped reports whether the program is stopped now (proc(5), stat). It is also true if the
// system does not tell.
func (c *Child) IsStopped() bool {
	_, fields := procStat(c.Pid())
	return fields == nil || fields[0] == "T"
}

// signalGroups signals the foreground process group and the program's own group.
func (c *Child) signalGroups(sig unix.Signal) {
	if group := c.ForegroundGroup(); group > 1 && group != c.Pid() {
		_ = unix.Kill(-group, sig)
	}
	_ = unix.Kill(-c.Pid(), sig)
}

// ForegroundGroup returns the process group that has the terminal now, or 0 if it is unknown.
func (t *terminal) ForegroundGroup() int {
	group, err := unix.IoctlGetInt(t.master, unix.TIOCGPGRP)
	if err != nil || group <= 0 {
		return 0
	}
	return group
}

// IsGroupAlive reports whether a process group has a process.
func (c *Child) IsGroupAlive(group int) bool { return !errors.Is(unix.Kill(-group, 0), unix.ESRCH) }

// Executable identifies the file that the leader of a process group runs now, which changes if it
// executes another one. It is "" if the leader has ended, or if the system does not tell. All files
// that run as another user have one identity.
func Executable(group int) string {
	_, file := executableOf(group)
	return file
}

// Foreground returns the name of the program whose process group has the terminal now, "" if it is
// unknown.
func (t *terminal) Foreground() string {
	if group := t.ForegroundGroup(); group > 0 {
		files := t.files.beginLook(group)
		defer files.end()
		name, _ := files.readText(group, "comm")
		return string(name)
	}
	return ""
}

// sessionMembers lists the processes of session sid, without zombies. Without /proc the list is
// empty, and the caller's signal to the group must suffice.
func sessionMembers(sid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var members []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if got, err := unix.Getsid(pid); err == nil && got == sid && !isZombie(pid) {
			members = append(members, pid)
		}
	}
	return members
}
