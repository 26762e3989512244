package child

import "time"

// maxStill bounds the processes of a [standstill], because to confirm it takes one or two system
// calls for each.
const maxStill = 16

// standstill is what a look found of a foreground in which every process was asleep. It holds until
// one of the processes runs. A process that has not run waits for the same event, has the same
// descriptors and children, and executes the same program. The count of its runs comes with that of
// its only thread (Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat).
type standstill struct {
	found     Blocked
	at        time.Time    // of the look
	leader    *GroupLeader // nil if unknown
	processes []stillProcess
}

// stillProcess holds what the kernel said of a process with one thread.
type stillProcess struct {
	pid int
	// runs is its schedstat, from before anything else was read of it.
	runs string
	// call is the system call in which it sleeps, "" for a process outside of the foreground.
	call string
}

// confirmStill returns what the last look found if no process has run since.
func (f *procFiles) confirmStill(group int) (found Blocked, ok bool) {
	if len(f.still.processes) == 0 || f.still.found.Group != group {
		return Blocked{}, false
	}
	for _, p := range f.still.processes {
		// In this order: a process that was woken and has not run yet is no longer in its call.
		same := p.call == "" || f.textOf(p.pid, callName) == p.call
		if same {
			f.latest = stillProcess{pid: p.pid, runs: f.textOf(p.pid, runsName)}
		}
		if !same || f.latest.runs != p.runs {
			f.still = standstill{}
			return Blocked{}, false
		}
	}
	found = f.still.found
	return found.agedBy(time.Since(f.still.at)), true
}

// runsOf returns a process's schedstat. In the look that ended a standstill it was read before.
func (f *procFiles) runsOf(pid int) string {
	if f.latest.pid == pid {
		return f.latest.runs
	}
	return f.textOf(pid, runsName)
}

// textOf returns the begin of a file of a process's main thread, "" if it cannot be read.
func (f *procFiles) textOf(pid int, name string) string {
	text, err := f.readText(pid, mainThread(pid)+name)
	if err != nil {
		return ""
	}
	return string(text)
}

// agedBy returns a some time later.
func (a Blocked) agedBy(later time.Duration) Blocked {
	if a.Leads > 0 {
		a.Leads += later
	}
	if a.Youngest > 0 {
		a.Youngest += later
	}
	return a
}
