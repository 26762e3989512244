package nonblock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read is read(2).
func Read(fd int, p []byte) (int, error) { return call(unix.SYS_READ, fd, p) }

// Write is write(2).
func Write(fd int, p []byte) (int, error) { return call(unix.SYS_WRITE, fd, p) }

func call(number uintptr, fd int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall(
		number, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)),
	)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
