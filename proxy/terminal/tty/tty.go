// Package tty is the user's terminal: raw mode and its end, the size, and readiness, by poll(2)
// together with a wake pipe. It must not depend on the program that runs, or on the network.
package tty

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"terminalproxy/proxy/terminal/nonblock"
)

// ErrAgain is returned for a read or write that would have to wait. It is the system's own error.
// Wait with a [Poller].
var ErrAgain error = unix.EAGAIN

// Unlock is RM for KAM (ECMA-48 7.2.7): it unlocks a keyboard that a program or another process has
// locked.
const Unlock = "\x1b[2l"

// Terminal is the pair of descriptors of a user's terminal. One goroutine may read and one may
// write.
type Terminal struct {
	in, out       int
	inTTY, outTTY bool
	write         func(fd int, p []byte) (int, error) // of the screen
	own           []int                               // descriptors that Close closes
	saved         *term.State
	raw           *unix.Termios   // what EnterRawMode has set
	absent        *absentTerminal // nil for a user's terminal
	left          left
	pollers       []*Poller
}

// Open returns the terminal of the user's standard input and output. It reopens each terminal among
// them, to make it non-blocking without changing the open file description that the user's shell
// keeps using.
func Open(in, out *os.File) (*Terminal, error) {
	t := &Terminal{write: unix.Write}
	var err error
	if t.in, t.inTTY, err = t.openOwn(in, unix.O_RDONLY); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if t.out, t.outTTY, err = t.openOwn(out, unix.O_WRONLY); err != nil {
		t.Close()
		return nil, fmt.Errorf("standard output: %w", err)
	}
	return t, nil
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) (isTTY bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) { isTTY = term.IsTerminal(int(fd)) })
	return isTTY
}

// FindTerminal returns the terminal that this process belongs to, or the first terminal among its
// files, or nil. The caller closes it with shut.
func FindTerminal(files ...*os.File) (terminal *os.File, shut func()) {
	if own, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
		return own, func() { _ = own.Close() }
	}
	for _, f := range files {
		if f != nil && IsTerminal(f) {
			return f, func() {}
		}
	}
	return nil, func() {}
}

// PointAtNull makes the descriptor of f refer to /dev/null. If f was a pipe, its other end then
// sees the end of the file as soon as the program closes its copy.
func PointAtNull(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("blank: %w", err)
	}
	nowhere, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("blank: %w", err)
	}
	defer unix.Close(nowhere)
	if cerr := conn.Control(func(fd uintptr) {
		err = duplicateDescriptor(nowhere, int(fd))
	}); cerr != nil {
		return fmt.Errorf("blank: %w", cerr)
	}
	return err
}

