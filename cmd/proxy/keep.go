package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy"
	"terminalproxy/proxy/detached/keep"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/watchdog"
)

// keepsSession reports whether the session should outlive this process's window. The
// configuration's keep is for sessions that can.
func (f *flags) keepsSession() bool { return f.Keep && f.Agent }

// checkKeep refuses --keep without a terminal.
func (f *flags) checkKeep(stdin, stdout *os.File) error {
	if tty.IsTerminal(stdin) && tty.IsTerminal(stdout) {
		return nil
	}
	if f.isPreset("keep") {
		f.Keep = false
		return nil
	}
	return usageError("leave out --keep; gateway run --keep starts a program without a terminal",
		"--keep: standard input or output is not a terminal")
}

// runInFront starts the session in a process of its own, lends it this terminal, and ends with the
// session, or when the user leaves it.
func (f *flags) runInFront(
	args []string, stdin, stdout *os.File, stderr io.Writer, given []int,
) int {
	conn, cmd, err := startBehind(args, given)
	if err != nil {
		return reportFailure(stderr, &proxy.UserError{
			Status: statusFailure,
			Say:    "--keep: " + err.Error(),
			Cause:  err,
		})
	}
	end, err := keep.LendTerminal(conn, stdin, stdout, stderr, terminals.Find(os.Getenv).ForCtrlG())
	switch {
	case err != nil:
		_ = cmd.Process.Kill() // it has no terminal, and runs nothing
		_ = cmd.Wait()
		return reportFailure(stderr, &proxy.UserError{
			Status: statusFailure,
			Say:    "--keep: " + err.Error(),
			Cause:  err,
		})
	case end.Ended:
		f.reportStatus(end.Code)
		return end.Code
	case end.Release != "":
		fmt.Fprint(stderr, end.Message())
		f.reportStatus(0)
		return 0
	case end.Hangup:
		return 128 + int(syscall.SIGHUP)
	}
	return statusOfKilled(cmd, stderr)
}

// statusOfKilled returns the exit status after the session's process ended without a report.
func statusOfKilled(cmd *exec.Cmd, stderr io.Writer) int {
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			fmt.Fprintf(stderr, "proxy: the session's process was ended by %s\n",
				unix.SignalName(status.Signal()))
			return 128 + int(status.Signal())
		}
	}
	return statusFailure
}

// startBehind starts this program again, in a session of its own and without a terminal. It hands
// over the given descriptors, and behind the last one its end of the connection.
func startBehind(args []string, given []int) (*net.UnixConn, *exec.Cmd, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	theirs := os.NewFile(uintptr(pair[1]), "session")
	defer theirs.Close()
	conn, err := connOf(os.NewFile(uintptr(pair[0]), "window"))
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(watchdog.Self(), args...) //nolint:noctx // it must outlive this process
	cmd.Args[0] = keep.Name
	for _, fd := range given {
		const first = 3 // of ExtraFiles
		cmd.ExtraFiles = append(cmd.ExtraFiles, make([]*os.File, fd-first-len(cmd.ExtraFiles))...)
		handed := os.NewFile(uintptr(fd), "given")
		defer handed.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, handed)
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, cmd, nil
}

// connOf makes a connection of a descriptor, which it closes.
func connOf(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("this is not the socket of a window"), conn.Close())
	}
	return unix, nil
}

// acceptWindow takes the window of the process in front.
func acceptWindow(fd int) (*keep.Window, *keep.Keep, error) {
	conn, err := connOf(os.NewFile(uintptr(fd), "window"))
	if err != nil {
		return nil, nil, err
	}
	w, err := keep.AcceptWindow(conn)
	if err != nil {
		return nil, nil, err
	}
	dir, err := userdirs.Runtime()
	if err != nil {
		w.ShowMessage("proxy: --keep: " + err.Error() + "\n")
		w.EndWithStatus(statusFailure)
		return nil, nil, err
	}
	return w, keep.NewKeep(dir, w), nil
}

// runKept runs a session behind a window. given ends with the connection to the process in front.
func runKept(args []string, given []int) int {
	if len(given) == 0 {
		return statusFailure
	}
	window := len(given) - 1
	w, keep, err := acceptWindow(given[window])
	if err != nil {
		return statusFailure
	}
	code := run(context.Background(), args, w.In, w.Out, keep, given[:window], keep)
	keep.EndWithStatus(code)
	return code
}
