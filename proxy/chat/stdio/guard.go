package stdio

import (
	"os/exec"
	"strconv"
	"syscall"
)

// guarding ends what is left of a process group when it reads a line: its leader has ended, and an adapter's agent may outlive that and the
// end of its input. Input that ends without a line is of a host that was killed: the agent gets time to end by itself.
const guarding = `read -r _ || sleep 2; kill -TERM "-$1" && sleep 1 && kill -KILL "-$1"`

// guard starts a process that ends the process group of an agent when this process is killed. endRest ends what is left of the group, also
// when this process ends meanwhile, and then the guard, and waits for it.
func guard(group int) (endRest func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", guarding, "sh", strconv.Itoa(group)) //nolint:noctx // endRest ends it
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
