// Package watchdog restores the user's terminal if the proxy could not: after SIGKILL, or a crash.
// It is a second process, the same program under another name. It sleeps until the proxy is gone,
// writes the proxy's last exit sequence to the terminal, restores the line settings, and ends. It
// must not depend on programs or agents.
//
// The watchdog is the proxy's child and not its parent. The user's shell would wait for a parent,
// which must start before the program: this makes `proxy true` 1.8 ms slower (4.3 ms over bare
// instead of 2.5, measured). It would also only move the problem, because users kill the process
// that the shell knows. The child starts after the program has run for a moment, so starts cost
// nothing. It races against the shell: on an idle machine it restores the terminal before the
// prompt in eight or nine cases of ten, on a busy one less often. If the shell is faster, its line
// settings are left alone, the modes return just after the prompt, and rows that the shell scrolled
// keep their place.
//
// The exit sequence is in shared memory, so that a change of it wakes no process. It is replaced as
// a whole: a proxy killed during a change leaves the former one.
package watchdog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Name is the watchdog's argv[0], which tells the program to run as one.
const Name = "proxy-watchdog"

// MaxExit is the longest exit sequence, in bytes.
const MaxExit = 32 << 10

// Config names the program and the terminal to guard.
type Config struct {
	Path string // of this program; see [Self]
	// Keyboard and Screen are descriptors of the user's terminal, -1 if absent.
	Keyboard, Screen int
}

// page is the shared memory. Its zero value restores nothing.
type page struct {
	lines      atomic.Uint32 // 1: restore the line settings
	screen     atomic.Uint32 // 1: write the exit sequence to the screen
	saved, raw unix.Termios
	which      atomic.Uint32 // index of the current exit sequence
	exits      [2]struct {
		n    uint32
		text [MaxExit]byte
	}
}

// Watchdog is the proxy's side. SetExit and SetLines belong to one goroutine each; the other
// methods are safe for concurrent use.
type Watchdog struct {
	conf   Config
	page   *page
	memory []byte
	fd     int    // of the shared memory
	pipe   [2]int // the watchdog waits for the end of [0]; the proxy's death closes [1]

	mu      sync.Mutex
	pid     int           // of the watchdog, 0 if it does not run
	ended   chan struct{} // closed after the last watchdog was reaped
	closing bool
}

// New prepares a watchdog. StartProcess starts it.
func New(c Config) (*Watchdog, error) {
	size := int(unsafe.Sizeof(page{}))
	fd, err := createMemory(size)
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	shared, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("watchdog: map memory: %w", err)
	}
	w := &Watchdog{
		conf: c, memory: shared, page: (*page)(unsafe.Pointer(&shared[0])),
		fd: fd, pipe: [2]int{-1, -1},
	}
	if c.Screen >= 0 {
		w.page.screen.Store(1)
	}
	return w, nil
}

// SetExit replaces the text for the screen if the proxy dies: line removes the proxy's own line,
// then modes reset the program's modes. A line that does not fit is left out.
func (w *Watchdog) SetExit(line, modes []byte) {
	if len(line)+len(modes) > MaxExit {
		line = nil
	}
	next := w.page.which.Load() ^ 1
	exit := &w.page.exits[next]
	n := copy(exit.text[:], line)
	n += copy(exit.text[n:], modes)
	exit.n = uint32(n)
	w.page.which.Store(next)
}

// SetLines replaces the line settings: saved are those to restore, and raw the present ones. If one
// is nil, the watchdog leaves the settings alone, as during a suspension, when they belong to the
// shell.
func (w *Watchdog) SetLines(saved, raw *unix.Termios) {
	w.page.lines.Store(0)
	if w.conf.Keyboard >= 0 && saved != nil && raw != nil {
		w.page.saved, w.page.raw = *saved, *raw
		w.page.lines.Store(1)
	}
}

// restarts bounds how often a killed watchdog is started again.
const restarts = 3

// StartProcess starts the watchdog, and restarts it if it is killed. It returns at once, and
// reports failures for the log.
func (w *Watchdog) StartProcess(failed func(error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing || w.ended != nil {
		return
	}
	w.ended = make(chan struct{})
	go w.keepRunning(failed) // ends with Close, which kills the watchdog and waits
}

func (w *Watchdog) keepRunning(failed func(error)) {
	defer close(w.ended)
	if err := w.openPipe(); err != nil {
		failed(err)
		return
	}
	for range 1 + restarts {
		pid, err := w.startProcess()
		if err != nil {
			failed(err)
			return
		}
		if pid == 0 {
			return
		}
		reap(pid)
		w.mu.Lock()
		w.pid = 0
		w.mu.Unlock()
	}
	failed(errors.New("watchdog: it was killed too often"))
}

// startProcess starts the watchdog, unless Close was called.
func (w *Watchdog) startProcess() (pid int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return 0, nil
	}
	noFile := ^uintptr(0)
	files := []uintptr{uintptr(w.pipe[0]), noFile, noFile, uintptr(w.fd), noFile}
	if w.conf.Screen >= 0 {
		files[screenFD] = uintptr(w.conf.Screen)
	}
	if w.conf.Keyboard >= 0 {
		files[keyboardFD] = uintptr(w.conf.Keyboard)
	}
	pid, err = syscall.ForkExec(w.conf.Path, []string{Name}, &syscall.ProcAttr{
		Dir: "/", Files: files, // without the user's environment, which may hold secrets
		Env: []string{"GOGC=off", "GOMAXPROCS=1"},
		// A session of its own: Ctrl+C and `kill -KILL %1` must not reach it.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("watchdog: start: %w", err)
	}
	w.pid = pid
	return pid, nil
}

// openPipe makes the pipe whose write end only this process holds, so that its death closes the
// pipe.
func (w *Watchdog) openPipe() error {
	syscall.ForkLock.RLock() // a program that starts meanwhile must not inherit the pipe
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(w.pipe[:]); err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	unix.CloseOnExec(w.pipe[0])
	unix.CloseOnExec(w.pipe[1])
	return nil
}

func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Close ends the watchdog after the caller restored the terminal. SetExit must not follow.
func (w *Watchdog) Close() {
	w.mu.Lock()
	w.closing = true
	ended := w.ended
	if w.pid != 0 {
		_ = unix.Kill(w.pid, unix.SIGKILL)
	}
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
	for _, fd := range []int{w.pipe[0], w.pipe[1], w.fd} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	_ = unix.Munmap(w.memory)
}
