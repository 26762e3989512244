package run

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/terminal/watchdog"
)

// keepRunning runs this command line again in a process that outlives the window, and returns when
// the program runs there.
func keepRunning(env *cli.Env, args []string) error {
	cmd := exec.Command(watchdog.Self(), args...) //nolint:noctx // it outlives this process
	cmd.Args[0] = cli.KeptName
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
		return cli.Fail(cli.StatusRefused, "run --keep: %w", err)
	}
	var copying sync.WaitGroup // until it closes both, or has ended
	copying.Go(func() { _, _ = io.Copy(env.Err, errw) })
	said, err := io.Copy(env.Out, out)
	copying.Wait()
	if said > 0 || err != nil { // it printed its session's id, so it runs
		return err
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); ok {
		env.Status = exit.ExitCode()
		return nil
	}
	return cli.Fail(cli.StatusRefused, "run --keep: nothing was started")
}

// releaseStarter ends the wait of the starting process: the program runs.
func releaseStarter(env *cli.Env) {
	for _, w := range []io.Writer{env.Out, env.Err} {
		if f, found := w.(*os.File); found {
			_ = f.Close()
		}
	}
	env.Out, env.Err = io.Discard, io.Discard
}
