package ws

import (
	"errors"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sending is one system call with its arguments.
type sending struct {
	call    func(fd uintptr)
	head    [maxHead]byte
	parts   [2]unix.Iovec
	message unix.Msghdr
	n       int
	err     error
}

var sendings = sync.Pool{New: func() any {
	s := new(sending)
	s.call = s.sendParts
	return s
}}

// sendNow writes the part of a frame that fits into the socket's buffer, and returns its length. It
// never waits, so it bypasses the Go scheduler, which would prepare for a long call.
func sendNow(raw syscall.RawConn, body []byte) (n int, err error) {
	s, _ := sendings.Get().(*sending)
	head := appendTextHead(s.head[:0], len(body))
	s.parts[0].Base, s.parts[1].Base = unsafe.SliceData(head), unsafe.SliceData(body)
	s.parts[0].SetLen(len(head))
	s.parts[1].SetLen(len(body))
	s.message.Iov = &s.parts[0]
	s.message.SetIovlen(len(s.parts))
	s.n, s.err = 0, nil
	control := raw.Control(s.call)
	n, err = s.n, errors.Join(control, s.err)
	s.parts[1].Base = nil
	sendings.Put(s)
	return n, err
}

func (s *sending) sendParts(fd uintptr) {
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&s.message)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch errno {
		case 0:
			s.n = int(n)
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			s.err = errno
		}
		return
	}
}
