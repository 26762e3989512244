//go:build linux && (amd64 || arm64)

package child

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The code of the leader's process. Every function here is nosplit, makes raw system calls, and is
// ignored by the race detector, as syscall.forkAndExecInChild1 is; see leader_linux.go.

// spawn is clone(2) with a stack for the new process, on which it calls the code at run, a function
// without arguments that does not return. It returns the process id, or the negative number of an
// error.
func spawn(flags, stack, run uintptr) int

// handed is the brief of the leader that is being started. The functions that spawn calls get it
// here, because how arguments are passed depends on the version of Go.
var handed *brief

// entry returns the address of a function's code.
func entry(run func()) uintptr { return **(**uintptr)(unsafe.Pointer(&run)) }

// address returns the address of a part of a brief.
//
//go:nosplit
//go:norace
//go:nocheckptr
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// kernel makes a system call.
//
//go:nosplit
//go:norace
func kernel(number, a, b, c uintptr) (uintptr, syscall.Errno) {
	// 8 is the size of a signal set, for the calls that take one.
	r, _, errno := syscall.RawSyscall6(number, a, b, c, 8, 0, 0)
	return r, errno
}

// lead runs the leader: it starts the program and reports its changes of state.
//
//go:nosplit
//go:norace
//go:nocheckptr
func lead() {
	b := handed
	forgetHandlers(b)
	_, _ = kernel(unix.SYS_PRCTL, unix.PR_SET_NAME, address(&b.name), 0)
	_, _ = kernel(unix.SYS_SETSID, 0, 0, 0)
	if _, errno := kernel(unix.SYS_IOCTL, b.tty, unix.TIOCSCTTY, 0); errno != 0 {
		b.errno = errno
	} else {
		pid := spawn(unix.CLONE_VM|unix.CLONE_VFORK|uintptr(unix.SIGCHLD), b.second, b.execute)
		if pid < 0 {
			b.errno = syscall.Errno(-pid)
		}
		b.program = uintptr(pid)
		if b.behind {
			b.group = int32(pid)
		}
	}
	if b.errno != 0 {
		say(b, sayRefused, int32(b.errno))
		_, _ = kernel(unix.SYS_EXIT_GROUP, 1, 0, 0)
	}
	// Above all the master of the PTY: when its last descriptor is closed, the program learns that
	// its terminal is gone.
	closeRange(0, b.pipe-1)
	closeRange(b.pipe+1, 1<<31-1)
	say(b, sayStarted, int32(b.program))
	for {
		signal, errno := kernel(unix.SYS_RT_SIGTIMEDWAIT, address(&b.all), address(&b.info), 0)
		if errno != 0 {
			continue
		}
		switch signal {
		case uintptr(unix.SIGCHLD):
			collect(b)
		case uintptr(unix.SIGHUP):
			// the kernel informs only the leader of a session that its terminal is gone
			_, _ = kernel(unix.SYS_KILL, b.program, uintptr(unix.SIGHUP), 0)
			_, _ = kernel(unix.SYS_KILL, b.program, uintptr(unix.SIGCONT), 0)
		case uintptr(orderBack), uintptr(orderFront):
			front(b, signal == uintptr(orderFront))
			say(b, sayReturned, 0)
		case uintptr(unix.SIGTERM), uintptr(unix.SIGINT), uintptr(unix.SIGQUIT), uintptr(unix.SIGUSR1), uintptr(unix.SIGTSTP):
			if parent, _ := kernel(unix.SYS_GETPPID, 0, 0, 0); parent == b.proxy {
				// the sender meant $PPID
				_, _ = kernel(unix.SYS_KILL, b.proxy, signal, 0)
			}
		}
	}
}

