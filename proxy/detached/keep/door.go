package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxPath bounds the path of a Unix socket, in bytes, on the system with the shortest bound
// (unix(4) of macOS).
const maxPath = 103

// DoorPath returns the socket of a session's door, in a directory that only the user reaches.
func DoorPath(dir, session string) string { return filepath.Join(dir, prefix+session+suffix) }

const prefix, suffix = "kept-", ".sock"

// Door accepts processes in front for a session whose first window is gone.
type Door struct {
	path     string
	listener *net.UnixListener
	windows  chan *Window
	over     chan struct{}
}

// OpenDoor opens a session's door in dir, and removes those of sessions that were killed.
func OpenDoor(dir, session string) (*Door, error) {
	path := DoorPath(dir, session)
	if len(path) > maxPath {
		return nil, fmt.Errorf("the path of the session's socket is too long: %s", path)
	}
	sweep(dir)
	oldMask := unix.Umask(0o177)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	unix.Umask(oldMask)
	if err != nil {
		return nil, err
	}
	d := &Door{
		path:     path,
		listener: listener,
		windows:  make(chan *Window),
		over:     make(chan struct{}),
	}
	go d.acceptWindows() // ends with Close
	return d, nil
}

// sweep removes the sockets of sessions that were killed.
func sweep(dir string) {
	all, _ := filepath.Glob(filepath.Join(dir, prefix+"*"+suffix)) // the pattern is a good one
	for _, path := range all {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		switch {
		case err == nil:
			_ = conn.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.Remove(path)
		}
	}
}

func (d *Door) acceptWindows() {
	for {
		conn, err := d.listener.AcceptUnix()
		if err != nil {
			return
		}
		if !ours(conn) {
			_ = conn.Close()
			continue
		}
		go func() { // ends after patience at the latest, or with Close
			w, err := AcceptWindow(conn)
			if err != nil {
				return
			}
			select {
			case d.windows <- w:
			case <-d.over:
				w.CloseFiles()
				w.Close()
			}
		}()
	}
}

// Windows returns the windows that come.
func (d *Door) Windows() <-chan *Window { return d.windows }

// Close closes the door.
func (d *Door) Close() {
	close(d.over)
	_ = d.listener.Close() // which removes the socket
}

// DialDoor comes to a session's door. An [fs.ErrNotExist] says that there is no such session here.
func DialDoor(dir, session string) (*net.UnixConn, error) {
	path := DoorPath(dir, session)
	if strings.ContainsRune(session, filepath.Separator) || len(path) > maxPath {
		return nil, fmt.Errorf("session %.40q: %w", session, fs.ErrNotExist)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("session %s: %w", session, fs.ErrNotExist)
	}
	return conn, err
}
