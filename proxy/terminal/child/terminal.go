package child

import (
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/nonblock"
)

// terminal is the master side of the program's PTY: bytes, size, line settings, and the group in
// its foreground.
type terminal struct {
	master int
	slave  string
	stat   atomic.Pointer[unix.Stat_t] // of slave, once it is known
	files  procFiles
	spell  atomic.Uint64 // counts the looks that found raw mode
	halted atomic.Bool   // a key has stopped the output, see IsOutputStopped
}

func (t *terminal) preparePTY(conf Config) error {
	if err := t.Resize(conf.Cols, conf.Rows, conf.Width, conf.Height); err != nil {
		return err
	}
	if conf.Termios == nil {
		return nil
	}
	if err := unix.IoctlSetTermios(t.master, ioctlSetTermios, conf.Termios); err != nil {
		return fmt.Errorf("line settings: %w", err)
	}
	return nil
}

// Descriptor returns the master's descriptor, for polling.
func (t *terminal) Descriptor() int { return t.master }

// Read reads the program's output: at least one byte, or ErrAgain, or an error once no process has
// the terminal open (EIO on Linux).
func (t *terminal) Read(p []byte) (int, error) {
	for {
		n, err := nonblock.Read(t.master, p)
		switch {
		case err == nil && n == 0:
			return 0, unix.EIO // other systems report the end of the file
		case err == nil:
			return n, nil
		case errors.Is(err, unix.EINTR):
		default:
			return 0, err
		}
	}
}

// HasOutput reports whether there is unread output of the program. The poll makes Linux first
// deliver the bytes on their way.
func (t *terminal) HasOutput() bool { return readable(t.master) }

func readable(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	pollNow(fds)
	return fds[0].Revents&unix.POLLIN != 0
}

// pollNow polls the descriptors without waiting.
func pollNow(fds []unix.PollFd) {
	for {
		if _, err := unix.Poll(fds, 0); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Write writes as much as the program's terminal takes now, and returns how much that was, or
// ErrAgain if it takes nothing.
func (t *terminal) Write(p []byte) (int, error) {
	for {
		n, err := unix.Write(t.master, p)
		switch {
		case err == nil && n > 0:
			t.followFlow(p[:n])
			return n, nil
		case err == nil, errors.Is(err, unix.EAGAIN):
			return 0, ErrAgain
		case errors.Is(err, unix.EINTR):
		default:
			return 0, err
		}
	}
}

// Resize sets the size of the program's terminal in cells and in pixels, 0 if unknown; the kernel
// signals a change of either to the foreground group (SIGWINCH).
func (t *terminal) Resize(cols, rows, width, height int) error {
	ws := &unix.Winsize{
		Col: uint16(cols), Row: uint16(rows), Xpixel: uint16(width), Ypixel: uint16(height),
	}
	if err := unix.IoctlSetWinsize(t.master, unix.TIOCSWINSZ, ws); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	return nil
}
