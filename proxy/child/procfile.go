package child

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// procFile is the begin of a file about a process, without the space at its end; proc(5). The kernel makes such a file when
// it is read, so that one read gives it in one piece. Package os would find out first what sort of file it is, with more
// system calls than the reading takes, and every look of an agent's reads several.
func procFile(pid int, name string) ([]byte, error) {
	return procText("/proc/" + strconv.Itoa(pid) + "/" + name)
}

// procText is procFile for a path.
func procText(path string) ([]byte, error) {
	text, err := procPart(path, 512)
	return bytes.TrimSpace(text), err
}

// procPart is the begin of a file that the kernel makes, of at most size bytes.
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
