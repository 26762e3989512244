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

// BlockedOn looks at /proc, at every thread of every process in the foreground. It takes eight
// system calls for a program with one thread, and may be called from any goroutine until Close.
func (c *Child) BlockedOn() (a Blocked, known bool) {
	a.Group = c.ForegroundGroup()
	if a.Group == 0 {
		return a, false
	}
	line, err := c.statSlave()
	if err != nil {
		return a, false
	}
	a.Asleep = true
	if settings, err := unix.IoctlGetTermios(c.master, unix.TCGETS); err == nil {
		a.Canonical = settings.Lflag&unix.ICANON != 0
	}
	files := c.files.beginLook(a.Group)
	defer files.end()
	aged := a
	var all []*process
	for p := range foreground(files, c.pid, a.Group, &aged) {
		p.line, all = line, append(all, p)
		if p.addTo(&a); a.Reads {
			return a.withAges(aged), true // what the others do makes no difference
		}
	}
	if len(all) == 0 { // those of another user may be invisible
		a.Unclear = true
	}
	if a.PollsTerminal() {
		// Who listens is looked at after what it started: of a child that has ended since it has
		// yet to hear.
		a = Blocked{Group: a.Group, Canonical: a.Canonical, Asleep: true}
		for _, p := range all {
			p.addTo(&a)
		}
	}
	return a.withAges(aged), true
}

// withAges returns a with the ages of another look.
func (a Blocked) withAges(of Blocked) Blocked {
	a.Leads, a.Youngest = of.Leads, of.Youngest
	return a
}

// process is one process of the foreground group.
type process struct {
	files   *procFiles
	pid     int
	dir     string // in /proc
	name    string
	state   byte // as proc(5) has it: R, S, D, T, ...
	ticks   uint64
	started time.Duration // after the system
	threads []string      // their directories, below dir
	line    *unix.Stat_t  // the terminal
}

// foreground yields the processes of a group among root and its descendants, and first the group's
// leader, wherever it is. It notes their ages in a, unless that is nil.
func foreground(files *procFiles, root, group int, a *Blocked) iter.Seq[*process] {
	return func(yield func(*process) bool) {
		seen, now := map[int]bool{}, time.Duration(0)
		if a != nil {
			now = sinceBoot()
		}
		next := []int{group, root}
		for len(next) > 0 && len(seen) < maxProcesses {
			pid := next[0]
			next = next[1:]
			if seen[pid] {
				continue
			}
			seen[pid] = true
			p, of, ok := openProcess(files, pid)
			if !ok {
				continue
			}
			if a != nil && p.state != 'Z' {
				a.noteAge(p, now)
			}
			if of == group && p.state != 'Z' && !yield(p) {
				return
			}
			next = p.appendChildren(next)
		}
	}
}

// noteAge notes the age of the group's leader, and that of the youngest process after it.
func (a *Blocked) noteAge(p *process, now time.Duration) {
	switch old := max(now-p.started, 1); {
	case p.pid == a.Group:
		a.Leads = old
	case a.Leads > old && (a.Youngest == 0 || a.Youngest > old):
		a.Youngest = old
	}
}

// sinceBoot returns the time on the clock by which the kernel says when processes were started.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// openProcess reads /proc/PID/stat and the list of threads (proc(5)).
func openProcess(files *procFiles, pid int) (p *process, group int, ok bool) {
	name, fields := files.readStat(pid)
	if fields == nil {
		return nil, 0, false
	}
	p = &process{files: files, pid: pid, dir: "/proc/" + strconv.Itoa(pid), name: name}
	p.state = fields[0][0]
	group, err := strconv.Atoi(fields[2])
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
	return p, group, err == nil
}

// appendChildren appends the processes that this one started.
func (p *process) appendChildren(pids []int) []int {
	for _, thread := range p.threads {
		pids = append(pids, p.files.readChildren(p.pid, thread)...)
	}
	return pids
}

// addTo adds to a what the process does.
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

// processorTime returns the time that a thread has spent on a processor, in nanoseconds; 0 if the
// kernel does not count it.
func (p *process) processorTime(thread string) uint64 {
	stat, err := p.files.readText(p.pid, thread+"/schedstat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(stat), " ")
	n, _ := strconv.ParseUint(first, 10, 64)
	return n
}
