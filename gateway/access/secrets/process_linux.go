package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
)

// Supported reports whether this system identifies askers.
const Supported = true

// soPeerPidfd is SO_PEERPIDFD (unix(7)), from Linux 6.5 on.
const soPeerPidfd = 77

// maxRead bounds a read of a file in /proc, in bytes.
const maxRead = 64 << 10

// peer is the process at the other end of a Unix socket. Its handle stays valid for that process
// even if its number is reused.
type peer struct {
	handle int // a pidfd
	pid    int
}

// openPeer returns the process that dialled a socket.
func openPeer(conn *net.UnixConn) (*peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("identify the asker: %w", err)
	}
	p, lookup := &peer{handle: -1}, error(nil)
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if lookup = err; err != nil {
			return
		}
		p.pid = int(cred.Pid)
		if p.handle, lookup = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, soPeerPidfd); lookup != nil {
			p.handle, lookup = unix.PidfdOpen(p.pid, 0)
		}
	})
	switch err := errors.Join(err, lookup); {
	case p.pid == 0: // it is in another namespace
		return nil, refusedPlace
	case err != nil:
		return nil, fmt.Errorf("identify the asker: %w", err)
	}
	unix.CloseOnExec(p.handle)
	return p, nil
}

func (p *peer) close() { _ = unix.Close(p.handle) }

// isAlive reports whether the process runs, so that its number is its own.
func (p *peer) isAlive() bool {
	fds := []unix.PollFd{{Fd: int32(p.handle), Events: unix.POLLIN}} //nolint:gosec // a descriptor
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 0
}

// readFacts identifies the asker. own are the files that a helper may run, and client is the
// process on whose behalf the helper's parent asks, or 0.
func (p *peer) readFacts(own []os.FileInfo, client int) (*facts, error) {
	ownBefore := runsFile(p.pid, own)
	asker, err := readProcess(p.pid)
	if err != nil {
		return nil, errGone
	}
	f := &facts{asker: asker, sameNamespaces: sharesNamespaces(p.pid), chain: readAncestors(&asker)}
	if client != 0 && len(f.chain) > 0 {
		first, err := readProcess(client)
		if err != nil || first.started > asker.started {
			return nil, errGone
		}
		f.agent = &f.chain[0]
		f.chain = append([]process{first}, readAncestors(&first)...)
	}
	f.ownFile = ownBefore && runsFile(p.pid, own)
	f.stdout, _ = os.Readlink(procFile(p.pid, "fd/1"))
	if len(f.chain) > 0 {
		program := f.receiver()
		closed := f.agent != nil && program.isClosed()
		if program.effective != 0 && !closed { // the kernel hides root's programs
			f.sameNamespaces = f.sameNamespaces && sharesNamespaces(program.pid)
		}
		if strings.HasPrefix(f.stdout, "pipe:") {
			f.sharers = findSharers(f.stdout, p.pid, program.pid)
			f.programPipe = closed || holdsPipe(program.pid, f.stdout) ||
				program.effective == 0 && isRootPipe(p.pid)
		}
	}
	if !p.isAlive() {
		return nil, errGone
	}
	return f, nil
}

// readAncestors reads the ancestors of a process, the nearest first.
func readAncestors(of *process) (all []process) {
	for at := of; at.parent > 0 && len(all) < protocol.MaxAskerChain; {
		next, err := readProcess(at.parent)
		if err != nil || next.started > at.started {
			break // it has ended, and its number may have been reused
		}
		all = append(all, next)
		at = &all[len(all)-1]
	}
	return all
}

// isRootPipe reports whether a process's standard output is a pipe that a program with root's
// rights created. The user cannot open the other end of such a pipe.
func isRootPipe(pid int) bool {
	var stat unix.Stat_t
	return unix.Stat(procFile(pid, "fd/1"), &stat) == nil && stat.Uid == 0
}

// nameProcess sets the name of this process.
func nameProcess(name string) error { return os.WriteFile("/proc/self/comm", []byte(name), 0) }

// checkSealed returns an error unless the process is the helper that asks with this key, and the
// kernel protects its memory from the user's other processes. Root can always read it.
func (p *peer) checkSealed(started int64, key []byte) error {
	status, err := readSmall(procFile(p.pid, "status"))
	stat, err2 := readStat(p.pid)
	line, _ := readSmall(procFile(p.pid, "cmdline"))
	called, _, _ := bytes.Cut(line, []byte{0})
	if err != nil || err2 != nil || stat.started != started || !p.isAlive() {
		return errGone
	}
	name := filepath.Base(string(called))
	if stat.name != nameOfKey(key) || name != HelperName && name != PinentryName {
		return refusedKey
	}
	if field(status, "TracerPid:", 0) != 0 {
		return refusedDebugger
	}
	_, err = os.Readlink(procFile(p.pid, "exe"))
	if os.Geteuid() != 0 && !errors.Is(err, os.ErrPermission) {
		return refusedDebugger
	}
	return nil
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, maxRead)
	n, err := f.Read(data)
	if n == 0 && err != nil && !strings.HasSuffix(path, "cmdline") {
		return nil, err
	}
	return data[:n], nil
}

