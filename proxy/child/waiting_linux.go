package child

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Waiting says whether the foreground program waits for input, with the evidence: "tty-read" when it is blocked in a
// read of its terminal, "tty-poll" when it sleeps in a poll, select or epoll, as full-screen programs and line editors
// do between keys. It looks at /proc; no evidence means that it is busy, or that the kernel does not say.
func (c *Child) Waiting() (evidence string, yes bool) {
	group, err := unix.IoctlGetInt(c.master, unix.TIOCGPGRP)
	if err != nil || group <= 0 {
		return "", false
	}
	where, err := procFile(group, "wchan")
	if err != nil {
		return "", false
	}
	switch at := string(where); {
	case at == "n_tty_read", at == "wait_woken" && c.readsTerminal(group):
		return "tty-read", true
	case strings.HasPrefix(at, "poll_schedule_timeout"), at == "do_sys_poll", at == "do_select", at == "ep_poll":
		return "tty-poll", true
	}
	return "", false
}

// readsTerminal reports whether the call in which a process sleeps has the program's terminal as its first argument:
// sockets are slept on in the same place.
func (c *Child) readsTerminal(pid int) bool {
	call, err := procFile(pid, "syscall")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(call))
	if len(fields) < 2 {
		return false
	}
	fd, err := strconv.ParseUint(strings.TrimPrefix(fields[1], "0x"), 16, 31)
	if err != nil {
		return false
	}
	name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.FormatUint(fd, 10))
	return err == nil && (name == c.slave || name == "/dev/tty")
}
