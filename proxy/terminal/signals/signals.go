// Package signals takes the process's signals for a session. To take them is a conversation of the Go runtime with itself, some
// 20 µs for each, so it goes on beside what else a start has to do. It knows nothing of what they mean.
package signals

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// room is how many signals may wait to be heard.
const room = 16

// Taken are the signals that come to a session.
type Taken struct {
	C      chan os.Signal // others may send here, too, but must not wait for room
	wanted []os.Signal
	begin  sync.Once
	ready  chan struct{} // closed when they are taken
}

// None takes no signals: those of the process are somebody else's.
func None() *Taken { return &Taken{C: make(chan os.Signal, room), ready: make(chan struct{})} }

// Take is for what ends, stops or resumes a session, and for changes of the window's size; hangup and reclaim say whether a closing
// window is the session's business, and SIGUSR1. A hangup that whoever started us has us ignore, nohup, goes on being ignored. Begin
// takes them; it does so before a program is started, which would inherit one that is ignored and not taken.
func Take(hangup, reclaim bool) *Taken {
	t := None()
	t.wanted = []os.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH,
	}
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		t.wanted = append(t.wanted, syscall.SIGHUP)
	}
	if reclaim {
		t.wanted = append(t.wanted, syscall.SIGUSR1)
	}
	return t
}

// Begin begins to take them, for Wait.
func (t *Taken) Begin() {
	t.begin.Do(func() {
		go func() { // ends when they are taken
			if len(t.wanted) > 0 {
				signal.Notify(t.C, t.wanted...)
			}
			close(t.ready)
		}()
	})
}

// Wait returns when they are taken, after Begin: none is lost from then on, and none does what it does by default.
func (t *Taken) Wait() { <-t.ready }

// Send has a signal heard, unless many wait already.
func (t *Taken) Send(sig os.Signal) {
	select {
	case t.C <- sig:
	default: // as signal.Notify does
	}
}

// Release gives them back: they do by default what they do. A process that ends with its session does not call it, so that no signal
// ends it in the middle of what comes after: a window that closes as its program ends must not leave the gateway's socket behind.
func (t *Taken) Release() {
	t.Begin()
	t.Wait()
	signal.Stop(t.C)
}
