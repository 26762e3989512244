package child

import (
	"time"

	"golang.org/x/sys/unix"
)

// Sweep ends what the program left in its session, after its own end: the same three signals as [Child.Terminate], each
// only while something is left. Processes that made a session of their own are left alone. It returns when nothing is
// left, or after the kill.
func (c *Child) Sweep() { sweep(c.session, hangupPatience, termPatience, c.hurried) }

// Identity tells a program from another one that has its process id later.
type Identity struct {
	Pid int
	// Began is when it began, as the kernel counts (field 22 of /proc/PID/stat), "" where that is not known.
	Began string
}

// Identity is that of the program, or of its session's leader.
func (c *Child) Identity() Identity { return Identity{Pid: c.session, Began: began(c.session)} }

// Finish ends a program and what it left in its session, for a process that is not its parent. It has less patience than
// [Child.Terminate]: nobody waits for the program any more.
func Finish(who Identity) {
	if now := began(who.Pid); now != "" && now != who.Began {
		return // somebody else by now
	}
	sweep(who.Pid, finishPatience, finishPatience, func(unix.Signal) bool { return false })
}

// began is field 22 of /proc/PID/stat.
func began(pid int) string {
	if _, fields := procStat(pid); fields != nil {
		return fields[19]
	}
	return ""
}

// ended reports whether a process is a zombie.
func ended(pid int) bool {
	_, fields := procStat(pid)
	return fields != nil && (fields[0] == "Z" || fields[0] == "X")
}

// sweep ends the processes of a session.
func sweep(sid int, hangup, term time.Duration, hurried func(unix.Signal) bool) {
	for _, step := range []struct {
		signal   unix.Signal
		patience time.Duration
	}{{unix.SIGHUP, hangup}, {unix.SIGTERM, term}, {unix.SIGKILL, killPatience}} {
		members := sessionMembers(sid)
		for _, pid := range members {
			_ = unix.Kill(pid, step.signal)
			_ = unix.Kill(pid, unix.SIGCONT)
		}
		for end := time.Now().Add(step.patience); len(members) > 0 && time.Now().Before(end) && !hurried(step.signal); members = sessionMembers(sid) {
			time.Sleep(sweepEvery)
		}
		if len(members) == 0 {
			return
		}
	}
}

// hurried reports whether there is no time to wait for what sig does. The last signal always gets its time.
func (c *Child) hurried(sig unix.Signal) bool {
	select {
	case <-c.hurry:
		return sig != unix.SIGKILL
	default:
		return false
	}
}
