//go:build linux && (amd64 || arm64)

package child

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// To stop at Ctrl+Z, a program needs a parent in its session and outside of its process group;
// otherwise its group is orphaned (POSIX, 3.264) and the kernel discards SIGTSTP. That parent is
// the leader: it makes the session, starts the program in a process group of its own in the
// foreground of the PTY, and says in a pipe what becomes of it.
//
// The leader is a process that shares the proxy's memory and runs on a stack of its own (clone(2),
// CLONE_VM), as after a vfork that never executes anything. Its start copies no page tables and
// loads no second program.
//
// So its code must not use the Go runtime: no allocation, no growth of the stack, no lock, no race
// detector. It makes raw system calls and touches only its brief. It blocks every signal, so that
// none reaches a handler of the Go runtime, and fetches signals from the kernel
// (rt_sigtimedwait(2)). It does not ignore them, because the program would inherit that.

// LeaderName is the name of the leader's process, as /proc/PID/comm and ps show it.
const LeaderName = "proxy-leader"

// The leader's stack, and the stack on which it executes the program. Neither holds more than a few
// small frames.
const (
	leaderStack = 16 << 10
	briefSize   = 4 << 10
	leaderSpace = briefSize + 2*leaderStack
)

// maxGiven bounds the descriptors beside the standard streams.
const maxGiven = 512

// allSignals is the number of signals of Linux.
const allSignals = 64

// The leader's messages, of two words each.
const (
	sayStarted  = iota + 1 // the program's process id
	sayRefused             // the number of the error
	sayChanged             // the program's state, as wait4 has it
	sayReturned            // the terminal's foreground is as it was asked for
)

// orderPatience bounds the wait for an answer to an order. The leader answers at once unless it was
// stopped.
const orderPatience = time.Second

// Orders to the leader, by signals without a name. Each is answered by sayReturned.
const (
	orderBack  = unix.Signal(40) // take the terminal from the program
	orderFront = unix.Signal(41) // give it back
)

// brief holds all the data that the leader's code touches. It is in memory of its own, which is
// neither moved nor freed.
type brief struct {
	path, dir, argv, envv uintptr // C strings and lists of them, kept alive until the start
	tty, pipe, proxy      uintptr
	stdio                 [3]uintptr
	given                 [maxGiven]int32
	givenLen              uintptr
	behind                bool    // the program starts in the background
	mask                  uint64  // the program's signal mask
	second, execute       uintptr // top of the second stack, and the code that runs on it
	all                   uint64  // every signal
	devTTY, name          [16]byte

	// The leader writes the fields below itself.
	program uintptr // process id
	group   int32   // the foreground group before the leader took the terminal, otherwise 0
	errno   syscall.Errno
	action  [8]uint64 // the kernel's struct sigaction
	info    [16]uint64
	status  uint32
	said    [2]int32
	pgrp    int32
}

// leader is the proxy's side of the process that leads the program's session.
type leader struct {
	pid   int
	pipe  int // carries the leader's messages
	space []byte
	kept  [4]any     // what its brief points to
	turn  sync.Mutex // one order at a time
	done  chan struct{}
	gone  atomic.Bool // it has ended, and its process id may be another's
}

// startLeader starts a program under a leader. The error is the one that [exec.Cmd] would return,
// or wraps [errors.ErrUnsupported] if the system does not permit this.
func startLeader(with launch) (l *leader, program int, err error) {
	restoreFileLimit()
	if len(with.given) > maxGiven {
		return nil, 0, errors.ErrUnsupported
	}
	argv, err := syscall.SlicePtrFromStrings(with.args)
	envv, envErr := syscall.SlicePtrFromStrings(with.env)
	file, pathErr := syscall.ByteSliceFromString(with.path)
	where, dirErr := syscall.ByteSliceFromString(with.dir)
	if err := cmp.Or(err, envErr, pathErr, dirErr); err != nil {
		return nil, 0, err
	}
	space, err := unix.Mmap(-1, 0, leaderSpace, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, 0, fmt.Errorf("leader: %w", err)
	}
	// On the heap, because variables on a goroutine's stack may move.
	l = &leader{space: space, kept: [4]any{argv, envv, file, where}, done: make(chan struct{}, 1)}
	b := (*brief)(unsafe.Pointer(&space[0]))
	b.argv, b.envv, b.path = uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])), uintptr(unsafe.Pointer(&file[0]))
	if with.dir != "" {
		b.dir = uintptr(unsafe.Pointer(&where[0]))
	}
	b.all = ^uint64(0)
	copy(b.devTTY[:], "/dev/tty")
	copy(b.name[:], LeaderName)
	b.stdio, b.behind = with.stdio, with.behind
	b.givenLen = uintptr(len(with.given))
	for i, fd := range with.given {
		b.given[i] = int32(fd)
	}
	program, err = l.startProgram(b, with.tty)
	runtime.KeepAlive(l.kept)
	l.kept = [4]any{}
	switch errno := syscall.Errno(0); {
	case err == nil:
		return l, program, nil
	case errors.As(err, &errno):
		return nil, 0, &os.PathError{Op: "start", Path: with.path, Err: errno}
	}
	return nil, 0, err
}

