package tty

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Events is the set of events that a [Poller] waits for, or has found.
type Events uint8

// The events of a poller.
const (
	Readable Events = 1 << iota // the read side has bytes, or has ended
	Writable                    // the write side takes bytes, or has ended
	Woken                       // Wake was called; always waited for
)

// Poller waits until one descriptor can be read, another written, or Wake is called: a blocked
// reader is woken, not abandoned. One goroutine waits; Wake may be called from any.
type Poller struct {
	read, write int
	pipe        [2]int
	woken       atomic.Bool
	closing     sync.Mutex // Wake and Close
}

// NewPoller makes a poller for a descriptor to read and one to write. It does not take them over.
func NewPoller(read, write int) (*Poller, error) {
	p := &Poller{read: read, write: write}
	if err := wakePipe(&p.pipe); err != nil {
		return nil, fmt.Errorf("wake pipe: %w", err)
	}
	return p, nil
}

// Wait waits for the wanted events, at most for timeout; a negative timeout means no limit, and
// zero does not wait. It returns no event if time is up or a signal came.
//
// It waits in ppoll(2). Go's network poller saves some system calls, but where a wake-up is dear it
// delays each key: the runtime's monitor thread wakes first.
func (p *Poller) Wait(want Events, timeout time.Duration) (Events, error) {
	fds := [3]unix.PollFd{
		{Fd: int32(p.pipe[0]), Events: unix.POLLIN},
		{Fd: -1, Events: unix.POLLIN},
		{Fd: -1, Events: unix.POLLOUT},
	}
	if want&Readable != 0 {
		fds[1].Fd = int32(p.read)
	}
	if want&Writable != 0 {
		fds[2].Fd = int32(p.write)
	}
	if _, err := poll(fds[:], timeout); err != nil {
		if errors.Is(err, unix.EINTR) {
			return 0, nil
		}
		return 0, fmt.Errorf("poll: %w", err)
	}
	var got Events
	if fds[0].Revents != 0 {
		got |= Woken
		p.drainPipe()
	}
	if fds[1].Revents != 0 {
		got |= Readable
	}
	if fds[2].Revents != 0 {
		got |= Writable
	}
	return got, nil
}

// Wake makes the present or the next Wait return Woken. It never blocks.
func (p *Poller) Wake() {
	if !p.woken.CompareAndSwap(false, true) {
		return
	}
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.pipe[1] >= 0 {
		_, _ = unix.Write(p.pipe[1], []byte{0})
	}
}

// drainPipe reads the byte of the pipe, of which the flag allows only one, and only then clears the
// flag. In the other order it could read the byte of a Wake in between and leave the flag set, and
// then no later Wake would have an effect. A Wake that finds the flag still set belongs to this
// Wait.
func (p *Poller) drainPipe() {
	var b [1]byte
	_, _ = unix.Read(p.pipe[0], b[:])
	p.woken.Store(false)
}

// Close releases the pipe. No Wait may be running; a Wake that follows does nothing. In a process
// with many sessions, its byte could otherwise go to another file that has the descriptor by then.
func (p *Poller) Close() {
	p.closing.Lock()
	defer p.closing.Unlock()
	for _, fd := range p.pipe {
		if fd > 0 {
			_ = unix.Close(fd)
		}
	}
	p.pipe = [2]int{-1, -1}
}

func waitReady(fd int, events int16, timeout time.Duration) error {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	if _, err := poll(fds, timeout); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("poll: %w", err)
	}
	return nil
}