// readProcess reads a process. It compares the start time before and after, so that everything is
// of one process.
func readProcess(pid int) (process, error) {
	p, err := readStat(pid)
	if err != nil {
		return p, err
	}
	status, err := readSmall(procFile(pid, "status"))
	if err != nil {
		return p, err
	}
	p.real, p.effective = field(status, "Uid:", 0), field(status, "Uid:", 1)
	p.tracer = field(status, "TracerPid:", 0)
	p.relays = catchesAny(status, unix.SIGCONT, unix.SIGTSTP, unix.SIGWINCH)
	p.path, _ = os.Readlink(procFile(pid, "exe"))
	p.dir, _ = os.Readlink(procFile(pid, "cwd"))
	p.system = isSystemFile(p.path, procFile(pid, "exe"))
	line, _ := readSmall(procFile(pid, "cmdline"))
	if line = bytes.TrimSuffix(line, []byte{0}); len(line) > 0 {
		p.args = strings.Split(string(line), "\x00")
	}
	again, err := readStat(pid)
	if err != nil || again.started != p.started || again.parent != p.parent {
		return p, errGone
	}
	return p, nil
}

// readStat reads the stat file of a process (proc_pid_stat(5)). The name in it may contain
// anything, even parentheses.
func readStat(pid int) (process, error) {
	stat, err := readSmall(procFile(pid, "stat"))
	if err != nil {
		return process{}, err
	}
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return process{}, errGone
	}
	fields := strings.Fields(string(stat[to+1:]))
	if len(fields) < 20 {
		return process{}, errGone
	}
	parent, _ := strconv.Atoi(fields[1])
	started, _ := strconv.ParseInt(fields[19], 10, 64)
	return process{pid: pid, parent: parent, started: started, name: string(stat[from+1 : to])}, nil
}

// isSystemFile reports whether a process's program is the file at this path, and only root can
// change the file and the directories above it. Otherwise the user could have given the file its
// name. File systems that the user provides may lie about owners, so they do not count.
func isSystemFile(path, exe string) bool {
	at, err := os.Lstat(path)
	runs, err2 := os.Stat(exe)
	if err != nil || err2 != nil || !os.SameFile(at, runs) {
		return false
	}
	for {
		stat, ok := at.Sys().(*syscall.Stat_t)
		var fs unix.Statfs_t
		if !ok || stat.Uid != 0 || at.Mode().Perm()&0o022 != 0 ||
			unix.Statfs(path, &fs) != nil || fs.Type == unix.FUSE_SUPER_MAGIC {
			return false
		}
		parent := filepath.Dir(path)
		if parent == path {
			return true
		}
		if at, err = os.Lstat(parent); err != nil {
			return false
		}
		path = parent
	}
}

// field returns a number from a line of a status file, -1 if it is missing.
func field(status []byte, label string, at int) int {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(label)); ok {
			if fields := strings.Fields(string(rest)); at < len(fields) {
				if n, err := strconv.Atoi(fields[at]); err == nil {
					return n
				}
			}
		}
	}
	return -1
}

// catchesAny reports whether a process handles one of these signals, by its status.
func catchesAny(status []byte, signals ...unix.Signal) bool {
	_, rest, _ := bytes.Cut(status, []byte("\nSigCgt:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	caught, err := strconv.ParseUint(string(line), 16, 64)
	return err == nil && slices.ContainsFunc(signals, func(s unix.Signal) bool {
		return caught&(1<<(s-1)) != 0
	})
}

// sharesNamespaces reports whether a process is in this process's namespaces of processes and
// users.
func sharesNamespaces(pid int) bool {
	for _, name := range []string{"ns/pid", "ns/user"} {
		own, err := os.Readlink("/proc/self/" + name)
		if other, err2 := os.Readlink(procFile(pid, name)); err != nil || err2 != nil || other != own {
			return false
		}
	}
	return true
}

// runsFile reports whether a process runs one of these files.
func runsFile(pid int, files []os.FileInfo) bool {
	runs, err := os.Stat(procFile(pid, "exe"))
	if err != nil {
		return false
	}
	for _, file := range files {
		if os.SameFile(runs, file) {
			return true
		}
	}
	return false
}

// ownFiles returns the files that a helper may run: this process's own, and the gateway beside it.
func ownFiles() (all []os.FileInfo) {
	paths := []string{"/proc/self/exe"}
	if path, err := os.Readlink("/proc/self/exe"); err == nil {
		paths = append(paths, filepath.Join(filepath.Dir(path), "gateway"))
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all = append(all, info)
		}
	}
	return all
}

// findSharers returns the processes that hold a pipe open, apart from its two ends. Processes of
// root or of another user cannot be inspected, and are not this user's.
func findSharers(pipe string, asker, program int) (all []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && pid != asker && pid != program && holdsPipe(pid, pipe) {
			all = append(all, pid)
		}
	}
	return all
}

func holdsPipe(pid int, pipe string) bool {
	dir := procFile(pid, "fd")
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if link, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && link == pipe {
			return true
		}
	}
	return false
}

// startOf returns the process that started another one, and how.
func startOf(pid int) (parent int, args []string) {
	p, err := readProcess(pid)
	if err != nil {
		return 0, nil
	}
	return p.parent, p.args
}