// startProgram starts the leader and returns when the program runs.
func (l *leader) startProgram(b *brief, tty int) (program int, err error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		l.unmapSpace()
		return 0, fmt.Errorf("leader: %w", err)
	}
	b.proxy, b.pipe = uintptr(os.Getpid()), uintptr(pipe[1])
	l.pipe = pipe[0]
	starting.Lock() // until the leader has taken its brief
	defer starting.Unlock()
	b.tty = uintptr(tty)
	err = l.cloneProcess(b)
	_ = unix.Close(pipe[1])
	if err != nil {
		_ = unix.Close(l.pipe)
		l.unmapSpace()
		return 0, fmt.Errorf("leader: %w: %w", errors.ErrUnsupported, err)
	}
	word, value, ok := l.readMessage()
	if ok && word == sayStarted {
		return int(value), nil
	}
	l.waitForEnd()
	l.close()
	if ok && word == sayRefused {
		return 0, syscall.Errno(value)
	}
	return 0, errors.New("its leader was killed")
}

// starting guards handed.
var starting sync.Mutex

// cloneProcess makes the leader's process. No signal may reach it before it has blocked them all,
// so they are blocked here: it copies this thread's mask.
func (l *leader) cloneProcess(b *brief) error {
	base := uintptr(unsafe.Pointer(b))
	b.second, b.execute = base+leaderSpace, entry(execute)
	handed = b
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.ForkLock.Lock() // no other program may inherit descriptors that are being opened
	defer syscall.ForkLock.Unlock()
	if _, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, address(&b.all), address(&b.mask), 8, 0, 0); errno != 0 {
		return errno
	}
	pid := spawn(unix.CLONE_VM|uintptr(unix.SIGCHLD), base+briefSize+leaderStack, entry(lead))
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, address(&b.mask), 0, 8, 0, 0)
	if pid < 0 {
		return syscall.Errno(-pid)
	}
	l.pid = pid
	return nil
}

// readMessage reads the leader's next message; ok is false when the leader is gone.
func (l *leader) readMessage() (word, value int32, ok bool) {
	var said [8]byte
	for {
		n, err := unix.Read(l.pipe, said[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n != len(said) { // a pipe keeps one write together
			return 0, 0, false
		}
		return int32(binary.NativeEndian.Uint32(said[:4])), int32(binary.NativeEndian.Uint32(said[4:])), true
	}
}

// nextState waits for the program's next change of state; ok is false when the leader is gone
// without a message about the program's end.
func (l *leader) nextState() (status unix.WaitStatus, ok bool) {
	for {
		word, value, ok := l.readMessage()
		switch {
		case !ok:
			return 0, false
		case word == sayChanged:
			return unix.WaitStatus(value), true
		case word == sayReturned:
			select {
			case l.done <- struct{}{}:
			default:
			}
		}
	}
}

// sendOrder sends the leader an order, and waits until it has carried it out, or is gone.
func (l *leader) sendOrder(order unix.Signal) {
	l.turn.Lock()
	defer l.turn.Unlock()
	select {
	case <-l.done:
	default:
	}
	if l.gone.Load() || unix.Kill(l.pid, order) != nil {
		return
	}
	limit := time.NewTimer(orderPatience)
	defer limit.Stop()
	select {
	case <-l.done:
	case <-limit.C:
	}
}

// waitForEnd waits for the leader's end.
func (l *leader) waitForEnd() {
	for {
		if _, err := unix.Wait4(l.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	l.gone.Store(true)
}

// close frees the leader's pipe and memory once it has ended. A living leader needs them.
func (l *leader) close() {
	if l.gone.Load() {
		_ = unix.Close(l.pipe)
		l.unmapSpace()
	}
}

func (l *leader) unmapSpace() { _ = unix.Munmap(l.space) }

// restoreFileLimit sets the soft limit of open files to what it was when this process started.
// Package syscall raises it, keeps the old one private, and sets it only in what [syscall.ForkExec]
// starts; a leader inherits the raised one. [syscall.Exec] sets the old one before it executes
// anything, here nothing, since no program has that name, and forgets it. From then on every
// program inherits the limit of this process, so raising it again would reach them all.
var restoreFileLimit = sync.OnceFunc(func() { _ = syscall.Exec("", []string{""}, nil) })
