package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"terminalproxy/proxy/terminal/watchdog"
)

// keptName is the argv[0] of a process that hosts a program in no terminal's session, by which this
// program knows that it is one.
const keptName = "gateway-kept"

// keepRunning runs this command line anew in a process that outlives this one's window, and returns
// when the program runs there.
func (a *app) keepRunning(args []string) error {
	cmd := exec.Command(watchdog.Self(), args...) //nolint:noctx // it outlives this process
	cmd.Args[0] = keptName
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	errw, theirErr, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirOut.Close())
	}
	defer errw.Close()
	cmd.ExtraFiles = []*os.File{theirOut, theirErr}
	err = cmd.Start()
	_, _ = theirOut.Close(), theirErr.Close()
	if err != nil {
		return fail(statusRefused, "run --keep: %w", err)
	}
	var copying sync.WaitGroup // until it lets go of both, or has ended
	copying.Go(func() { _, _ = io.Copy(a.err, errw) })
	said, err := io.Copy(a.out, out)
	copying.Wait()
	if said > 0 || err != nil { // its session's id: it runs
		return err
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); ok {
		a.status = exit.ExitCode()
		return nil
	}
	return fail(statusRefused, "run --keep: nothing was started")
}

// keptOutput returns the pipes on which a process that outlives its starter reports how it began.
// It has no other output.
func keptOutput() (out, errw *os.File) { return os.NewFile(3, "out"), os.NewFile(4, "err") }

// letGo ends that: it has begun.
func (a *app) letGo() {
	for _, w := range []io.Writer{a.out, a.err} {
		if f, found := w.(*os.File); found {
			_ = f.Close()
		}
	}
	a.out, a.err = io.Discard, io.Discard
}
