package child

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// startField is the start of a process among the fields of [procFiles.readStat], in clock ticks
// since the boot.
const startField = 22 - 3

// WatchEnd calls ended when the process with this number and start (in clock ticks since the boot)
// has ended, or can no longer be watched. ok is false if there is no such process. stop ends the
// watch; ended may still be called once.
func WatchEnd(pid int, started int64, ended func()) (stop func(), ok bool) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, false
	}
	handle := os.NewFile(uintptr(fd), "pidfd")
	_, fields := procStat(pid)
	raw, err := handle.SyscallConn()
	// The file was about this process: its handle shows that it still runs.
	if err != nil || fields == nil || fields[startField] != strconv.FormatInt(started, 10) ||
		isReadable(fd) {
		_ = handle.Close()
		return nil, false
	}
	go func() {
		_ = raw.Read(func(fd uintptr) bool { return isReadable(int(fd)) })
		ended()
	}()
	return func() { _ = handle.Close() }, true
}

// isReadable reports whether the process of a handle has ended (pidfd_open(2)).
func isReadable(pidfd int) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
