package place

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ProcessOf returns the process at the other end of a Unix socket.
func ProcessOf(conn syscall.Conn) Process {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Process{}
	}
	var cred *unix.Ucred
	if err := raw.Control(func(fd uintptr) {
		cred, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || cred == nil {
		return Process{}
	}
	p := Process{Pid: int(cred.Pid)}
	if line, err := os.ReadFile(p.procFile("cmdline")); err == nil {
		p.line = commandLine(strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"))
	}
	return p
}

func (p Process) procFile(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.Pid), name)
}

// Stopped reports whether a signal or a debugger has stopped the process.
func (p Process) Stopped() bool {
	if p.Pid == 0 {
		return false
	}
	stat, err := os.ReadFile(p.procFile("stat"))
	if err != nil {
		return false
	}
	// pid (name) state ...; the name may contain anything, even parentheses (proc_pid_stat(5)).
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	return bytes.HasPrefix(rest, []byte(" T")) || bytes.HasPrefix(rest, []byte(" t"))
}
