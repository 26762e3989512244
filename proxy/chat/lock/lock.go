// Package lock keeps two writers from one conversation of a coding agent, which the agents
// themselves do not. One program at a time holds a conversation's lock, and the lock ends with its
// process. The package does not know which agent it is.
package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Holder describes the process that has a conversation.
type Holder struct {
	PID      int       `json:"pid"`
	What     string    `json:"what"`               // the command: "gateway chat"
	Terminal string    `json:"terminal,omitempty"` // its path, "" without one
	Since    time.Time `json:"since"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	process := "process " + strconv.Itoa(h.PID)
	if h.Terminal != "" {
		process += " on " + h.Terminal
	}
	at := h.Since.Local()
	layout := "15:04"
	if time.Since(at) > 20*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return fmt.Sprintf("%s (%s, since %s)", h.What, process, at.Format(layout))
}

// HeldError says that another process has the conversation.
type HeldError struct {
	ID string
	By Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("the conversation %s is open in %s", e.ID, e.By)
}

// Hint says what to do about it.
func (e *HeldError) Hint() string {
	return "go on there, or end it there first: two writers would mix their turns"
}

// UnwritableError says that the files of the locks cannot be made.
type UnwritableError struct {
	What  string // of them
	Cause error
}

func (e *UnwritableError) Error() string { return e.What + ": " + e.Cause.Error() }
func (e *UnwritableError) Unwrap() error { return e.Cause }

// Hint says what to do about it.
func (e *UnwritableError) Hint() string {
	return "it lets only one command at a time have a conversation: make it writable, or name " +
		"another place in XDG_STATE_HOME"
}

// usablePattern matches an id that can be a file's name and an argument. The length, maxID, is not
// in the expression: it would cost every start of a program a third of a millisecond.
var usablePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
})

// IsUsableID reports whether a conversation can have this id.
func IsUsableID(id string) bool { return len(id) <= maxID && usablePattern().MatchString(id) }

const maxID = 128

// Lock is held by one program. It belongs to one goroutine.
type Lock struct {
	dir, command string
	id           string
	unlock       func()
}

// New makes a free lock. The files of all locks are in dir, made when needed. command names the
// holder for people.
func New(dir, command string) *Lock { return &Lock{dir: dir, command: command} }

// LockConversation takes the lock of a conversation, and releases the former one. With "", an id
// yet unknown, nothing changes. After an error the former lock stays; a [*HeldError] names another
// holder.
func (l *Lock) LockConversation(id string) error {
	if id == "" || id == l.id {
		return nil
	}
	if !IsUsableID(id) {
		return fmt.Errorf("the agent gave the conversation an id that cannot be used: %.60q", id)
	}
	unlock, err := l.lock(id)
	if err != nil {
		return err
	}
	l.Release()
	l.id, l.unlock = id, unlock
	return nil
}

// Release lets others have the conversation.
func (l *Lock) Release() {
	if l.unlock != nil {
		l.unlock()
	}
	l.id, l.unlock = "", nil
}

func (l *Lock) lock(id string) (unlock func(), err error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, &UnwritableError{"directory of the conversations", err}
	}
	path := filepath.Join(l.dir, id+".lock")
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, &UnwritableError{"lock of the conversation", err}
		}
		if err := flock(f); err != nil {
			return nil, heldError(f, id, err)
		}
		if !isAtPath(f, path) {
			f.Close() // its holder removed the file meanwhile
			continue
		}
		holder := Holder{
			PID: os.Getpid(), What: l.command, Terminal: terminalPath(), Since: time.Now(),
		}
		_ = json.NewEncoder(truncated(f)).Encode(holder) // others only print it
		return func() { _ = os.Remove(path); f.Close() }, nil
	}
}

// truncated empties the file of an ended process, and returns a writer at its start.
func truncated(f *os.File) io.Writer {
	_ = f.Truncate(0) // a rest behind the value is not read
	return io.NewOffsetWriter(f, 0)
}

// heldError makes the error for a conversation that another process has.
func heldError(f *os.File, id string, err error) error {
	defer f.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("lock of the conversation: %w", err)
	}
	held := &HeldError{ID: id}
	_ = json.NewDecoder(io.LimitReader(f, 4<<10)).Decode(&held.By) // the holder may be writing it
	return held
}

// isAtPath reports whether the path names this open file.
func isAtPath(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(ours, named)
}

// terminalPath returns the path of the terminal that we read from or write to, "" without one or if
// the system does not say.
func terminalPath() string {
	for fd := range 3 {
		path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err == nil &&
			(strings.HasPrefix(path, "/dev/pts/") || strings.HasPrefix(path, "/dev/tty")) {
			return path
		}
	}
	return ""
}

// flock takes the lock of a file, or fails at once. Unlike os.File.Fd, it does not change the
// file's mode.
func flock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	err = raw.Control(func(fd uintptr) {
		locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	if err != nil {
		return err
	}
	return locked
}