// execute becomes the program.
//
//go:nosplit
//go:norace
//go:nocheckptr
func execute() {
	b := handed
	_, _ = kernel(unix.SYS_SETPGID, 0, 0, 0)
	pid, _ := kernel(unix.SYS_GETPID, 0, 0, 0)
	b.pgrp = int32(pid)
	errno := syscall.Errno(0)
	if !b.behind {
		_, errno = kernel(unix.SYS_IOCTL, b.tty, unix.TIOCSPGRP, address(&b.pgrp))
	}
	if errno == 0 && b.dir != 0 {
		_, errno = kernel(unix.SYS_CHDIR, b.dir, 0, 0)
	}
	for fd := uintptr(0); fd < 3 && errno == 0; fd++ {
		_, errno = kernel(unix.SYS_DUP3, b.stdio[fd], fd, 0)
	}
	for i := uintptr(0); i < b.givenLen && i < maxGiven; i++ {
		_, _ = kernel(unix.SYS_FCNTL, uintptr(b.given[i]), unix.F_SETFD, 0)
	}
	if errno == 0 {
		_, _ = kernel(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, address(&b.mask), 0)
		_, errno = kernel(unix.SYS_EXECVE, b.path, b.argv, b.envv)
	}
	b.errno = errno
	_, _ = kernel(unix.SYS_EXIT_GROUP, 127, 0, 0)
}

// forgetHandlers restores the default of the signals that the proxy catches, as executing a program
// does. Ignored signals stay ignored, as for nohup.
//
//go:nosplit
//go:norace
//go:nocheckptr
func forgetHandlers(b *brief) {
	const byDefault, ignored = 0, 1
	for signal := uintptr(1); signal <= allSignals; signal++ {
		_, errno := kernel(unix.SYS_RT_SIGACTION, signal, 0, address(&b.action))
		if handler := b.action[0]; errno == 0 && handler != byDefault && handler != ignored {
			b.action = [8]uint64{}
			_, _ = kernel(unix.SYS_RT_SIGACTION, signal, address(&b.action), 0)
		}
	}
}

// collect reports the program's changes of state, and ends with the program.
//
//go:nosplit
//go:norace
//go:nocheckptr
func collect(b *brief) {
	for {
		pid, errno := wait(b)
		if errno != 0 || pid == 0 {
			return
		}
		if pid != b.program {
			continue
		}
		say(b, sayChanged, int32(b.status))
		if status := syscall.WaitStatus(b.status); status&0xff != 0x7f { // it was not stopped
			_, _ = kernel(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}

//go:nosplit
//go:norace
//go:nocheckptr
func wait(b *brief) (uintptr, syscall.Errno) {
	const anybody = ^uintptr(0)
	pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, anybody, address(&b.status), unix.WNOHANG|unix.WUNTRACED, 0, 0, 0)
	return pid, errno
}

// front gives the terminal's foreground to the leader's own group, or back to the group that had
// it.
//
//go:nosplit
//go:norace
//go:nocheckptr
func front(b *brief, back bool) {
	tty, errno := uintptr(0), syscall.Errno(0)
	const here = ^uintptr(99) // AT_FDCWD
	if tty, errno = kernel(unix.SYS_OPENAT, here, address(&b.devTTY), unix.O_RDWR); errno != 0 {
		return
	}
	switch {
	case back && b.group != 0:
		b.pgrp, b.group = b.group, 0
		if _, errno = kernel(unix.SYS_IOCTL, tty, unix.TIOCSPGRP, address(&b.pgrp)); errno != 0 {
			// it has ended
			b.pgrp = int32(b.program)
			_, _ = kernel(unix.SYS_IOCTL, tty, unix.TIOCSPGRP, address(&b.pgrp))
		}
	case !back && b.group == 0:
		_, _ = kernel(unix.SYS_IOCTL, tty, unix.TIOCGPGRP, address(&b.group))
		self, _ := kernel(unix.SYS_GETPID, 0, 0, 0)
		b.pgrp = int32(self)
		_, _ = kernel(unix.SYS_IOCTL, tty, unix.TIOCSPGRP, address(&b.pgrp))
	}
	_, _ = kernel(unix.SYS_CLOSE, tty, 0, 0)
}

//go:nosplit
//go:norace
//go:nocheckptr
func say(b *brief, word, value int32) {
	b.said[0], b.said[1] = word, value
	_, _ = kernel(unix.SYS_WRITE, b.pipe, address(&b.said), unsafe.Sizeof(b.said))
}

// closeRange closes descriptors; a kernel before 5.9 has no call for that.
//
//go:nosplit
//go:norace
func closeRange(first, last uintptr) {
	if _, errno := kernel(unix.SYS_CLOSE_RANGE, first, last, 0); errno == 0 {
		return
	}
	const most = 1 << 16
	for ; first <= min(last, most); first++ {
		_, _ = kernel(unix.SYS_CLOSE, first, 0, 0)
	}
}
