// Package settings reads the files in which a user writes once what the command line would have to
// say each time: the user's own configuration, and the file of `gateway serve --config`. It knows
// the line of each setting. It decides nothing: flags are set where their command declares them.
package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"terminalproxy/gateway/userdirs"
)

// Bounds of a file. Depth counts the dots and braces of a line outside of its texts: the parser's
// cost for a key grows with the third power of its parts.
const (
	MaxBytes = 64 << 10
	maxLine  = 4 << 10
	maxDepth = 32
	maxKeys  = 1000
)

// Error is an error in a file.
type Error struct {
	Path string
	Line int // from 1, 0 for the whole file
	Say  string
	Hint string // a next step; may be ""
	Err  error  // cause; may be nil
}

// Error implements error: path, line, why.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Say)
	}
	return e.Path + ": " + e.Say
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// readOwned reads a file that only this user and root can write. The writer of the file decides who
// may come in.
func readOwned(name string) ([]byte, error) {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, readError(name, err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us up
	if err != nil {
		return nil, readError(name, err)
	}
	defer func() { _ = f.Close() }()
	if err := checkOwned(name, path, f); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes))
	if err != nil {
		return nil, readError(name, err)
	}
	return text, nil
}

// checkOwned refuses a file that is too large, or that others may change.
func checkOwned(name, path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return readError(name, err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return readError(name, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return &Error{Path: name, Say: "not a regular file"}
	case info.Size() > MaxBytes:
		return &Error{
			Path: name,
			Say:  fmt.Sprintf("too long: it has %d bytes, the limit is %d", info.Size(), MaxBytes),
		}
	}
	return errors.Join(checkUnwritable(name, path, info),
		checkUnwritable(name, filepath.Dir(path), dir))
}

func readError(name string, err error) error {
	return &Error{Path: name, Say: err.Error(), Err: err}
}

// checkUnwritable refuses files that other users can write to. In a sticky directory users cannot
// replace the files of others.
func checkUnwritable(name, path string, info fs.FileInfo) error {
	uid, mode := userdirs.OwnerOf(info), info.Mode()
	switch {
	case uid != os.Getuid() && uid != 0:
		return &Error{
			Path: name, Say: fmt.Sprintf("%s belongs to user %d, who could change it", path, uid),
			Hint: "let it belong to root, or to the user who runs this",
		}
	case mode.Perm()&0o022 != 0 && (!mode.IsDir() || mode&fs.ModeSticky == 0):
		return &Error{
			Path: name,
			Say:  fmt.Sprintf("%s has mode %04o, so other users can change it", path, mode.Perm()),
			Hint: "chmod go-w " + path,
		}
	}
	return nil
}
