package child

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CountSurvivors counts the processes that descend from the program and live on outside of its
// session, such as daemons and processes started by setsid(1). They asked for that, so nothing ends
// them with the terminal. They are recognised by a variable of their environment, NAME=value, with
// which the program was started. The result is 0 if the system does not tell.
func (c *Child) CountSurvivors(variable string) (n int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if sid, err := unix.Getsid(pid); err != nil || sid == c.session || isZombie(pid) {
			continue
		}
		if hasVariable(pid, variable) {
			n++
		}
	}
	return n
}

// hasVariable reports whether a process was started with a variable (proc(5), environ). It is false
// for another user's process, which cannot be read.
func hasVariable(pid int, variable string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	return bytes.Contains(append([]byte{0}, env...), append(append([]byte{0}, variable...), 0))
}
