package tty

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Resumable reports whether a shell could resume this process if it stopped: its process group is not orphaned (POSIX,
// 3.264), that is, somebody up its line of ancestors is in its session, but not in its process group.
func Resumable() bool {
	group, session := unix.Getpgrp(), getsid(0)
	for pid := unix.Getppid(); pid > 1 && getsid(pid) == session; pid = parent(pid) {
		if other, err := unix.Getpgid(pid); err != nil || other != group {
			return err == nil
		}
	}
	return false
}

func getsid(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return -1
	}
	return sid
}

// parent is the parent of a process, 0 where the system does not say (proc(5), stat).
func parent(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// Foreground reports whether this process is in the terminal's foreground: the keyboard and the line settings are its. Without a
// keyboard it is.
func (t *Terminal) Foreground() bool {
	if !t.inTTY {
		return true
	}
	group, err := unix.IoctlGetInt(t.in, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// Forget has Restore leave the line settings alone: they are somebody else's by now.
func (t *Terminal) Forget() { t.saved = nil }
