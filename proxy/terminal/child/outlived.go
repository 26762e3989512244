package child

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CountSurvivors counts the processes that came of the program and live on outside of its session,
// as a daemon and what setsid(1) starts do: they asked for that, so nothing ends them with the
// terminal. They are known by a variable of their environment, as NAME=value, which the program was
// started with. It is 0 where the system does not say.
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

// hasVariable reports whether a process was started with a variable (proc(5), environ). It says no
// for another user's process, which cannot be read.
func hasVariable(pid int, variable string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	return bytes.Contains(append([]byte{0}, env...), append(append([]byte{0}, variable...), 0))
}
