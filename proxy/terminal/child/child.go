// Package child is the program in its PTY: starting it, its size, its signals, its exit status, and
// the master side as non-blocking reads and writes. It knows nothing of users and agents.
package child

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrAgain is returned for a read or write that would have to wait. It is the system's own error.
var ErrAgain error = unix.EAGAIN

// Config describes the program to start.
type Config struct {
	Path       string   // as the user typed it: a name to look up in PATH, or a path
	Args       []string // without the program's own name
	Dir        string   // "" is the present one
	Env        []string // complete; nil is the present one
	Cols, Rows int      // first size of the terminal, in cells
	// Width and Height are that size in pixels, 0 if unknown.
	Width, Height int
	// Termios are the first line settings, nil for the kernel's: a user's own stty settings stay in
	// effect inside.
	Termios *unix.Termios
	// Streams are the program's standard input, output and error, in this order, if they are not
	// its terminal: nil, or a missing one, stands for the terminal. Start uses duplicates.
	Streams []*os.File
	// Given are descriptors of this process above 2 that the program gets under the same numbers.
	Given []int
	// Behind starts the program in the background of its terminal, as after [Child.Background]. It
	// needs a leader.
	Behind bool
	// Stopped is called, from Wait, each time the program was stopped by a signal. It may be nil.
	Stopped func(unix.Signal)
	// JobControl means that the caller resumes the program when it stops. The program then has a
	// leader of its session beside it (see leader_linux.go), and stops at Ctrl+Z as without the
	// proxy. Otherwise, and on systems without such a leader, it leads its session itself, and the
	// kernel discards all signals that would stop it except SIGSTOP. A program that starts in the
	// background has a leader, too.
	JobControl bool
	// Hurry, when it is closed, makes Terminate and EndLeftovers send their last signal at once;
	// nil never does.
	Hurry <-chan struct{}
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit code, 128+n for a signal
	Signal string // name such as "SIGTERM", "" if it exited by itself
}

// Child is a running program and its terminal. One goroutine calls Read, and one calls Write and
// FlushInput. Resize, Foreground and the methods that send signals may be called on any goroutine
// until Close.
type Child struct {
	terminal
	pid     int
	session int     // process id of its session's leader: the program itself, or leader
	leader  *leader // nil where the program is the leader
	stopped func(unix.Signal)
	hurry   <-chan struct{}
}

// Start opens a PTY, sets its size and line settings, and starts the program on it in a new
// session, whose controlling terminal it is, as the leader of a process group in its foreground.
// The error is a *StartError.
func Start(c Config) (*Child, error) {
	path, err := findProgram(c.Path, c.Dir)
	if err != nil {
		return nil, err
	}
	p, err := openPTY()
	if err != nil {
		return nil, resourceError(125, "open a PTY", err)
	}
	defer unix.Close(p.slave)
	child := &Child{stopped: c.Stopped, hurry: c.Hurry}
	child.master, child.slave = p.master, p.name
	if err := child.preparePTY(c); err != nil {
		_ = unix.Close(p.master)
		return nil, resourceError(125, "prepare the PTY", err)
	}
	if err := child.start(c, path, p.slave); err != nil {
		_ = unix.Close(p.master)
		return nil, startError(c.Path, path, c.Dir, err)
	}
	return child, nil
}

// launch describes completely what a leader starts. Its descriptors stay open meanwhile.
type launch struct {
	path      string
	args, env []string
	dir       string
	stdio     [3]uintptr
	given     []int
	tty       int
	behind    bool
}

// start starts the program on its terminal.
func (c *Child) start(conf Config, path string, tty int) error {
	cmd := &exec.Cmd{
		Path: path,
		Args: append([]string{conf.Path}, conf.Args...),
		Dir:  conf.Dir,
		Env:  conf.Env,
	}
	stdio, closeStdio, err := openStreams(conf.Streams, tty)
	if err != nil {
		return err
	}
	defer closeStdio()
	if conf.JobControl || conf.Behind {
		led, program, err := startLeader(launch{
			path: path, args: cmd.Args, env: cmd.Environ(), dir: conf.Dir,
			stdio: stdio, given: conf.Given, tty: tty, behind: conf.Behind,
		})
		if !errors.Is(err, errors.ErrUnsupported) {
			if err == nil {
				c.leader, c.session, c.pid = led, led.pid, program
			}
			return err
		}
	}
	return c.startAlone(path, cmd, withGiven(stdio, conf.Given), tty)
}

// startAlone starts the program as the leader of its session. Package os would try, before its first
// process, whether the system has descriptors for processes, with a process of its own.
func (c *Child) startAlone(path string, cmd *exec.Cmd, files []uintptr, tty int) error {
	controlling := slices.Index(files, uintptr(tty))
	if controlling < 0 {
		// The program inherits one more descriptor of its terminal. The system offers no other way.
		files, controlling = append(files, uintptr(tty)), len(files)
	}
	pid, err := syscall.ForkExec(path, cmd.Args, &syscall.ProcAttr{
		Dir: cmd.Dir, Env: cmd.Environ(), Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: controlling},
	})
	if errors.Is(err, unix.EBADF) { // the error of dup3 for the first descriptor beyond the limit
		err = unix.EMFILE
	}
	if err != nil {
		return &os.PathError{Op: "start", Path: path, Err: err}
	}
	c.pid, c.session = pid, pid
	return nil
}

// Pid returns the program's process id, which is also the id of its first process group.
func (c *Child) Pid() int { return c.pid }

// HasLeader reports whether the program has a leader beside it, so that it stops as without the
// proxy.
func (c *Child) HasLeader() bool { return c.leader != nil }

// Wait waits for the program's end. It must be called once.
func (c *Child) Wait() Exit {
	for {
		status, err := c.waitForChange()
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, errLost): // the killed leader cannot report the program's end
			sweep(c.session, finishPatience, finishPatience, c.isHurried)
			return Exit{Code: 128 + int(unix.SIGKILL), Signal: unix.SignalName(unix.SIGKILL)}
		case err != nil: // another caller waited for it: its status is lost
			return Exit{Code: 125}
		case status.Stopped():
			if c.stopped != nil {
				c.stopped(status.StopSignal())
			}
		case status.Signaled():
			return Exit{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal())}
		default:
			return Exit{Code: status.ExitStatus()}
		}
	}
}

// errLost means that the leader ended before the program's end was known.
var errLost = errors.New("child: its leader is gone")

// waitForChange waits until the program stops or ends.
func (c *Child) waitForChange() (status unix.WaitStatus, err error) {
	if c.leader == nil {
		_, err = unix.Wait4(c.pid, &status, unix.WUNTRACED, nil)
		return status, err //nolint:wrapcheck // Wait alone looks at it
	}
	status, ok := c.leader.nextState()
	if !ok || !status.Stopped() {
		// its end hangs up the terminal, as that of a program without a leader does
		c.leader.waitForEnd()
	}
	if !ok {
		return 0, errLost
	}
	return status, nil
}

// Close closes the master, which hangs up the terminal of processes that still have it open. No
// Read, Write or poll may be running.
func (c *Child) Close() {
	_ = unix.Close(c.master)
	c.files.close()
	if c.leader != nil {
		c.leader.close()
	}
}
