package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"terminalproxy/gateway/hub"
)

// Local is one process's share in the user's local gateway. Whoever needs the gateway dials it; when nobody answers,
// the one who gets the directory's lock serves it from inside its own process. Nothing has to be installed or started,
// and nothing stays behind. All methods may be called from any goroutine.
//
// The lock is flock(2) on the directory itself: it goes away with the process that holds it however that ends, and
// there is no lock file to clean up. (systemd-tmpfiles leaves a directory alone while it is locked so.)
type Local struct {
	// Draw draws pictures for who asks this process for them; see Config. It is set before the first Dial, or never.
	Draw Drawing

	dir string
	log *slog.Logger

	mu      sync.Mutex
	serving *serving
	closed  bool
}

// serving is the time in which this process is the gateway.
type serving struct {
	server *Server
	lock   *os.File
	path   string
	socket fs.FileInfo   // what was bound, to remove no other
	ended  chan struct{} // closed when the listener's loop has returned
}

// errHeld says that another process holds the lock: it serves, or is about to.
var errHeld = errors.New("another process is starting or stopping the gateway")

// ErrLocalClosed is the error of Dial after Close.
var ErrLocalClosed = errors.New("the local gateway of this process is closed")

// NewLocal makes the share. dir comes from [RuntimeDir]; log may be nil. It costs nothing until Dial finds that nobody
// answers.
func NewLocal(dir string, log *slog.Logger) *Local {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Local{dir: dir, log: log}
}

// Serving reports whether this process is the gateway now.
func (l *Local) Serving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving != nil
}

// Dial connects to the gateway, which is this process if no other is. It tries until ctx ends while another process
// holds the lock without answering.
func (l *Local) Dial(ctx context.Context) (net.Conn, error) {
	path := filepath.Join(l.dir, socketName)
	var held error // why nobody answered so far
	for delay := 2 * time.Millisecond; ; delay = min(2*delay, 100*time.Millisecond) {
		conn, err := dialUnix(ctx, path)
		if err == nil {
			return conn, nil
		}
		if held != nil && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)) {
			return nil, held // the time was over during the dialling
		}
		if !nobodyAnswers(err) {
			return nil, fmt.Errorf("local gateway: %w", err)
		}
		switch err := l.serve(path); {
		case err == nil:
			continue
		case !errors.Is(err, errHeld):
			return nil, fmt.Errorf("local gateway: %w", err)
		}
		held = fmt.Errorf("local gateway: nobody answers at %s, though %w", path, errHeld)
		select {
		case <-time.After(rand.N(delay) + time.Millisecond):
		case <-ctx.Done():
			return nil, held
		}
	}
}

// Join gives a proxy of this process a seat at the gateway, if this process is the gateway or can become it; nil when
// another process is. The proxy's messages then go over without a socket.
func (l *Local) Join() (*hub.Peer, error) {
	if err := l.serve(filepath.Join(l.dir, socketName)); err != nil && !errors.Is(err, errHeld) {
		return nil, fmt.Errorf("local gateway: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serving == nil {
		return nil, nil //nolint:nilnil // no seat is no failure: somebody else serves
	}
	return l.serving.server.hub.Join(hub.Member{Role: hub.RoleProxy, Local: true}), nil
}

// nobodyAnswers tells a socket that is missing or left behind from one that must not be used.
func nobodyAnswers(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ENOTCONN)
}

// serve makes this process the gateway, unless it is already or another holds the lock.
func (l *Local) serve(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrLocalClosed
	}
	if l.serving != nil {
		return errHeld // by ourselves: the socket was taken away under us
	}
	if err := checkDir(l.dir); err != nil {
		return err
	}
	lock, err := lockDir(l.dir)
	if err != nil {
		return err
	}
	s, err := l.listen(lock, path)
	if err != nil {
		_ = lock.Close()
		return err
	}
	l.serving = s
	return nil
}

// lockDir takes the lock without waiting. Closing the file gives it back.
func lockDir(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	raw, err := d.SyscallConn()
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	var locked error
	if err := raw.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		locked = err
	}
	if locked == nil {
		return d, nil
	}
	_ = d.Close()
	if errors.Is(locked, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, fmt.Errorf("lock %s: %w", dir, locked)
}

// listen starts the server; the caller holds the lock.
func (l *Local) listen(lock *os.File, path string) (*serving, error) {
	ln, socket, err := bind(path)
	if err != nil {
		return nil, err
	}
	s := &serving{server: New(Config{Log: l.log, Draw: l.Draw}), lock: lock, path: path, socket: socket, ended: make(chan struct{})}
	go func() { // ends when Close closes the server
		defer close(s.ended)
		if err := s.server.ServeLocal(context.Background(), ln); err != nil {
			l.log.Warn("local gateway", "error", err)
		}
	}()
	l.log.Debug("serving the local gateway", "socket", path)
	return s, nil
}

// ListenLocal makes the socket of a long-running local gateway in dir, for [Server.ServeLocal]. It fails when another
// process serves there. Calling release, after the server is closed, removes the socket and gives the place free.
func ListenLocal(dir string) (ln *net.UnixListener, release func() error, err error) {
	if err := checkDir(dir); err != nil {
		return nil, nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, socketName)
	ln, socket, err := bind(path)
	if err != nil {
		_ = lock.Close()
		return nil, nil, err
	}
	return ln, func() error { return errors.Join(unbind(path, socket), lock.Close()) }, nil
}

// bind makes the socket under another name and renames it: it appears with its final mode, in one step, in place of
// one that a dead process left, and without touching the umask, which belongs to the whole process.
func bind(path string) (*net.UnixListener, fs.FileInfo, error) {
	fresh := filepath.Join(filepath.Dir(path), bindName)
	if err := checkSocketPath(path); err != nil {
		return nil, nil, err
	}
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("remove what a dead gateway left: %w", err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("make the gateway's socket: %w", err)
	}
	ln.SetUnlinkOnClose(false) // by then the name may be another's
	fail := func(err error) (*net.UnixListener, fs.FileInfo, error) {
		return nil, nil, errors.Join(err, ln.Close(), os.Remove(fresh))
	}
	if err := os.Chmod(fresh, 0o600); err != nil {
		return fail(err)
	}
	socket, err := os.Lstat(fresh)
	if err != nil {
		return fail(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fail(err)
	}
	return ln, socket, nil
}

// unbind removes the socket if it is still the one that was bound.
func unbind(path string, bound fs.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(now, bound) {
		return nil //nolint:nilerr // it is gone already, or another's
	}
	return os.Remove(path)
}

// Close stops serving, if this process does: the connections end, the socket goes, and last the lock, so that the next
// one finds a clean place. It is bounded like [Server.Close].
func (l *Local) Close() error {
	l.mu.Lock()
	s := l.serving
	l.serving, l.closed = nil, true
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	// The name goes first: nobody shall connect to a server that is closing.
	removed := unbind(s.path, s.socket)
	closed := s.server.Close()
	<-s.ended
	return errors.Join(removed, closed, s.lock.Close())
}
