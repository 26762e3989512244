// Package signals catches the process's signals for a session. The Go runtime needs about 20 µs to
// set up each signal, so that happens in parallel with the other work of a start. The package must
// not know what the signals mean.
package signals

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// queueSize is how many signals may wait for their reader.
const queueSize = 16

// Catcher holds the signals that a session receives.
type Catcher struct {
	C      chan os.Signal // others may send here too, but must not block
	wanted []os.Signal
	begin  sync.Once
	ready  chan struct{} // closed when the signals are taken
}

// NewIdleCatcher returns a catcher that catches no signals of the process: another part of the
// program handles them.
func NewIdleCatcher() *Catcher {
	return &Catcher{C: make(chan os.Signal, queueSize), ready: make(chan struct{})}
}

// NewCatcher returns a catcher for the signals that end, stop or resume a session, and those of
// window size changes. hangup adds SIGHUP, for a session that ends with its window, and reclaim
// adds SIGUSR1. A hangup stays ignored if it is ignored at the start, as under nohup. StartCatching
// catches the signals; call it before a program starts, because a program inherits ignored signals
// unless they are caught.
func NewCatcher(hangup, reclaim bool) *Catcher {
	t := NewIdleCatcher()
	t.wanted = []os.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, // end the session
		syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH,
	}
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		t.wanted = append(t.wanted, syscall.SIGHUP)
	}
	if reclaim {
		t.wanted = append(t.wanted, syscall.SIGUSR1)
	}
	return t
}

// StartCatching begins to set up the signals. WaitReady waits for that.
func (t *Catcher) StartCatching() {
	t.begin.Do(func() {
		go func() { // ends when the signals are taken
			if len(t.wanted) > 0 {
				signal.Notify(t.C, t.wanted...)
			}
			close(t.ready)
		}()
	})
}

// WaitReady returns when the signals are caught. Call StartCatching first. From then on no signal
// is lost or has its default effect.
func (t *Catcher) WaitReady() { <-t.ready }

// Send delivers a signal unless the queue is full.
func (t *Catcher) Send(sig os.Signal) {
	select {
	case t.C <- sig:
	default: // as signal.Notify does
	}
}

// RestoreDefaults restores the default effect of the signals. A process that ends with its session
// does not call it, so that no signal interrupts its cleanup: when a window closes as its program
// ends, the gateway's socket must not stay behind.
func (t *Catcher) RestoreDefaults() {
	t.StartCatching()
	t.WaitReady()
	signal.Stop(t.C)
}
