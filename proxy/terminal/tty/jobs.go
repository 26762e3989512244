package tty

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// IsResumable reports whether a shell could resume this process if it stopped: its process group is
// not orphaned (POSIX, 3.264), that is, one of its ancestors is in its session, but not in its
// process group.
func IsResumable() bool {
	group, session := unix.Getpgrp(), getsid(0)
	for pid := unix.Getppid(); pid > 1 && getsid(pid) == session; pid = parentOf(pid) {
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

// parentOf returns the parent of a process, 0 if the system does not say (proc(5), stat).
func parentOf(pid int) int {
	fields := statFields(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// statFields returns the fields of /proc/PID/stat from the process's state on; nil if the system
// does not say.
func statFields(pid int) []string {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
}

// Foreground reports whether this process is in the terminal's foreground, and so owns the keyboard
// and the line settings. It is true without a keyboard.
func (t *Terminal) Foreground() bool {
	if !t.HasKeyboard() {
		return true
	}
	group, err := unix.IoctlGetInt(t.in, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// noTerminal is the tpgid of a process whose terminal has hung up (proc(5)).
const noTerminal = "-1"

// ForegroundOf reports whether a process is in the foreground of its terminal (proc(5), stat: pgrp
// and tpgid). It is true if the system does not say, or if the process or its terminal is gone.
func ForegroundOf(pid int) bool {
	fields := statFields(pid)
	return len(fields) < 6 || fields[2] == fields[5] || fields[5] == noTerminal
}

// ForgetLineSettings makes Restore leave the line settings alone, because they belong to another
// process now.
func (t *Terminal) ForgetLineSettings() { t.saved = nil }
