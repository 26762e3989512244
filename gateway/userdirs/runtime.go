// Package userdirs finds the user's own directories and files: the directory of the local gateway's
// socket, and lasting files. It creates only the former; the others may be missing.
package userdirs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"terminalproxy/gateway/place"
)

// EnvDir overrides the directory of the local socket.
const EnvDir = "TERMINALPROXY_DIR"

// Runtime returns the directory of the user's local socket: $TERMINALPROXY_DIR, or terminalproxy
// in the user's runtime directory (/run/user/UID, or $XDG_RUNTIME_DIR), or /tmp/terminalproxy-UID.
// It makes the directory if needed, mode 0700. It refuses a directory that other users could write
// to, or a link, with a sentence that says what to do. The well-known paths come first, because
// proxy and `gateway mcp` have to find the same one and some agents start MCP servers without the
// XDG variables and TMPDIR.
func Runtime() (string, error) {
	dir := runtimePath()
	err := os.Mkdir(dir, 0o700)
	if err == nil { // the umask may have taken the user's own bits
		err = os.Chmod(dir, 0o700) //nolint:gosec // G302: a directory needs its x bit
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", &DirError{fmt.Errorf(
			"no directory for the gateway's socket: %w; set %s to a directory of yours",
			err,
			EnvDir,
		)}
	}
	if err := CheckSocketDir(dir); err != nil {
		return "", &DirError{err}
	}
	return dir, nil
}

// DirError explains why the directory of the local socket cannot be used, and what to do.
type DirError struct{ cause error }

// Error implements error.
func (e *DirError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *DirError) Unwrap() error { return e.cause }

// LocalSocket returns the place of the user's local gateway: the directory, and the socket in it.
// It creates neither. The error is about the directory; for a missing one it is an
// [fs.ErrNotExist].
func LocalSocket() (dir, socket string, err error) {
	dir = runtimePath()
	return dir, filepath.Join(dir, place.Name), CheckSocketDir(dir)
}

func runtimePath() string {
	if dir := os.Getenv(EnvDir); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
	uid := strconv.Itoa(os.Getuid())
	return firstOwned("/tmp/terminalproxy-"+uid, "/run/user/"+uid, os.Getenv("XDG_RUNTIME_DIR"))
}

// firstOwned returns terminalproxy in the first of the directories that this user owns, else the
// last resort.
func firstOwned(lastResort string, dirs ...string) string {
	for _, run := range dirs {
		if info, err := os.Stat(run); err == nil && filepath.IsAbs(run) && info.IsDir() &&
			OwnerOf(info) == os.Getuid() {
			return filepath.Join(run, "terminalproxy")
		}
	}
	return lastResort
}

// CheckSocketDir rejects a directory in which other users could create or reach a socket, and one
// whose path is too long for a socket.
func CheckSocketDir(dir string) error {
	if err := CheckSocketPath(filepath.Join(dir, place.Name)); err != nil {
		return fmt.Errorf("%w: set %s to a shorter directory", err, EnvDir)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("directory of the gateway's socket: %w", err)
	case info.Mode().Type() == fs.ModeSymlink:
		return fmt.Errorf(
			"%s is a symbolic link, which someone else may have put there: remove it, or set %s "+
				"to a directory of yours", dir, EnvDir,
		)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory: remove it, or set %s to a directory of yours",
			dir, EnvDir)
	case OwnerOf(info) != os.Getuid():
		return fmt.Errorf("%s belongs to user %d: set %s to a directory of yours", dir,
			OwnerOf(info), EnvDir)
	case info.Mode().Perm() != 0o700:
		effect := "others could reach the gateway's socket"
		if info.Mode().Perm()&0o077 == 0 {
			effect = "you could not make the gateway's socket there"
		}
		return fmt.Errorf("%s has mode %04o, so %s: chmod 700 %s", dir, info.Mode().Perm(), effect,
			dir)
	}
	return nil
}

// CheckSocketPath rejects a path that does not fit into a sockaddr_un, which the kernel would
// report as "invalid argument".
func CheckSocketPath(path string) error {
	limit := 107 // sun_path is 108 bytes with its final zero (unix(7))
	if runtime.GOOS == "darwin" {
		limit = 103
	}
	if len(path) > limit {
		return fmt.Errorf("the socket path %s is %d bytes long, the system allows %d", path,
			len(path), limit)
	}
	return nil
}

// OwnerOf returns the user id of a file's owner, or -1 if the system does not report it.
func OwnerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
