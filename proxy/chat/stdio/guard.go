package stdio

import (
	"os/exec"
	"strconv"
	"syscall"
)

// guarding ends a process group when its input ends without a line: the process that held the other end was killed, and some agents
// outlive the end of their own input.
const guarding = `read -r _ && exit; sleep 2; kill -TERM "-$1"; sleep 1; kill -KILL "-$1"`

// guard starts a process that ends the process group of an agent when this process is killed. letGo ends the guard, and waits for it.
func guard(group int) (letGo func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", guarding, "sh", strconv.Itoa(group)) //nolint:noctx // letGo ends it
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_, _ = in.Write([]byte("\n")) // it is gone
		_ = cmd.Wait()                // it has no status that means anything
	}, nil
}
