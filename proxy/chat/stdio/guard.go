package stdio

import (
	"os/exec"
	"strconv"
	"syscall"
)

// guardScript ends the rest of a process group when it reads a line: the leader has ended, but an
// adapter's agent may outlive it and the end of its input. If its input ends without a line, our
// process was killed: then the agent gets time to end by itself.
const guardScript = `read -r _ || sleep 2; kill -TERM "-$1" && sleep 1 && kill -KILL "-$1"`

// guard starts a process that ends an agent's process group when this process is killed. endRest
// ends the rest of the group, even if this process ends meanwhile, then the guard, and waits for
// the guard.
func guard(group int) (endRest func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "sh", strconv.Itoa(group)) //nolint:noctx // endRest ends it
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_, _ = in.Write([]byte("\n")) // it may be gone
		_ = cmd.Wait()                // its status means nothing
	}, nil
}
