package watchdog

import (
	"errors"
	"os/signal"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The watchdog's descriptors.
const (
	pipeFD     = 0
	screenFD   = 1
	memoryFD   = 3
	keyboardFD = 4
)

// screenPatience is how long a screen may take to accept the exit sequence.
const screenPatience = 2 * time.Second

// Called reports whether the program was started as a watchdog.
func Called(args []string) bool { return len(args) == 1 && args[0] == Name }

// Run is the watchdog: it waits for the proxy's end and restores the terminal. It returns the exit status.
func Run() int {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGPIPE,
		unix.SIGUSR1, unix.SIGUSR2)
	shared, err := unix.Mmap(memoryFD, 0, int(unsafe.Sizeof(page{})), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 1
	}
	awaitEnd()
	(*page)(unsafe.Pointer(&shared[0])).execute()
	return 0
}

// awaitEnd returns when nobody has the pipe's other end any more. Nothing is ever written to it.
func awaitEnd() {
	var b [1]byte
	for {
		n, err := unix.Read(pipeFD, b[:])
		if n <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// execute does what the proxy told it: the screen first, whose modes the line settings do not touch.
func (p *page) execute() {
	if exit := &p.exits[p.which.Load()&1]; p.screen.Load() == 1 {
		writeAll(exit.text[:min(exit.n, MaxExit)])
	}
	if p.lines.Load() == 0 {
		return
	}
	// A shell that was faster has its own settings in force.
	if now, err := unix.IoctlGetTermios(keyboardFD, ioctlGetTermios); err == nil && isAlike(*now, p.raw) {
		saved := p.saved
		_ = unix.IoctlSetTermios(keyboardFD, ioctlSetTermiosDrain, &saved)
	}
}

// writeAll writes to the screen, which may not block, and may be one that takes no output now.
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
			_, _ = unix.Poll([]unix.PollFd{{Fd: screenFD, Events: unix.POLLOUT}}, int(left/time.Millisecond)+1)
		}
	}
}

// isAlike compares line settings but for what becomes of output, which follows the program while the proxy runs.
func isAlike(a, b unix.Termios) bool {
	a.Oflag = b.Oflag
	return a == b
}
