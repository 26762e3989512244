package tty

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const ioctlGetTermios = unix.TCGETS

// ttyName is the path of the terminal behind fd, "" when it has none here.
func ttyName(fd int) string {
	name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || len(name) == 0 || name[0] != '/' {
		return ""
	}
	return name
}
