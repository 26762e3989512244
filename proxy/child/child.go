// Package child is the program in its PTY: starting it, its size, its signals, its exit status, and the master side as
// non-blocking reads and writes. It knows nothing of users and agents.
package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// ErrAgain says that a read or write would have had to wait.
var ErrAgain = errors.New("child: not ready")

// Config says what to start.
type Config struct {
	Path       string   // as the user typed it: a name to look up in PATH, or a path
	Args       []string // without the program's own name
	Dir        string   // "" is the present one
	Env        []string // complete; nil is the present one
	Cols, Rows int      // first size of the terminal, in cells
	// Termios are the first line settings, nil for the kernel's: a user's own stty settings go on inside.
	Termios *unix.Termios
	// Quiet starts the line with ECHO off: what comes from a pipe should not be printed back.
	Quiet bool
	// Stopped is called, from Wait, each time the program was stopped by a signal; nil if nobody wants to know.
	Stopped func()
	// Hurry, when it is closed, lets Terminate and Sweep come to their last signal at once; nil never is.
	Hurry <-chan struct{}
}

// StartError says why a program could not be started, with the exit status a shell would give: 127 not found, 126 not
// executable, 125 everything else.
type StartError struct {
	Status int
	Say    string
	Hint   string
}

// Error implements error.
func (e *StartError) Error() string { return e.Say }

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit code, 128+n for a signal
	Signal string // name such as "SIGTERM", "" if it exited by itself
}

// Child is a running program and the master side of its PTY. Read belongs to one goroutine, Write and FlushInput to one;
// Resize, Foreground and the signals may come from any until Close.
type Child struct {
	pid     int
	master  int
	slave   string
	stopped func()
	hurry   <-chan struct{}
}

// Start opens a PTY, sets its size and line settings, and starts the program on it as the leader of a new session whose
// controlling terminal it is. The error is a *StartError.
func Start(c Config) (*Child, error) {
	path, err := find(c.Path)
	if err != nil {
		return nil, err
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		return nil, &StartError{Status: 125, Say: "open a PTY: " + err.Error(), Hint: "are all pseudo-terminals in use? see /proc/sys/kernel/pty/max"}
	}
	defer tty.Close()
	defer ptmx.Close()
	master, err := take(ptmx)
	if err != nil {
		return nil, &StartError{Status: 125, Say: "open a PTY: " + err.Error()}
	}
	child := &Child{master: master, slave: tty.Name(), stopped: c.Stopped, hurry: c.Hurry}
	if err := child.prepare(c); err != nil {
		_ = unix.Close(master)
		return nil, &StartError{Status: 125, Say: "prepare the PTY: " + err.Error()}
	}
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: c.Env,
		Stdin: tty, Stdout: tty, Stderr: tty,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
	}
	if err := cmd.Start(); err != nil {
		_ = unix.Close(master)
		return nil, refusal(c.Path, err)
	}
	child.pid = cmd.Process.Pid
	_ = cmd.Process.Release() // package os knows no stops, so that Wait does without it
	return child, nil
}

// find resolves the program as a shell would.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) { // a PATH with "." in it is the user's own wish
		return path, nil
	}
	return "", refusal(name, err)
}

// refusal words the failure to start name.
func refusal(name string, err error) *StartError {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &StartError{Status: 127, Say: name + ": command not found", Hint: "is it installed, and in your PATH?"}
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{Status: 127, Say: name + ": no such file or directory"}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EISDIR):
		return &StartError{Status: 126, Say: name + ": permission denied", Hint: "is it a program, with its executable bit set?"}
	case errors.Is(err, unix.ENOEXEC):
		return &StartError{Status: 126, Say: name + ": not a program this system can run", Hint: "a script needs a first line such as #!/bin/sh"}
	}
	return &StartError{Status: 126, Say: fmt.Sprintf("start %s: %v", name, err)}
}

// take makes the master ours: a non-blocking descriptor outside of the Go runtime's files, because an *os.File turns
// blocking behind our back at the first call of its Fd method, and then neither a deadline nor Close wakes a write.
func take(ptmx *os.File) (int, error) {
	conn, err := ptmx.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	cerr := conn.Control(func(raw uintptr) {
		fd, err = unix.FcntlInt(raw, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err = errors.Join(cerr, err); err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (c *Child) prepare(conf Config) error {
	if err := c.Resize(conf.Cols, conf.Rows); err != nil {
		return err
	}
	settings := conf.Termios
	if settings == nil && !conf.Quiet {
		return nil
	}
	if settings == nil {
		now, err := unix.IoctlGetTermios(c.master, ioctlGetTermios)
		if err != nil {
			return fmt.Errorf("line settings: %w", err)
		}
		settings = now
	}
	if conf.Quiet {
		quiet := *settings
		quiet.Lflag &^= unix.ECHO
		settings = &quiet
	}
	if err := unix.IoctlSetTermios(c.master, ioctlSetTermios, settings); err != nil {
		return fmt.Errorf("line settings: %w", err)
	}
	return nil
}

// Pid is the program's process id, which is also its session's and its first process group's.
func (c *Child) Pid() int { return c.pid }

// Descriptor is the master's, to be polled.
func (c *Child) Descriptor() int { return c.master }

// Read reads what the program wrote: at least one byte, or ErrAgain, or an error when the last process that had the
// terminal open is gone (EIO on Linux).
func (c *Child) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(c.master, p)
		switch {
		case err == nil && n == 0:
			return 0, unix.EIO // other systems say end of file
		case err == nil:
			return n, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return 0, ErrAgain
		default:
			return 0, err
		}
	}
}

// Write hands the program what its terminal takes now and returns how much that was; ErrAgain when it takes nothing.
func (c *Child) Write(p []byte) (int, error) {
	for {
		n, err := unix.Write(c.master, p)
		switch {
		case err == nil && n > 0:
			return n, nil
		case err == nil, errors.Is(err, unix.EAGAIN):
			return 0, ErrAgain
		case errors.Is(err, unix.EINTR):
		default:
			return 0, err
		}
	}
}

// Resize tells the program's terminal its size in cells; the kernel signals SIGWINCH to the foreground group.
func (c *Child) Resize(cols, rows int) error {
	ws := &unix.Winsize{Col: uint16(cols), Row: uint16(rows)}
	if err := unix.IoctlSetWinsize(c.master, unix.TIOCSWINSZ, ws); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	return nil
}

// EndOfFile is what ends the input of a program that reads lines: the line's VEOF character, usually ^D. It is nothing
// while the program reads in raw mode.
func (c *Child) EndOfFile() []byte {
	now, err := unix.IoctlGetTermios(c.master, ioctlGetTermios)
	if err != nil || now.Lflag&unix.ICANON == 0 {
		return nil
	}
	return []byte{now.Cc[unix.VEOF]}
}

// Wait waits for the program's end. It must be called once.
func (c *Child) Wait() Exit {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(c.Pid(), &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // somebody else waited for it: its status is lost
			return Exit{Code: 125}
		case status.Stopped():
			if c.stopped != nil {
				c.stopped()
			}
		case status.Signaled():
			return Exit{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal())}
		default:
			return Exit{Code: status.ExitStatus()}
		}
	}
}

// Close closes the master: what still has the terminal open is hung up on. No Read, Write or poll may be running.
func (c *Child) Close() {
	_ = unix.Close(c.master)
}
