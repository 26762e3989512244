package doctor

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"terminalproxy/gateway/userdirs"
)

// findParent returns the parent of a process, or 0 if unknown.
func findParent(root string, pid int) int {
	stat, err := os.ReadFile(procPath(root, pid, "stat"))
	if err != nil {
		return 0
	}
	// pid (name) state ppid ...; the name may hold anything, also parentheses (proc_pid_stat(5)).
	_, rest, _ := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// statMemory describes a file of a process that shares the owner of its memory and descriptors. The
// kernel gives them to root if the process is not dumpable (proc(5)). The directory /proc/PID stays
// the user's, as every directory there that all may read.
func statMemory(root string, pid int) (os.FileInfo, error) {
	return os.Stat(procPath(root, pid, "environ"))
}

// checkProcess checks whether other processes of the user can read a proxy's memory and take its
// descriptors.
func (d *doctor) checkProcess(name string, pid int) {
	info, err := statMemory(d.root, pid)
	switch {
	case pid == 0 || err != nil:
		d.addWarning(name, "", "not found on this machine")
		return
	case os.Getuid() == 0:
		d.addOK(name, "process %d; you are root, so nothing is hidden from you", pid)
	case userdirs.OwnerOf(info) == 0:
		d.addOK(name,
			"process %d is not dumpable: your other processes cannot read its memory or take "+
				"its terminal", pid)
	default:
		d.addWarning(
			name,
			"restart it with a newer proxy",
			"process %d is dumpable: your other processes can read its memory and take its terminal",
			pid,
		)
	}
	// The link of an undumpable process is unreadable; this check skips it.
	if exe, err := os.Readlink(procPath(d.root, pid, "exe")); err == nil &&
		strings.HasSuffix(exe, " (deleted)") {
		d.addWarning(name, "restart it", "process %d runs an older version than the installed one",
			pid)
	}
}

// checkKernel checks the kernel's settings, and the calls that reclaim needs.
func (d *doctor) checkKernel() {
	if release := d.readLine("/proc/sys/kernel/osrelease"); release != "" {
		d.addOK("kernel", "%s", release)
		d.checkKernelSettings()
	} else {
		d.addWarning("/proc", "mount it: mount -t proc proc /proc",
			"cannot be read: the kernel's settings are unknown, and so are the program in the "+
				"foreground and what it waits for")
	}
	if err := tryFlush(); err != nil {
		d.addError("reclaim", "needs a kernel from 4.13 with /dev/ptmx",
			"agent input that the program has not read cannot be taken back: %v", err)
		return
	}
	d.addOK("reclaim",
		"agent input that the program has not read is taken back (tested with TIOCGPTPEER)")
}

// checkKernelSettings checks what processes of one user may do to each other.
func (d *doctor) checkKernelSettings() {
	switch scope := d.readLine("/proc/sys/kernel/yama/ptrace_scope"); scope {
	case "":
		d.addWarning("ptrace_scope", "run untrusted programs as another user or in a container",
			"this kernel has no Yama: any of your processes may trace your other dumpable ones")
	case "0":
		d.addWarning("ptrace_scope", "sudo sysctl kernel.yama.ptrace_scope=1",
			"0: any of your processes may trace your other dumpable ones")
	default:
		d.addOK("ptrace_scope", "%s: a process can trace only its own children", scope)
	}
	switch d.readLine("/proc/sys/dev/tty/legacy_tiocsti") {
	case "0":
		d.addOK("TIOCSTI", "off: no process can fake your typing")
	case "1":
		d.addWarning("TIOCSTI", "sudo sysctl dev.tty.legacy_tiocsti=0",
			"on: a process on your terminal can fake your typing")
	default:
		d.addWarning("TIOCSTI", "kernels from 6.2 can switch it off",
			"always on in this kernel: a process on your terminal can fake your typing")
	}
}

// tryFlush performs a reclaim's flush on a new PTY, to check that the kernel supports it.
func tryFlush() error {
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("open a PTY: %w", err)
	}
	defer func() { _, _ = master.Close(), slave.Close() }()
	if _, err := master.WriteString("typed by an agent\n"); err != nil {
		return fmt.Errorf("write to a PTY: %w", err)
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, master.Fd(), unix.TIOCGPTPEER,
		unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return fmt.Errorf("TIOCGPTPEER: %w", errno)
	}
	defer func() { _ = unix.Close(int(fd)) }()
	// the kernel delivers the bytes with a delay
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		n, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		if err != nil {
			return fmt.Errorf("FIONREAD: %w", err)
		}
		if n > 0 {
			break
		}
		if time.Now().After(end) {
			return errors.New("bytes written to a PTY do not arrive")
		}
	}
	if err := unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH); err != nil {
		return fmt.Errorf("TCFLSH: %w", err)
	}
	n, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
	switch {
	case err != nil:
		return fmt.Errorf("FIONREAD: %w", err)
	case n != 0:
		return fmt.Errorf("%d bytes are left after TCFLSH", n)
	}
	return nil
}

// readLine returns a small file of the kernel on one line, "" if the file is missing.
func (d *doctor) readLine(path string) string {
	data, err := os.ReadFile(d.root + path)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(data)), " ")
}
