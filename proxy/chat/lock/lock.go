// Package lock keeps two writers from one conversation of a coding agent, which the agents themselves do not: of the programs that
// take its lock, one has it. A lock ends with the process that has it. It must not know what kind of agent it is.
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

// Holder is who has a conversation.
type Holder struct {
	PID      int       `json:"pid"`
	What     string    `json:"what"`               // the command, for people: "gateway chat"
	Terminal string    `json:"terminal,omitempty"` // its path, "" for none
	Since    time.Time `json:"since"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	what := "process " + strconv.Itoa(h.PID)
	if h.Terminal != "" {
		what += " on " + h.Terminal
	}
	at := h.Since.Local()
	layout := "15:04"
	if time.Since(at) > 20*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return fmt.Sprintf("%s (%s, since %s)", h.What, what, at.Format(layout))
}

// HeldError says that somebody else has the conversation.
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
	return "in it one command at a time has a conversation: make it writable, or name another place in XDG_STATE_HOME"
}

// usable is what an id may look like, which has at most maxID bytes: it becomes a file's name, and an argument. The number is not in the
// expression, which would cost every start of a program a third of a millisecond.
var usable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

// Usable reports whether a conversation can have this id.
func Usable(id string) bool { return len(id) <= maxID && usable().MatchString(id) }

const maxID = 128

// Lock is held by one program. It belongs to one goroutine.
type Lock struct {
	dir, what string
	id        string
	unlock    func()
}

// New makes a lock that nobody has yet. The files of all locks are in dir, which is made when it is needed; what names the command.
func New(dir, what string) *Lock { return &Lock{dir: dir, what: what} }

// Take takes the lock of a conversation, and releases that of the one before. An id that is not known yet is "": then nothing changes.
// With an error, which is a [*HeldError] if somebody else has it, the one before stays.
func (l *Lock) Take(id string) error {
	if id == "" || id == l.id {
		return nil
	}
	if !Usable(id) {
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
			return nil, held(f, id, err)
		}
		if !stands(f, path) {
			f.Close() // the one who had it took the file away meanwhile
			continue
		}
		_ = json.NewEncoder(rewritten(f)).Encode(Holder{PID: os.Getpid(), What: l.what, Terminal: terminal(), Since: time.Now()}) // only for the sentence
		return func() { _ = os.Remove(path); f.Close() }, nil
	}
}

// rewritten is the file without what a process wrote that is gone.
func rewritten(f *os.File) io.Writer {
	_ = f.Truncate(0) // a rest behind the value is not read
	return io.NewOffsetWriter(f, 0)
}

// held is the error for a conversation that another process has.
func held(f *os.File, id string, err error) error {
	defer f.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("lock of the conversation: %w", err)
	}
	held := &HeldError{ID: id}
	_ = json.NewDecoder(io.LimitReader(f, 4<<10)).Decode(&held.By) // it is only just writing it
	return held
}

// stands reports whether the path names this open file.
func stands(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(ours, named)
}

// terminal is the path of the terminal that we read from or write to, "" where we have none or the system does not say.
func terminal() string {
	for fd := range 3 {
		path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err == nil && (strings.HasPrefix(path, "/dev/pts/") || strings.HasPrefix(path, "/dev/tty")) {
			return path
		}
	}
	return ""
}

// flock takes the lock of a file, or fails at once. It leaves the file's mode alone, which os.File.Fd does not.
func flock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	if err := raw.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		return err
	}
	return locked
}
