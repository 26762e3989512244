package tty

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios = unix.TCGETS
	ioctlSetTermios = unix.TCSETS
)

// ttyName returns the path of the terminal behind fd, or "" if it has no name here.
func ttyName(fd int) string {
	name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || len(name) == 0 || name[0] != '/' {
		return ""
	}
	return name
}

// wakePipe makes a pipe that does not block. No program that is started meanwhile inherits it.
func wakePipe(pipe *[2]int) error { return unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK) }

// duplicateDescriptor makes to a descriptor of the same file as from.
func duplicateDescriptor(from, to int) error { return unix.Dup3(from, to, unix.O_CLOEXEC) }

// poll waits with the kernel's resolution: ppoll(2).
func poll(fds []unix.PollFd, timeout time.Duration) (int, error) {
	if timeout < 0 {
		return unix.Ppoll(fds, nil, nil)
	}
	ts := unix.NsecToTimespec(int64(timeout))
	return unix.Ppoll(fds, &ts, nil)
}

// StopSelf stops this process by a signal with its default effect: the shell prints "Stopped" after
// SIGTSTP and another text after SIGSTOP. It returns when the process continues, or just before it
// stops; at once if the kernel discards the signal, because no process could resume this one.
//
// The Go runtime cannot restore the default of a signal that it catches, so this asks the kernel.
// The signal goes to this thread, which stops before it continues.
func StopSelf(sig unix.Signal) {
	if sig == unix.SIGSTOP {
		_ = unix.Kill(os.Getpid(), sig)
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const setSize = 8
	var byDefault, previous [8]uint64 // the kernel's struct sigaction, with room to spare
	_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&byDefault)), uintptr(unsafe.Pointer(&previous)), setSize, 0, 0)
	if errno != 0 {
		return
	}
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&previous)), 0, setSize, 0, 0)
}
