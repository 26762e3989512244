// Package place manages the name by which the user's local gateway is found: who owns it, and how a
// process takes it, gives it up, or takes it from a process that does not answer. The process that
// the name points to is the gateway; nothing else decides that. So a server that was stopped and
// continues can see that it is no longer the gateway. The package handles sockets and processes;
// all that it requires of a gateway is an answer.
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
	// bindName is the name under which a socket is bound before it gets its final name.
	bindName = "gateway.new"
	// checkEvery is the longest time between two checks of the name while an owner serves requests.
	// It is shorter than any time after which others replace a silent process, so a process that
	// was stopped checks the name before it answers.
	checkEvery = 500 * time.Millisecond
)

// ErrHeld means that another process has the place, or is taking or leaving it.
var ErrHeld = errors.New("another process is starting or stopping the gateway")

// mark identifies a socket by its inode, which is not reused while its owner lives, and by its
// creation time.
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
	dev := uint64(st.Dev) //nolint:unconvert,gosec // int32 on darwin
	return mark{dev: dev, ino: st.Ino, born: info.ModTime().UnixNano()}, nil
}

// Place is a name that this process has taken. All methods are safe for concurrent use.
type Place struct {
	// Listener accepts the clients of the name.
	Listener *net.UnixListener

	path    string
	at      mark
	began   time.Time
	checked atomic.Int64 // since began
	vacated atomic.Bool  // given up by this process, not lost
	once    sync.Once
	lost    chan struct{}
	unwatch func()
}

// TakePlace takes the place in dir if it is free. It replaces instead, a process that does not
// answer, as found by [DialOwner]; instead may be nil. It fails with [ErrHeld] if another process
// has the place or holds the lock under which it is taken. With force it ignores the lock, in case
// the process that holds it was stopped.
//
// The lock is flock(2) on the directory itself, held only while the place is taken. It ends with
// its holder, and there is no lock file to clean up. Two processes may take the place at once, if
// one of them was stopped in between. That does no harm: the name points to the last one, and the
// other one sees that.
func TakePlace(dir string, instead *SilentOwnerError, force bool) (*Place, error) {
	path := filepath.Join(dir, Name)
	unlock, err := lock(dir)
	if err != nil && (!force || !errors.Is(err, ErrHeld)) {
		return nil, err
	}
	defer unlock()
	if isOccupied(path, instead) {
		return nil, ErrHeld
	}
	p := &Place{path: path, began: time.Now(), lost: make(chan struct{})}
	if err := p.bindSocket(); err != nil {
		return nil, err
	}
	p.unwatch = watchDir(dir, func() { p.checkName() })
	p.checkName()
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
	if err := raw.Control(func(fd uintptr) {
		locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
	}); err != nil {
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

// isOccupied reports whether a living process other than the silent one listens at path.
func isOccupied(path string, silent *SilentOwnerError) bool {
	at, err := markOf(path)
	if err != nil || silent != nil && at == silent.at {
		return false
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return !IsVacant(err)
	}
	_ = conn.Close()
	return true
}

// IsVacant reports whether a dial failed because the name is missing or was left behind by a dead
// process.
func IsVacant(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ENOTCONN) ||
		errors.Is(err, syscall.EPIPE)
}

// bindSocket makes the socket under another name and renames it. So it appears with its final mode,
// in one step, in place of one that a dead process left. The umask, which belongs to the whole
// process, stays as it is.
func (p *Place) bindSocket() error {
	fresh := filepath.Join(filepath.Dir(p.path), bindName)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the socket of a dead gateway: %w", err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return fmt.Errorf("make the gateway's socket: %w", err)
	}
	ln.SetUnlinkOnClose(false) // by then the name may belong to another process
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

// HoldsName reports whether the name still points to this process. Call it before each answer. It
// checks the name again if the last check was some time ago, as after the process was stopped.
func (p *Place) HoldsName() bool {
	if now := time.Since(p.began); now-time.Duration(p.checked.Load()) > checkEvery {
		p.checkName()
	}
	select {
	case <-p.lost:
		return false
	default:
		return true
	}
}

func (p *Place) checkName() {
	now := time.Since(p.began)
	if at, err := markOf(p.path); err != nil || at != p.at {
		p.once.Do(func() { close(p.lost) })
	}
	p.checked.Store(int64(now)) // last, so that the time never precedes its result
}

// Path returns the name.
func (p *Place) Path() string { return p.path }

// NameLost returns a channel that is closed when the name stops pointing to this process.
func (p *Place) NameLost() <-chan struct{} { return p.lost }

// MayAnswer reports whether requests may still be answered: this process has the place, or
// GiveUpName gave it up before it was lost. After GiveUpName, a process answers while its
// connections end.
func (p *Place) MayAnswer() bool { return p.vacated.Load() || p.HoldsName() }

// GiveUpName removes the name if it is still this process's. It does not close the listener.
func (p *Place) GiveUpName() error {
	p.unwatch()
	p.checkName()
	select {
	case <-p.lost:
	default:
		p.vacated.Store(true)
	}
	defer p.once.Do(func() { close(p.lost) })
	return removeIfSame(p.path, p.at)
}

// removeIfSame removes the name if it still points to the expected socket.
func removeIfSame(path string, expected mark) error {
	// It continues without the lock: an owner that loses its new name by this race notices, and
	// takes it again.
	unlock, _ := lock(filepath.Dir(path))
	defer unlock()
	if at, err := markOf(path); err != nil || at != expected {
		return nil // the name is gone, or belongs to another process
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
