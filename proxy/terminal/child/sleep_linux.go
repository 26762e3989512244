package child

import (
	"encoding/binary"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sleep says in which kind of call a thread sleeps.
type sleep uint8

const (
	elsewhere sleep = iota // asleep, but not in a call about the terminal
	inRead                 // in a read of the terminal
	inPoll                 // in a poll of the terminal alone, for a second or longer
	inShare                // the same, of the terminal and others
	inLoop                 // in a poll of the terminal that ends sooner by itself
	inRun                  // not asleep
	inUnknown              // the kernel does not say
)

// The bounds of the look-up for one call.
const (
	maxPolled   = 256     // descriptors
	maxSelected = 1 << 16 // highest descriptor of a select
	maxNested   = 3       // epoll descriptors inside one another
)

// call is the kind of a system call.
type call uint8

const (
	otherCall  call = iota
	readCall        // of the descriptor in its first argument
	pollCall        // of a table and its length, for milliseconds
	ppollCall       // the same, with a pointer to the time
	selectCall      // of the number of descriptors and the sets, with a pointer to the time
	epollCall       // of the descriptor in its first argument, for milliseconds
	epoll2Call      // the same, with a pointer to the time
	hiddenCall      // of a queue shared with the kernel: its waits are not seen
	restarted       // any that was interrupted by a stop, with the arguments that it had
)

// whereAsleep returns where a thread sleeps, from the number and the arguments of its system call
// (proc(5), /proc/PID/syscall).
func (p *process) whereAsleep(thread string) sleep {
	text, err := p.files.readText(p.pid, thread+callName)
	if err != nil {
		return inUnknown
	}
	if thread == mainThread(p.pid) {
		p.call = string(text)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 9 {
		// "running", or asleep outside of a call with a number of -1: a page fault, a stop
		if len(fields) == 1 {
			return inRun
		}
		return elsewhere
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return inUnknown
	}
	var args [7]uint64 // six, and the stack pointer
	for i := range args {
		args[i], _ = strconv.ParseUint(strings.TrimPrefix(fields[i+1], "0x"), 16, 64)
	}
	if len(calls) == 0 || args[6]>>32 == 0 { // the calls of a 32 bit program have other numbers
		return inUnknown
	}
	which := calls[number]
	if which == restarted {
		which = p.interruptedCall(thread)
	}
	return p.inCall(which, args)
}

// interruptedCall returns the call that continues after a stop: of the calls that do, only poll is
// about descriptors.
func (p *process) interruptedCall(thread string) call {
	where, err := p.files.readText(p.pid, thread+"/wchan")
	if err == nil && strings.Contains(string(where), "poll") {
		return pollCall
	}
	return otherCall
}

func (p *process) inCall(which call, args [7]uint64) sleep {
	known := true
	var on polled
	switch which {
	case readCall:
		if p.isTerminal(args[0]) {
			return inRead
		}
	case pollCall, ppollCall:
		known = p.inTable(args[0], args[1], &on)
	case selectCall:
		known = p.inSet(args[0], args[1], &on)
	case epollCall, epoll2Call:
		known = p.inEpoll(args[0], maxNested, &on)
	case hiddenCall:
		return inUnknown
	case otherCall, restarted:
	}
	switch {
	case !on.terminal && !known:
		return inUnknown
	case !on.terminal:
		return elsewhere
	case p.endsSoon(which, args):
		return inLoop
	case on.others:
		return inShare
	}
	return inPoll
}

// polled is what a poll wants to read.
type polled struct{ terminal, others bool }

// endsSoon reports whether a poll ends by itself within a second, by its arguments. A time that
// cannot be read is short.
func (p *process) endsSoon(which call, args [7]uint64) bool {
	switch which {
	case pollCall:
		return isShort(args[2])
	case epollCall:
		return isShort(args[3])
	case ppollCall:
		return p.isShortAt(args[2])
	case epoll2Call:
		return p.isShortAt(args[3])
	case selectCall:
		return p.isShortAt(args[4])
	case otherCall, readCall, hiddenCall, restarted:
	}
	return false
}

// isShort reports whether an argument is less than a second: an int of milliseconds. A negative one
// means no limit.
func isShort(arg uint64) bool {
	ms := int32(arg) //nolint:gosec // the lower half is the argument
	return ms >= 0 && ms < 1000
}

// isShortAt is isShort for the time at an address, 0 for no limit: a timespec or a timeval, which
// begin with the seconds.
func (p *process) isShortAt(at uint64) bool {
	var seconds [8]byte
	return at != 0 && (!p.readMemory(seconds[:], at) || binary.NativeEndian.Uint64(seconds[:]) == 0)
}

// isTerminal reports whether a descriptor of the process is the program's terminal, by its own name
// or as /dev/tty.
func (p *process) isTerminal(fd uint64) bool {
	if fd > 1<<31 {
		return false
	}
	var at unix.Stat_t
	if unix.Stat(p.dir+"/fd/"+strconv.FormatUint(fd, 10), &at) != nil || at.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	// /dev/tty is the controlling terminal: the program's, for a process in its foreground
	const ttyMajor, ttyMinor = 5, 0
	return at.Ino == p.line.Ino && at.Dev == p.line.Dev || at.Rdev == unix.Mkdev(ttyMajor, ttyMinor)
}

// inTable looks at the table of a poll (poll(2)): entries of a descriptor and the events wanted.
// Like inSet and inEpoll, it returns false if the table cannot be read.
func (p *process) inTable(at, length uint64, on *polled) bool {
	const (
		entry      = 8
		pollNormal = 0x40 // POLLRDNORM, the same as POLLIN in all but name
	)
	table := make([]byte, min(length, maxPolled)*entry)
	if !p.readMemory(table, at) {
		return false
	}
	for ; len(table) > 0; table = table[entry:] {
		fd := int32(binary.NativeEndian.Uint32(table))
		events := binary.NativeEndian.Uint16(table[4:])
		if fd >= 0 && events&(unix.POLLIN|pollNormal) != 0 {
			p.waitsOn(uint64(fd), maxNested, on)
		}
	}
	return true
}

// inSet looks at the set of a select whose descriptors are to be read (select(2)): one bit each.
func (p *process) inSet(count, at uint64, on *polled) bool {
	if at == 0 || count == 0 {
		return true
	}
	set := make([]byte, (min(count, maxSelected)+63)/64*8)
	if !p.readMemory(set, at) {
		return false
	}
	looked := 0
	for word := 0; word < len(set)/8; word++ {
		for left := binary.NativeEndian.Uint64(set[word*8:]); left != 0 && looked < maxPolled; left &= left - 1 {
			fd := uint64(word*64 + bits.TrailingZeros64(left))
			looked++
			if fd < count {
				p.waitsOn(fd, maxNested, on)
			}
		}
	}
	return true
}

// inEpoll examines the descriptors in an epoll (proc(5), fdinfo): lines of "tfd: FD events: MASK
// ...".
func (p *process) inEpoll(fd uint64, depth int, on *polled) bool {
	info, err := p.files.readList(p.pid, "fdinfo/"+strconv.FormatUint(fd, 10))
	if err != nil {
		return false
	}
	looked := 0
	for line := range strings.Lines(string(info)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] != "tfd:" || looked == maxPolled {
			continue
		}
		looked++
		target, err := strconv.ParseUint(fields[1], 10, 31)
		events, wrong := strconv.ParseUint(fields[3], 16, 64)
		if err == nil && wrong == nil && events&unix.EPOLLIN != 0 {
			p.waitsOn(target, depth-1, on)
		}
	}
	return true
}

// waitsOn notes whether a descriptor is the terminal, something else, or an epoll with either.
func (p *process) waitsOn(fd uint64, depth int, on *polled) {
	if p.isTerminal(fd) {
		on.terminal = true
		return
	}
	if depth > 0 {
		name, err := os.Readlink(p.dir + "/fd/" + strconv.FormatUint(fd, 10))
		if err == nil && name == "anon_inode:[eventpoll]" && p.inEpoll(fd, depth, on) {
			return
		}
	}
	on.others = true
}

// readMemory reads memory of the process (process_vm_readv(2)) and reports whether it could.
func (p *process) readMemory(into []byte, at uint64) bool {
	if len(into) == 0 {
		return true
	}
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
	return err == nil && n == len(into)
}
