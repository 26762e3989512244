// Package place is the name under which the user's local gateway is found: who owns it, and how a process takes it, gives it
// up, or takes it from a process that does not answer. The process that the name points to is the gateway, and nothing else
// decides that; so a server that was stopped and continues can see that it is no longer the gateway. The package knows
// sockets and processes; of what a gateway says it only knows that it answers.
package place

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// Name is the socket's name in its directory.
	Name = "gateway.sock"
	// bindName is where a socket is bound before it takes its name. Only who is taking the place uses it.
	bindName = "gateway.new"
	// lookEvery is how often an owner that is asked much looks at the name. It is shorter than any time after which others
	// take the place of a process that does not answer, so one that was stopped looks before it says anything.
	lookEvery = 500 * time.Millisecond
)

// ErrHeld says that another process has the place, or is taking or leaving it.
var ErrHeld = errors.New("another process is starting or stopping the gateway")

// mark tells one socket from any other that had its name: the inode, which cannot be given to another while its owner
// lives, and when it was made.
type mark struct {
	dev, ino uint64
	born     int64
}

func markOf(path string) (mark, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return mark{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return mark{}, fmt.Errorf("%s: no inode", path)
	}
	return mark{dev: uint64(st.Dev), ino: st.Ino, born: info.ModTime().UnixNano()}, nil //nolint:unconvert,gosec // int32 on darwin
}

// Place is a name that this process has taken. All methods may be called from any goroutine.
type Place struct {
	// Listener is what clients of the name reach.
	Listener *net.UnixListener

	path    string
	at      mark
	began   time.Time
	looked  atomic.Int64 // since began
	vacated atomic.Bool  // given up, not lost
	once    sync.Once
	lost    chan struct{}
	unwatch func()
}

// Take takes the place in dir if nobody has it. A process that does not answer, as [Reach] has found, is replaced; nil
// for none. It fails with [ErrHeld] when another process has the place, or holds the lock under which it is taken: with
// force the lock does not count, which is for one whose holder was stopped.
//
// The lock is flock(2) on the directory itself, held for the moment of the taking: it goes away with its holder, and there
// is no lock file to clean up. Two that take the place at once, because one of them was stopped in between, do no harm:
// the name points to the last, and the other one sees that.
func Take(dir string, instead *Silent, force bool) (*Place, error) {
	path := filepath.Join(dir, Name)
	unlock, err := lock(dir)
	if err != nil && (!force || !errors.Is(err, ErrHeld)) {
		return nil, err
	}
	defer unlock()
	if occupied(path, instead) {
		return nil, ErrHeld
	}
	p := &Place{path: path, began: time.Now(), lost: make(chan struct{})}
	if err := p.bind(); err != nil {
		return nil, err
	}
	p.unwatch = watchDir(dir, func() { p.look() })
	p.look()
	return p, nil
}

// lock takes the directory's lock without waiting. unlock is never nil.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}, err
	}
	raw, err := d.SyscallConn()
	if err != nil {
		_ = d.Close()
		return func() {}, err
	}
	var locked error
	if err := raw.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		locked = err
	}
	if locked == nil {
		return func() { _ = d.Close() }, nil
	}
	_ = d.Close()
	if errors.Is(locked, syscall.EWOULDBLOCK) {
		return func() {}, ErrHeld
	}
	return func() {}, fmt.Errorf("lock %s: %w", dir, locked)
}

// occupied reports whether a living process other than the silent one listens there.
func occupied(path string, silent *Silent) bool {
	at, err := markOf(path)
	if err != nil || silent != nil && at == silent.at {
		return false
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return !Vacant(err)
	}
	_ = conn.Close()
	return true
}

// Vacant reports whether the error of a dial says that the name is missing, or was left behind by a dead process.
func Vacant(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ENOTCONN) || errors.Is(err, syscall.EPIPE)
}

// bind makes the socket under another name and renames it: it appears with its final mode, in one step, in place of
// one that a dead process left, and without touching the umask, which belongs to the whole process.
func (p *Place) bind() error {
	fresh := filepath.Join(filepath.Dir(p.path), bindName)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what a dead gateway left: %w", err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return fmt.Errorf("make the gateway's socket: %w", err)
	}
	ln.SetUnlinkOnClose(false) // by then the name may be another's
	fail := func(err error) error { return errors.Join(err, ln.Close(), os.Remove(fresh)) }
	if err := os.Chmod(fresh, 0o600); err != nil {
		return fail(err)
	}
	if p.at, err = markOf(fresh); err != nil {
		return fail(err)
	}
	if err := os.Rename(fresh, p.path); err != nil {
		return fail(err)
	}
	p.Listener = ln
	return nil
}

// Ours reports whether the name still points to this process. It is to be asked before anything is answered: a look at
// the name is taken when the last one was some time ago, as after the process was stopped.
func (p *Place) Ours() bool {
	if now := time.Since(p.began); now-time.Duration(p.looked.Load()) > lookEvery {
		p.look()
	}
	select {
	case <-p.lost:
		return false
	default:
		return true
	}
}

func (p *Place) look() {
	now := time.Since(p.began)
	if at, err := markOf(p.path); err != nil || at != p.at {
		p.once.Do(func() { close(p.lost) })
	}
	p.looked.Store(int64(now)) // last: who sees that somebody looked may believe what was seen
}

// Path is the name.
func (p *Place) Path() string { return p.path }

// Lost is closed when the name points to this process no more, whoever saw to that.
func (p *Place) Lost() <-chan struct{} { return p.lost }

// Answers reports whether what was asked here may still be answered: the place is ours, or was given up by Vacate and not lost
// before. Who gives it up answers what it was asked while its connections end.
func (p *Place) Answers() bool { return p.vacated.Load() || p.Ours() }

// Vacate removes the name if it is still this process's. It does not close the listener.
func (p *Place) Vacate() error {
	p.unwatch()
	p.look()
	select {
	case <-p.lost:
	default:
		p.vacated.Store(true)
	}
	defer p.once.Do(func() { close(p.lost) })
	return remove(p.path, p.at)
}

// remove removes the name if it is the one of a socket.
func remove(path string, whose mark) error {
	// Who cannot get the lock does without: whose name is taken away by a hair's breadth sees it, and takes it again.
	unlock, _ := lock(filepath.Dir(path))
	defer unlock()
	if at, err := markOf(path); err != nil || at != whose {
		return nil // it is gone already, or another's
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
