package child

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procFile reads the begin of a file about a process, without the space at its end; proc(5). The
// kernel makes such a file when it is read, so that one read gives it in one piece. Package os
// would find out first what sort of file it is, with more system calls than the reading takes, and
// every look of an agent's reads several.
func procFile(pid int, name string) ([]byte, error) {
	return procText("/proc/" + strconv.Itoa(pid) + "/" + name)
}

// procStat returns the name of a process, which may hold blanks and brackets, and the fields of
// /proc/PID/stat from the third on, at least 20 of them: field n of proc(5) is fields[n-3]. fields
// is nil if the system does not say.
func procStat(pid int) (name string, fields []string) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err != nil || from < 0 || to < from {
		return "", nil
	}
	if fields = strings.Fields(string(stat[to+1:])); len(fields) < 20 {
		return "", nil
	}
	return string(stat[from+1 : to]), fields
}

// maxArgs bounds the part of a command line that is read, in bytes.
const maxArgs = 4 << 10

// arguments takes a command line apart (proc(5), cmdline).
func arguments(text []byte) []string {
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// procText is procFile for a path.
func procText(path string) ([]byte, error) {
	text, err := procPart(path, 512)
	return bytes.TrimSpace(text), err
}

// procPart reads the begin of a file that the kernel makes, size bytes at most.
func procPart(path string, size int) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	room := make([]byte, size)
	n, err := unix.Read(fd, room)
	_ = unix.Close(fd)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return room[:n], nil
}
