package child

import (
	"time"

	"golang.org/x/sys/unix"
)

// EndLeftovers ends the processes that the program left in its session when it ended: by the same
// three signals as [Child.Terminate], until no process is left. It does not touch processes that
// made a session of their own. It returns when no process is left, or after the kill.
func (c *Child) EndLeftovers() { sweep(c.session, hangupPatience, termPatience, c.isHurried) }

// Identity distinguishes a program from another one that gets its process id later.
type Identity struct {
	Pid int
	// Began is when it began, as the kernel counts (field 22 of /proc/PID/stat), "" if unknown.
	Began string
}

// Identity returns the identity of the program, or of its session's leader.
func (c *Child) Identity() Identity { return Identity{Pid: c.session, Began: startTime(c.session)} }

// EndProgram ends a program and the processes in its session, for a caller that is not its parent.
// It has less patience than [Child.Terminate], since no session waits for the program.
func EndProgram(target Identity) {
	if now := startTime(target.Pid); now != "" && now != target.Began {
		return // another process has the id now
	}
	sweep(target.Pid, finishPatience, finishPatience, func(unix.Signal) bool { return false })
}

// startTime returns field 22 of /proc/PID/stat.
func startTime(pid int) string {
	if _, fields := procStat(pid); fields != nil {
		return fields[19]
	}
	return ""
}

func isZombie(pid int) bool {
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
		end := time.Now().Add(step.patience)
		for len(members) > 0 && time.Now().Before(end) && !hurried(step.signal) {
			time.Sleep(sweepEvery)
			members = sessionMembers(sid)
		}
		if len(members) == 0 {
			return
		}
	}
}

// isHurried reports whether there is no time to wait for the effect of sig. The last signal always
// gets its time.
func (c *Child) isHurried(sig unix.Signal) bool {
	select {
	case <-c.hurry:
		return sig != unix.SIGKILL
	default:
		return false
	}
}