// openOwn returns a new descriptor for f: a non-blocking one of the same terminal, if f is a
// terminal that can be opened again, otherwise a duplicate that blocks as f does.
func (t *Terminal) openOwn(f *os.File, access int) (fd int, isTTY bool, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, false, err
	}
	fd = -1
	cerr := conn.Control(func(raw uintptr) {
		isTTY = term.IsTerminal(int(raw))
		if isTTY {
			if fd = reopen(int(raw), access); fd >= 0 {
				if access == unix.O_WRONLY && strings.HasPrefix(ttyName(fd), "/dev/pts/") {
					t.write = nonblock.Write // a console draws while it is written to
				}
				return
			}
		}
		fd, err = unix.FcntlInt(raw, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err = errors.Join(cerr, err); err != nil {
		return -1, false, err
	}
	t.own = append(t.own, fd)
	return fd, isTTY, nil
}

// reopen opens the terminal behind fd again, non-blocking. It returns -1 if the terminal cannot be
// opened by name (another user's terminal after su, a container without its devpts), or if the name
// now means another device.
func reopen(fd, access int) int {
	name := ttyName(fd)
	if name == "" {
		return -1
	}
	again, err := unix.Open(name, access|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	var old, reopened unix.Stat_t
	if unix.Fstat(fd, &old) != nil || unix.Fstat(again, &reopened) != nil ||
		old.Rdev != reopened.Rdev {
		_ = unix.Close(again)
		return -1
	}
	return again
}

// HasKeyboard reports whether there is a terminal to read from.
func (t *Terminal) HasKeyboard() bool { return t.inTTY && !t.IsLeft() }

// HasScreen reports whether standard output is a terminal, or a person watches an absent one.
func (t *Terminal) HasScreen() bool {
	return t.outTTY && !t.IsLeft() || t.absent != nil && t.absent.watched.Load()
}

// Size returns the size of the screen in cells. Without a screen it asks the keyboard's terminal,
// as `proxy less f | tee log` still has it.
func (t *Terminal) Size() (cols, rows int, err error) {
	if t.absent != nil {
		cols, rows = t.absent.size.size()
		return cols, rows, nil
	}
	if t.IsLeft() {
		cols, rows = t.left.size.size()
		return cols, rows, nil
	}
	for _, fd := range []int{t.out, t.in} {
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil && ws.Col > 0 && ws.Row > 0 {
			return int(ws.Col), int(ws.Row), nil
		}
	}
	return 0, 0, errors.New("neither standard input nor standard output is a terminal with a size")
}

// PixelSize returns the size of the screen in pixels, 0 if the terminal does not report it.
func (t *Terminal) PixelSize() (width, height int) {
	for _, fd := range []int{t.out, t.in} {
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil && ws.Col > 0 && ws.Row > 0 {
			return int(ws.Xpixel), int(ws.Ypixel)
		}
	}
	return 0, 0
}

// CellSize returns the size of a cell of the screen in pixels, 0 if the terminal does not report
// it.
func (t *Terminal) CellSize() (width, height int) {
	cols, rows, err := t.Size()
	if err != nil || cols == 0 || rows == 0 {
		return 0, 0
	}
	width, height = t.PixelSize()
	return width / cols, height / rows
}

// Termios returns the settings of the keyboard's terminal, or nil without a keyboard: a program in
// a PTY starts with them.
func (t *Terminal) Termios() *unix.Termios {
	if !t.HasKeyboard() {
		return nil
	}
	got, _ := unix.IoctlGetTermios(t.in, ioctlGetTermios) // nil with an error
	return got
}

// TranslatesNewlines reports whether the screen's terminal itself makes a new line of each line
// feed (termios(3), OPOST and ONLCR).
func (t *Terminal) TranslatesNewlines() bool {
	now, err := unix.IoctlGetTermios(t.out, ioctlGetTermios)
	return err == nil && now.Oflag&newLines == newLines
}

const newLines = unix.OPOST | unix.ONLCR

// SetNewlineTranslation turns that translation of the screen's terminal on or off.
func (t *Terminal) SetNewlineTranslation(on bool) error {
	now, err := unix.IoctlGetTermios(t.out, ioctlGetTermios)
	if err != nil {
		return fmt.Errorf("line settings: %w", err)
	}
	if now.Oflag |= newLines; !on {
		now.Oflag &^= unix.OPOST
	}
	if err := unix.IoctlSetTermios(t.out, ioctlSetTermios, now); err != nil {
		return fmt.Errorf("line settings: %w", err)
	}
	return nil
}

// EnterRawMode switches the keyboard to raw mode (termios cfmakeraw): every byte arrives at once
// and has no special meaning. Without a keyboard EnterRawMode does nothing.
func (t *Terminal) EnterRawMode() error {
	if !t.HasKeyboard() {
		return nil
	}
	saved, err := term.MakeRaw(t.in)
	if err != nil {
		return fmt.Errorf("raw mode: %w", err)
	}
	t.saved, t.raw = saved, t.Termios()
	return nil
}

// RestoreIfUnchanged is Restore if no other process has changed the line settings since
// EnterRawMode. A shell that was faster keeps its own settings.
func (t *Terminal) RestoreIfUnchanged() error {
	if now := t.Termios(); now == nil || t.raw == nil || *now != *t.raw {
		t.ForgetLineSettings()
	}
	return t.Restore()
}

// Restore restores the line settings from before EnterRawMode. It may be called more than once.
func (t *Terminal) Restore() error {
	if t.saved == nil {
		return nil
	}
	if err := term.Restore(t.in, t.saved); err != nil {
		return fmt.Errorf("restore terminal: %w", err)
	}
	t.saved = nil
	return nil
}

// Read reads what was typed, at most len(p) bytes. It returns ErrAgain if there are no bytes, and
// 0, nil at the end of the input. Without a terminal it may block: wait for readiness first.
func (t *Terminal) Read(p []byte) (int, error) { return retryTransfer(unix.Read, t.in, p) }

// Write writes as much as the screen takes now, and returns how much that was, or ErrAgain if it
// takes nothing.
func (t *Terminal) Write(p []byte) (int, error) {
	if t.absent != nil {
		return t.absent.sendOutput(p)
	}
	return retryTransfer(t.write, t.out, p)
}

// WriteAll writes all of p, waiting up to patience for a screen that does not take output. It is
// for the end of a session, after the goroutine that writes has ended.
func (t *Terminal) WriteAll(p []byte, patience time.Duration) error {
	if t.absent != nil {
		_, err := t.absent.sendOutput(p)
		return err
	}
	end := time.Now().Add(patience)
	for len(p) > 0 {
		n, err := retryTransfer(unix.Write, t.out, p)
		p = p[max(n, 0):]
		switch {
		case err == nil:
		case !errors.Is(err, ErrAgain):
			return err
		default:
			left := time.Until(end)
			if left <= 0 {
				return ErrAgain
			}
			if err := waitReady(t.out, unix.POLLOUT, left); err != nil {
				return err
			}
		}
	}
	return nil
}

// Descriptors returns the descriptors of keyboard and screen, for [NewPoller].
func (t *Terminal) Descriptors() (keyboard, screen int) { return t.in, t.out }

// Poller makes a poller for a descriptor to read and one to write, which Close closes.
func (t *Terminal) Poller(read, write int) (*Poller, error) {
	p, err := NewPoller(read, write)
	if err == nil {
		t.pollers = append(t.pollers, p)
	}
	return p, err
}

// Close closes the descriptors that Open made, and the pollers. No poll may be running.
func (t *Terminal) Close() {
	for _, p := range t.pollers {
		p.Close()
	}
	for _, fd := range t.own {
		_ = unix.Close(fd)
	}
	t.own = nil
}

// retryTransfer reads or writes, and repeats it after a signal.
func retryTransfer(call func(int, []byte) (int, error), fd int, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, unix.EINTR):
		default:
			return 0, err
		}
	}
}
