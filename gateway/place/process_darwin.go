package place

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	localPeerPID = 2 // LOCAL_PEERPID, sys/un.h
	stopped      = 4 // SSTOP, sys/proc.h
)

// ProcessOf returns the process at the other end of a Unix socket.
func ProcessOf(conn syscall.Conn) Process {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Process{}
	}
	pid := 0
	if err := raw.Control(func(fd uintptr) {
		pid, _ = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, localPeerPID)
	}); err != nil {
		return Process{}
	}
	p := Process{Pid: pid}
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		p.line = commandLine([]string{unix.ByteSliceToString(info.Proc.P_comm[:])})
	}
	return p
}

// Stopped reports whether a signal or a debugger has stopped the process.
func (p Process) Stopped() bool {
	if p.Pid == 0 {
		return false
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", p.Pid)
	return err == nil && info.Proc.P_stat == stopped
}
