package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// AuditSuffix is what the name of the audit log has after that of the asciicast.
const AuditSuffix = ".audit.jsonl"

// File is what the recorder needs of a file.
type File interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// Files are the files of one recording, open for writing and empty.
type Files struct {
	Name      string // of the asciicast
	Cast, Log *os.File
	made      []string // those that were not there before
}

// OpenFiles opens the asciicast name and its audit log beside it, with mode 0600. It overwrites
// nothing: an existing file must be empty, a regular file, and the user's own; a symbolic link is
// not followed. The error is a sentence for the user that names the file.
func OpenFiles(name string) (*Files, error) {
	f := &Files{Name: name}
	var err error
	if f.Cast, err = f.openFile(name); err != nil {
		return nil, err
	}
	if f.Log, err = f.openFile(name + AuditSuffix); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// Create opens one new file as [OpenFiles] does, and has its name on the disk.
func Create(name string) (*os.File, error) {
	file, err := new(Files).openFile(name)
	if err != nil {
		return nil, err
	}
	if dir, err := os.Open(filepath.Dir(name)); err == nil {
		// not every directory can be read, or brought to the disk
		_ = dir.Sync()
		_ = dir.Close()
	}
	return file, nil
}

// Discard closes the files and removes those that were not there before, for a session that did not
// come to be.
func (f *Files) Discard() {
	for _, file := range []*os.File{f.Cast, f.Log} {
		if file != nil {
			_ = file.Close()
		}
	}
	for _, name := range f.made {
		_ = os.Remove(name)
	}
}

func (f *Files) openFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if err := lockFile(file, name); err != nil {
			_ = file.Close()
			return nil, err
		}
		f.made = append(f.made, name)
		return file, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, fileError(name, err)
	}
	// Not blocking: a named pipe without a reader must be refused, not waited for.
	file, err = os.OpenFile(name, os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%s is a symbolic link, and links are not followed: name the "+
			"file itself", name)
	case err != nil:
		return nil, fileError(name, err)
	}
	if err := checkAdoptable(file, name); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// checkAdoptable locks an existing file and refuses one that is not regular or not empty.
func checkAdoptable(file *os.File, name string) error {
	if err := lockFile(file, name); err != nil {
		return err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return fileError(name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	case info.Size() > 0:
		return fmt.Errorf("%s exists and is not empty: name a new file, or remove that one first", name)
	}
	if err := file.Chmod(0o600); err != nil {
		return fileError(name, err)
	}
	return nil
}

// lockFile refuses a file that another session records to: it may be empty still. The lock ends
// with the file's descriptor.
func lockFile(file *os.File, name string) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return fileError(name, err)
	}
	var taken bool // a file system without locks is no reason not to record
	err = conn.Control(func(fd uintptr) {
		taken = errors.Is(unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	})
	if taken {
		return fmt.Errorf("another session records to %s", name)
	}
	return err
}

// fileError words an error of the system without the name of the call.
func fileError(name string, err error) error {
	err = withoutPath(err)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the directory %s does not exist", name, filepath.Dir(name))
	}
	return fmt.Errorf("%s: %w", name, err)
}
