package place

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// notices are the events for F_NOTIFY (linux/fcntl.h): entries created, removed and renamed,
// repeatedly.
var notices = uint32(0x4 | 0x8 | 0x10 | 1<<31)

// watchNames waits for changes by directory notification (F_NOTIFY, fcntl(2)), or polls if the
// kernel has none. inotify(7) is newer, but closing one takes the kernel some 13 ms. A user who
// ends a session would wait that long for the shell's prompt.
func watchNames(dir string, changed func()) (end func()) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return pollNames(changed)
	}
	news, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(news, unix.SIGIO) // never stopped: a late signal would end the process
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_NOTIFY, int(notices)); err != nil {
		_ = unix.Close(fd)
		return pollNames(changed)
	}
	go func() { // ends with end
		for {
			select {
			case <-news:
				changed()
			case <-over:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		_ = unix.Close(fd)
	})
}
