package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"terminalproxy/proxy/watchdog"
)

// keptName is the argv[0] of a process that hosts a program in no terminal's session, by which this program knows that it is one.
const keptName = "gateway-kept"

// keepRunning runs this command line anew in a process that outlives this one's window, and returns when the program runs there.
func (a *app) keepRunning(args []string) error {
	cmd := exec.Command(watchdog.Self(), args...) //nolint:noctx // it outlives this process, that is what it is for
	cmd.Args[0] = keptName
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	say, theirSay, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirOut.Close())
	}
	defer say.Close()
	cmd.ExtraFiles = []*os.File{theirOut, theirSay}
	err = cmd.Start()
	_, _ = theirOut.Close(), theirSay.Close()
	if err != nil {
		return fail(statusRefused, "run --keep: %w", err)
	}
	var copying sync.WaitGroup // until it lets go of both, or has ended
	copying.Go(func() { _, _ = io.Copy(a.err, say) })
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

// keptOutput is where a process that outlives the one which started it says how it began. It has no other output.
func keptOutput() (out, say *os.File) { return os.NewFile(3, "out"), os.NewFile(4, "err") }

// letGo ends that: it has begun.
func (a *app) letGo() {
	for _, w := range []io.Writer{a.out, a.err} {
		if f, is := w.(*os.File); is {
			_ = f.Close()
		}
	}
	a.out, a.err = io.Discard, io.Discard
}
