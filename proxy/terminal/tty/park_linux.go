package tty

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// parkFrom is the shortest wait that parks the goroutine. The runtime rounds a time up to whole
// milliseconds, and for a wait that ends at once, parking costs more than ppoll(2).
const parkFrom = 5 * time.Millisecond

// burstFrom is the number of waits of at most burstPause after which events count as a burst, as in
// a flood of output. In a burst the poller waits in ppoll(2), without a time-out of its own:
// parking, or a timer, in each pause costs more than it saves.
const (
	burstFrom  = 4
	burstPause = 200 * time.Microsecond
)

// parking parks a goroutine in the runtime's network poller. A goroutine that waits in ppoll(2)
// keeps its processor until the runtime's monitor thread takes that away, which costs more than all
// the other work for a key.
//
// The descriptors need not be non-blocking, which other processes that share them would notice:
// they are in an epoll set of the poller, and the runtime polls only that set. The set only wakes
// the poller. ppoll(2) then finds the ready descriptors, and first delivers the bytes on their way
// through a terminal.
type parking struct {
	poller *Poller
	file   *os.File // the set
	conn   syscall.RawConn
	set    int    // descriptor of file
	armed  Events // what the set wakes for, besides Woken
	drawn  uint64 // the value of replacements for which armed holds
	timed  bool   // file has a deadline
	short  int    // the number of recent waits of at most burstPause, see countWait

	// look is lookOnce, bound once: it looks for want, and leaves got and err.
	look func(uintptr) bool
	want Events
	got  Events
	err  error
}

// newParking returns nil if the kernel or the runtime refuses.
func newParking(p *Poller) *parking {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	if changeSet(set, unix.EPOLL_CTL_ADD, p.pipe[0], unix.POLLIN) != nil ||
		unix.SetNonblock(set, true) != nil {
		_ = unix.Close(set)
		return nil
	}
	k := &parking{poller: p, set: set, drawn: replacements.Load()}
	k.look = k.lookOnce
	k.file = os.NewFile(uintptr(set), "epoll")
	if k.conn, err = k.file.SyscallConn(); err != nil || k.file.SetReadDeadline(time.Time{}) != nil {
		k.close()
		return nil
	}
	return k
}

// wait is Wait.
func (p *Poller) wait(want Events, timeout time.Duration) (Events, error) {
	if timeout >= 0 && timeout < parkFrom {
		return p.waitInPoll(want, timeout)
	}
	began := time.Now()
	if k := p.parking; k != nil && k.short >= burstFrom {
		got, err := p.waitInPoll(want, timeout)
		for left := timeout; got == 0 && err == nil; { // a signal, or the end
			if timeout >= 0 {
				if left = timeout - time.Since(began); left <= 0 {
					break
				}
			}
			got, err = p.waitInPoll(want, left)
		}
		k.countWait(time.Since(began))
		return got, err
	}
	if !p.prepareParking(want) {
		return p.waitInPoll(want, timeout)
	}
	got, err := p.parking.wait(want, timeout)
	p.parking.countWait(time.Since(began))
	return got, err
}

// countWait adds a wait to short. A single long one ends no burst.
func (k *parking) countWait(took time.Duration) {
	if took > burstPause {
		k.short /= 2
	} else {
		k.short = min(k.short+1, 2*burstFrom)
	}
}

// waitInPoll waits in ppoll(2).
func (p *Poller) waitInPoll(want Events, timeout time.Duration) (Events, error) {
	got, err := p.pollEvents(want, timeout)
	if k := p.parking; k != nil && got&k.armed != 0 {
		// More may follow soon, and each arrival would wake a thread for the set.
		_ = k.changeSet(unix.EPOLL_CTL_DEL, k.armed)
	}
	return got, err
}

func (k *parking) wait(want Events, timeout time.Duration) (Events, error) {
	err := k.setDeadline(timeout)
	if err == nil {
		k.want, k.got, k.err = want, 0, nil
		err = k.conn.Read(k.look)
	}
	switch {
	case err == nil:
		return k.got, k.err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return k.poller.pollEvents(want, 0)
	}
	return 0, fmt.Errorf("poll: %w", err)
}

func (k *parking) lookOnce(uintptr) (done bool) {
	k.got, k.err = k.poller.pollEvents(k.want, 0)
	return k.got != 0 || k.err != nil
}

func (k *parking) setDeadline(timeout time.Duration) error {
	switch {
	case timeout >= 0:
		k.timed = true
		return k.file.SetReadDeadline(time.Now().Add(timeout))
	case k.timed:
		k.timed = false
		return k.file.SetReadDeadline(time.Time{})
	}
	return nil
}

// prepareParking makes the set wake for want and nothing else. It reports false if it cannot: a
// regular file, for example, is always ready and cannot be in such a set.
func (p *Poller) prepareParking(want Events) bool {
	if p.parking != nil && p.parking.drawn != replacements.Load() {
		// The set still has the files that the descriptors meant before, and they cannot be
		// removed.
		p.parking.close()
		p.parking = newParking(p)
	}
	k := p.parking
	if k == nil {
		return false
	}
	want &= Readable | Writable
	return k.changeSet(unix.EPOLL_CTL_DEL, k.armed&^want) == nil &&
		k.changeSet(unix.EPOLL_CTL_ADD, want&^k.armed) == nil
}

// changeSet adds the descriptors of the events to the set, or deletes them (epoll_ctl(2)).
func (k *parking) changeSet(op int, events Events) error {
	for _, one := range k.poller.sides() {
		if events&one.event == 0 {
			continue
		}
		if one.fd >= 0 {
			if err := changeSet(k.set, op, one.fd, one.poll); err != nil {
				return err
			}
		}
		k.armed ^= one.event
	}
	return nil
}

func changeSet(set, op, fd int, events int16) error {
	return unix.EpollCtl(set, op, fd, &unix.EpollEvent{Events: uint32(events)}) //nolint:gosec // a mask
}

func (k *parking) close() {
	if k != nil {
		_ = k.file.Close()
	}
}
