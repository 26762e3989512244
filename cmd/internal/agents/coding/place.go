package coding

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// placePrefix begins the names of the conversations' directories. Their proxies keep them locked.
const placePrefix = "beside-"

// makePlace makes an empty directory in run for a conversation, and removes those of killed
// proxies. release removes it; the end of this process unlocks it.
func makePlace(run string) (dir string, release func(), err error) {
	left, _ := filepath.Glob(filepath.Join(run, placePrefix+"*"))
	for _, old := range left {
		removeAbandoned(old)
	}
	for {
		dir = filepath.Join(run, placePrefix+strings.ToLower(rand.Text()[:8]))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", nil, fmt.Errorf("directory of the conversation: %w", err)
		}
		held, err := lockDir(dir)
		if err != nil {
			_ = os.Remove(dir)
			return "", nil, fmt.Errorf("directory of the conversation: %w", err)
		}
		if held == nil {
			continue // another proxy took it for that of a killed proxy, and removes it
		}
		return dir, func() { _ = os.RemoveAll(dir); held.Close() }, nil
	}
}

// removeAbandoned removes the directory of a proxy that ended without doing so.
func removeAbandoned(dir string) {
	held, err := lockDir(dir)
	if err != nil || held == nil {
		return // its proxy runs, or it is not ours
	}
	defer held.Close()
	_ = os.RemoveAll(dir)
}

// lockDir locks a directory. It returns nil if another process has locked or removed it.
func lockDir(dir string) (held *os.File, err error) {
	held, err = os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locked := error(nil)
	raw, err := held.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
		})
	}
	if err = errors.Join(err, locked); err != nil {
		held.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	if ours, err := held.Stat(); err == nil {
		if named, err := os.Lstat(dir); err == nil && os.SameFile(ours, named) {
			return held, nil
		}
	}
	held.Close()
	return nil, nil
}
