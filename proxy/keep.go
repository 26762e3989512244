package proxy

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/authority"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/window"
)

// openDoor has windows come to the session from now on.
func (s *session) openDoor() (shut func(), err error) {
	k := s.conf.Keep
	if k == nil {
		return func() {}, nil
	}
	if err := k.Open(s.id); err != nil {
		return nil, &UserError{Status: 125, Say: "--keep: " + err.Error(), Hint: "set TERMINALPROXY_DIR to a shorter path, or leave out --keep", Cause: err}
	}
	w := k.Window()
	w.CloseFiles()         // the session has its own
	w.Hear(s.signals.Send) // the process in front gets those of the window
	return k.Close, nil
}

// resumable reports whether a shell could resume what runs in front, if it stopped.
func (s *session) resumable() bool {
	if s.conf.Keep == nil {
		return tty.Resumable()
	}
	w := s.conf.Keep.Window()
	return w != nil && w.Job()
}

// inFront reports whether we are in the terminal's foreground: the keyboard and the line settings are ours.
func (s *session) inFront() bool {
	if w := s.conf.Keep.Window(); w != nil {
		return tty.ForegroundOf(w.Pid)
	}
	return s.term.Foreground()
}

// leave is the user's wish, from the menu, to leave the program running without a window.
func (s *session) leave() (took bool) {
	now := time.Now()
	if s.conf.Keep == nil || !s.authority.State(now).Menu {
		return false
	}
	s.authority.Key(now) // the menu is answered
	select {
	case s.leaving <- struct{}{}:
	default: // it is on its way
	}
	return true
}

// stopWindow stops the process in front, and returns when it goes on, or the session is to be at another window.
func (l *life) stopWindow(sig unix.Signal) {
	s := l.s
	w := s.conf.Keep.Window()
	w.Stop(sig)
	for {
		select {
		case sig := <-s.signals.C:
			if sig == syscall.SIGCONT {
				return
			}
			l.signal(sig)
		case <-w.Gone():
			return
		case l.came = <-s.conf.Keep.Windows():
			return
		}
	}
}

// detach leaves the window, if there is one: the terminal is given back, and the program goes on without. No agent's control survives it.
func (l *life) detach(why window.Release) {
	s, k := l.s, l.s.conf.Keep
	w := k.Window()
	if w == nil {
		return
	}
	w.Hear(func(os.Signal) {})
	l.takeKeyboard((*authority.Authority).Leave)
	if why == window.Detached {
		l.answers()
	}
	l.holdPump()
	l.letTerminalGo()
	if s.watchdog != nil {
		s.watchdog.Close()
		s.watchdog = nil
	}
	if l.behind {
		l.behind = false
		l.look.Stop()
		s.child.Front()
	}
	k.Put(nil)
	w.Release(s.id, why)
	w.Close()
	l.moved(false)
	if s.child.Halted() { // nobody is there who could resume it
		s.child.Continue()
	}
}

// letTerminalGo gives the terminal back and lets go of it.
func (l *life) letTerminalGo() {
	s := l.s
	let := func() bool {
		s.unguardLines()
		if err := errors.Join(s.term.Yield(), s.term.Leave()); err != nil {
			s.log.Info("detach", "error", err)
		}
		return false
	}
	if l.behind { // it is the shell's by now
		s.copier.Cut()
	}
	if s.copier.Move(let) {
		return
	}
	if s.copier.Cut(); !s.copier.Move(let) { // it takes no output, or the program's terminal is closed
		let()
	}
}

// moved tells the pump, and through it control and agents, that the user left, or came.
func (l *life) moved(came bool) {
	s := l.s
	s.pump.Post(func(now time.Time) {
		s.detector.Reset()
		s.pump.Anew()
		if came {
			s.authority.Return(now)
			s.conf.Keep.Return()
		} else {
			s.authority.Leave(now)
			s.conf.Keep.Leave(now)
		}
		hidden := s.authority.State(now).Hidden
		s.observer.Post(func(now time.Time) { s.observer.ControlChanged(now, hidden) })
	})
	l.letPump()
}

// attach takes the program to another window, and away from the one where it is. Where that other one is no terminal, the program stays.
func (l *life) attach(w *window.Window) {
	s := l.s
	defer w.CloseFiles()
	next, err := tty.OpenBoth(w.In, w.Out)
	if err != nil {
		refuseWindow(w, err)
		return
	}
	defer next.Close()
	l.detach(window.Taken)
	l.holdPump()
	err = error(&UserError{Say: "the program has ended"})
	s.copier.Move(func() bool {
		err = s.arrive(w, next)
		return err == nil
	})
	if err != nil {
		refuseWindow(w, err)
		l.letPump()
		return
	}
	s.conf.Keep.Put(w)
	w.Hear(s.signals.Send)
	l.guard()
	l.moved(true)
	l.resized = time.Time{}
	l.resize(time.Now())
}

// refuseWindow has the process in front end.
func refuseWindow(w *window.Window, err error) {
	w.Say(fmt.Sprintf("attach: %v\n", err))
	w.Exit(1)
	w.Close()
}

const (
	// historyShown is how many rows of history go up into a terminal to which the program comes.
	historyShown = 1000
	// arrivePatience is how long such a terminal may take for all that.
	arrivePatience = 10 * time.Second
)

// arrive takes a window's terminal and shows the program there. Nobody else writes to it yet.
func (s *session) arrive(w *window.Window, next *tty.Terminal) error {
	if err := s.term.Take(next); err != nil {
		return err
	}
	s.raw()
	grant := s.conf.Agent.Keys.WithDefaults().Grant
	s.status.LabelGrant(grant.LabelAt(notice.Clean(w.ForCtrlG, 20)))
	cols, rows := s.size()
	var all []byte
	s.observer.Call(func(now time.Time) {
		s.observer.Resize(now, cols, rows)
		m := s.observer.Model()
		all = append(m.AppendPast([]byte(tty.Unlock), rows, historyShown), s.copier.Around(m.AppendPicture(nil))...)
	})
	if err := s.term.WriteAll(all, arrivePatience); err != nil {
		s.log.Info("attach", "error", err) // the program goes on drawing, and the window may be gone already
	}
	return nil
}

// kept tells what the gateway is to say of a session that outlives its window.
func (s *session) kept(m *protocol.Snapshot) {
	m.Kept, m.DetachedAt = s.conf.Keep != nil, s.conf.Keep.Left()
}
