package child

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The bounds of a look at the foreground group. It ignores processes and threads beyond them.
const (
	maxProcesses = 256
	maxThreads   = 128
)

// BlockedOn looks at /proc, at every thread of every process in the foreground. It takes seven
// system calls for a program with one thread, and three while that has not run since the last look.
// It may be called from any goroutine until Close.
func (c *Child) BlockedOn() (a Blocked, known bool) {
	group := c.ForegroundGroup()
	if group == 0 {
		return a, false
	}
	line, err := c.statSlave()
	if err != nil {
		return Blocked{Group: group}, false
	}
	files := c.files.beginLook(group)
	defer files.end()
	if found, ok := files.confirmStill(group); ok {
		return found, true
	}
	a = Blocked{Group: group, Asleep: true}
	began, now, aged := time.Now(), sinceBoot(), Blocked{Group: group}
	var all, foreground []*process
	for p := range family(files, c.pid, group) {
		all = append(all, p)
		if aged.noteAge(p, now); p.pid == group {
			aged.Leader = p.name
		}
		if !p.isIn(group) {
			continue
		}
		p.line, foreground = line, append(foreground, p)
		if p.addTo(&a); a.Reads {
			break // the other processes make no difference
		}
	}
	if len(foreground) == 0 { // processes of another user may be invisible
		a.Unclear = true
	}
	if !a.Reads && a.PollsTerminal() {
		// Examine a poller again, after the processes that it has started: if one of those has
		// ended since, the poller does not know it yet.
		a = Blocked{Group: group, Asleep: true}
		for _, p := range foreground {
			p.addTo(&a)
		}
	}
	a.Leader, a.Leads, a.Youngest = aged.Leader, aged.Leads, aged.Youngest
	files.still = standstill{}
	if a.Asleep && len(foreground) > 0 {
		files.still = standstill{found: a, at: began, processes: stillProcesses(all, group)}
	}
	return a, true
}

// stillProcesses returns what has to stay the same while a look that found these processes holds.
// It is nil if the kernel does not say enough.
func stillProcesses(all []*process, group int) (still []stillProcess) {
	if len(all) > maxStill {
		return nil
	}
	for _, p := range all {
		unseen := p.isIn(group) && p.call == ""
		if unseen || p.runTime() == 0 || len(p.threads) != 1 {
			return nil
		}
		still = append(still, stillProcess{p.pid, p.runs, p.call})
	}
	return still
}

// process is one process of the foreground, or one that leads to it.
type process struct {
	files   *procFiles
	pid     int
	dir     string // in /proc
	name    string
	state   byte // as proc(5) has it: R, S, D, T, ...
	group   int
	ticks   uint64
	started time.Duration // after the system
	runs    string        // the main thread's schedstat, read first of all
	call    string        // the same thread's syscall, once it was read
	threads []string      // their directories, below dir
	line    *unix.Stat_t  // the terminal
}

// family yields the leader of a process group, wherever it is, and root with its descendants.
func family(files *procFiles, root, group int) iter.Seq[*process] {
	return func(yield func(*process) bool) {
		seen := map[int]bool{}
		next := []int{group, root}
		for len(next) > 0 && len(seen) < maxProcesses {
			pid := next[0]
			next = next[1:]
			if seen[pid] {
				continue
			}
			seen[pid] = true
			p, ok := openProcess(files, pid)
			if !ok {
				continue
			}
			if !yield(p) {
				return
			}
			next = p.appendChildren(next)
		}
	}
}

// isIn reports whether the process belongs to a group, and has not ended.
func (p *process) isIn(group int) bool { return p.group == group && p.state != 'Z' }

// noteAge notes the age of the group's leader, and that of the youngest process after it.
func (a *Blocked) noteAge(p *process, now time.Duration) {
	switch old := max(now-p.started, 1); {
	case p.state == 'Z':
	case p.pid == a.Group:
		a.Leads = old
	case a.Leads > old && (a.Youngest == 0 || a.Youngest > old):
		a.Youngest = old
	}
}

// sinceBoot returns the time on the clock by which the kernel records the start of processes.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// openProcess reads /proc/PID/stat and the list of threads (proc(5)).
func openProcess(files *procFiles, pid int) (p *process, ok bool) {
	// First: what is read later holds while this stays the same.
	runs := files.runsOf(pid)
	name, fields := files.readStat(pid)
	if fields == nil {
		return nil, false
	}
	p = &process{files: files, pid: pid, dir: "/proc/" + strconv.Itoa(pid), name: name, runs: runs}
	p.state = fields[0][0]
	group, err := strconv.Atoi(fields[2])
	p.group = group
	user, _ := strconv.ParseUint(fields[11], 10, 64)
	system, _ := strconv.ParseUint(fields[12], 10, 64)
	p.ticks = user + system
	started, _ := strconv.ParseInt(fields[19], 10, 64)
	p.started = time.Duration(started) * (time.Second / 100) // USER_HZ
	if p.threads = []string{mainThread(pid)}; fields[17] != "1" {
		tasks, _ := listNames(p.dir + "/task")
		p.threads = p.threads[:0]
		for _, thread := range tasks[:min(len(tasks), maxThreads)] {
			p.threads = append(p.threads, "task/"+thread)
		}
	}
	return p, err == nil
}

// appendChildren appends the processes that this one started.
func (p *process) appendChildren(pids []int) []int {
	for _, thread := range p.threads {
		pids = append(pids, p.files.readChildren(p.pid, thread)...)
	}
	return pids
}

// addTo adds the state of the process to a.
func (p *process) addTo(a *Blocked) {
	if p.state != 'S' && p.state != 'I' {
		a.Asleep = false
	}
	if p.state == 'T' || p.state == 't' {
		return // it was stopped, and does nothing with its terminal
	}
	a.Ran += p.ticks
	if lenders[p.name] {
		a.Relay = p.name
	}
	a.Threads += len(p.threads)
	for _, thread := range p.threads {
		a.Ran += p.processorTime(thread)
		switch s := p.whereAsleep(thread); s {
		case inRead:
			a.Reads = true
		case inPoll, inShare, inLoop:
			p.addListener(a, s)
		case inUnknown:
			a.Unclear = true
		case inRun:
			a.Asleep = false
		case elsewhere:
		}
	}
}

// addListener adds to a how a thread polls the terminal.
func (p *process) addListener(a *Blocked, how sleep) {
	switch {
	case relays[p.name]:
		a.Relay = p.name
	case how == inPoll, how == inShare && textEditors[p.name]:
		a.Polls = true
	case how == inShare:
		a.Shares = true
	default:
		a.Loops = true
	}
}

// runTime returns the time that the main thread has spent on a processor, in nanoseconds; 0 if the
// kernel does not count it.
func (p *process) runTime() uint64 { return parseRunTime(p.runs) }

// processorTime is runTime of any thread.
func (p *process) processorTime(thread string) uint64 {
	if thread == mainThread(p.pid) {
		return p.runTime()
	}
	text, _ := p.files.readText(p.pid, thread+runsName)
	return parseRunTime(string(text))
}

func parseRunTime(schedstat string) uint64 {
	first, _, _ := strings.Cut(schedstat, " ")
	n, _ := strconv.ParseUint(first, 10, 64)
	return n
}
