package watchdog

import (
	"errors"
	"os/signal"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Descriptors of the watchdog process.
const (
	pipeFD     = 0
	screenFD   = 1
	memoryFD   = 3
	keyboardFD = 4
)

// screenPatience bounds the write of the exit sequence to a slow screen.
const screenPatience = 2 * time.Second

// IsCalled reports whether the program was started as a watchdog.
func IsCalled(args []string) bool { return len(args) == 1 && args[0] == Name }

// Run waits for the proxy's end and restores the terminal. It returns the exit status.
func Run() int {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN,
		unix.SIGTTOU, unix.SIGPIPE, unix.SIGUSR1, unix.SIGUSR2)
	size := int(unsafe.Sizeof(page{}))
	shared, err := unix.Mmap(memoryFD, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 1
	}
	awaitEnd()
	(*page)(unsafe.Pointer(&shared[0])).restoreTerminal()
	return 0
}

// awaitEnd returns when the other end of the pipe is closed. The pipe carries no data.
func awaitEnd() {
	var b [1]byte
	for {
		n, err := unix.Read(pipeFD, b[:])
		if n <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// restoreTerminal writes the exit sequence first: line settings do not affect the screen modes.
func (p *page) restoreTerminal() {
	if exit := &p.exits[p.which.Load()&1]; p.screen.Load() == 1 {
		writeAll(exit.text[:min(exit.n, MaxExit)])
	}
	if p.lines.Load() == 0 {
		return
	}
	// A shell that was faster has set its own.
	now, err := unix.IoctlGetTermios(keyboardFD, ioctlGetTermios)
	if err == nil && isAlike(*now, p.raw) {
		saved := p.saved
		_ = unix.IoctlSetTermios(keyboardFD, ioctlSetTermiosDrain, &saved)
	}
}

// writeAll writes to the screen, which may be non-blocking and refuse output for a moment.
func writeAll(b []byte) {
	for end := time.Now().Add(screenPatience); len(b) > 0; {
		n, err := unix.Write(screenFD, b)
		b = b[max(n, 0):]
		switch {
		case err == nil, errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EAGAIN):
			return
		default:
			left := time.Until(end)
			if left <= 0 {
				return
			}
			writable := []unix.PollFd{{Fd: screenFD, Events: unix.POLLOUT}}
			_, _ = unix.Poll(writable, int(left/time.Millisecond)+1)
		}
	}
}

// isAlike compares line settings without the output flags, which follow the program while the proxy
// runs.
func isAlike(a, b unix.Termios) bool {
	a.Oflag = b.Oflag
	return a == b
}
