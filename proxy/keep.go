package proxy

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/authority"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/detached/keep"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/tty"
)

// openDoor lets windows come to the session from now on.
func (s *session) openDoor() (shut func(), err error) {
	k := s.conf.Keep
	if k == nil {
		return func() {}, nil
	}
	if err := k.OpenDoor(s.id); err != nil {
		return nil, &UserError{
			Status: 125,
			Say:    "--keep: " + err.Error(),
			Hint:   "set TERMINALPROXY_DIR to a shorter path, or leave out --keep",
			Cause:  err,
		}
	}
	w := k.Window()
	w.CloseFiles()                   // the session has its own
	w.ForwardSignals(s.signals.Send) // the process in front gets those of the window
	return k.Close, nil
}

// canResume reports whether a shell could resume the process in front if it stopped.
func (s *surroundings) canResume() bool {
	if s.conf.Keep == nil {
		return tty.IsResumable()
	}
	w := s.conf.Keep.Window()
	return w != nil && w.IsResumable()
}

// inFront reports whether we are in the terminal's foreground: the keyboard and the line settings
// are ours.
func (s *surroundings) inFront() bool {
	if w := s.conf.Keep.Window(); w != nil {
		return tty.ForegroundOf(w.Pid)
	}
	return s.term.Foreground()
}

// leaveFromMenu leaves the program running without a window, if the user's menu is open.
func (s *session) leaveFromMenu() (took bool) {
	now := time.Now()
	if s.conf.Keep == nil || !s.authority.IsCurrent(question.Menu) {
		return false
	}
	s.authority.NoteKey(now) // the menu is answered
	select {
	case s.leaving <- struct{}{}:
	default: // it is on its way
	}
	return true
}

// stopWindow stops the process in front, and returns when it goes on, or when another window comes.
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
			l.handleSignal(sig)
		case <-w.Done():
			return
		case l.came = <-s.conf.Keep.Windows():
			return
		}
	}
}

// detachWindow leaves the window, if there is one: it gives the terminal back, and the program goes
// on without. It ends every agent's control.
func (l *life) detachWindow(why keep.Release) {
	s, k := l.s, l.s.conf.Keep
	w := k.Window()
	if w == nil {
		return
	}
	w.ForwardSignals(func(os.Signal) {})
	l.takeKeyboard((*authority.Authority).NoteLeft)
	if why == keep.Detached {
		l.awaitAnswers()
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
		s.child.ReturnForeground()
	}
	k.SetWindow(nil)
	s.pump.Post(s.desk.Leave)
	w.ReturnTerminal(s.id, why)
	w.Close()
	l.announceWindow(false)
	if s.child.IsStopped() { // no shell is left that could resume it
		s.child.Continue()
	}
}

// letTerminalGo gives the terminal back and lets go of it.
func (l *life) letTerminalGo() {
	s := l.s
	let := func() bool {
		s.unguardLines()
		if err := errors.Join(s.term.RestoreIfUnchanged(), s.term.LeaveDevice()); err != nil {
			s.log.Info("detach", "error", err)
		}
		return false
	}
	if l.behind { // it is the shell's by now
		s.copier.DropWrites()
	}
	if s.copier.ChangeTerminal(let) {
		return
	}
	// it takes no output, or the program's terminal is closed
	if s.copier.DropWrites(); !s.copier.ChangeTerminal(let) {
		let()
	}
}

// announceWindow tells the pump, and through it control and agents, that the user left or came.
func (l *life) announceWindow(came bool) {
	s := l.s
	s.pump.Post(func(now time.Time) {
		s.detector.Reset()
		s.pump.NoteNewKeyboard()
		if came {
			s.authority.SetAttached(now, true)
			s.conf.Keep.NoteReturned()
		} else {
			s.authority.NoteLeft(now)
			s.conf.Keep.NoteLeft(now)
		}
		hidden := s.authority.State(now).Hidden
		s.observer.Post(func(now time.Time) { s.observer.ControlChanged(now, hidden) })
	})
	l.letPump()
}

// attachWindow moves the program from its window to another one. If that one is no terminal, the
// program stays.
func (l *life) attachWindow(w *keep.Window) {
	s := l.s
	defer w.CloseFiles()
	next, err := tty.OpenBoth(w.In, w.Out)
	if err != nil {
		refuseWindow(w, err)
		return
	}
	defer next.Close()
	l.detachWindow(keep.Taken)
	l.holdPump()
	err = error(&UserError{Say: "the program has ended"})
	s.copier.ChangeTerminal(func() bool {
		err = s.showInWindow(w, next)
		return err == nil
	})
	if err != nil {
		refuseWindow(w, err)
		l.letPump()
		return
	}
	s.conf.Keep.SetWindow(w)
	w.ForwardSignals(s.signals.Send)
	l.startWatchdog()
	l.announceWindow(true)
	l.resized = time.Time{}
	l.resizeProgram(time.Now())
}

// refuseWindow has the process in front end.
func refuseWindow(w *keep.Window, err error) {
	w.ShowMessage(fmt.Sprintf("attach: %v\n", err))
	w.EndWithStatus(1)
	w.Close()
}

const (
	// historyShown bounds the rows of history written into a terminal to which the program comes.
	historyShown = 1000
	// arrivePatience bounds how long such a terminal may take for that history and the screen.
	arrivePatience = 10 * time.Second
)

// showInWindow takes a window's terminal and shows the program there. The copier does not write to
// it yet.
func (s *session) showInWindow(w *keep.Window, next *tty.Terminal) error {
	if err := s.term.TakeDevice(next); err != nil {
		return err
	}
	s.setRaw()
	grant := s.conf.Agent.Keys.WithDefaults().Grant
	s.status.LabelGrant(grant.LabelAt(notice.Clean(w.ForCtrlG, 20)))
	cols, rows := s.terminalSize()
	var all []byte
	s.observer.Call(func(now time.Time) {
		s.observer.Resize(now, cols, rows)
		m := s.observer.Model()
		all = append(
			m.AppendPast([]byte(tty.Unlock), rows, historyShown),
			s.copier.ModesAround(m.AppendPicture(nil))...,
		)
	})
	if err := s.term.WriteAll(all, arrivePatience); err != nil {
		// the program goes on drawing, and the window may be gone already
		s.log.Info("attach", "error", err)
	}
	return nil
}

// fillKept fills in what the gateway shows of a session that outlives its window.
func (s *session) fillKept(m *protocol.Snapshot) {
	m.Kept, m.DetachedAt = s.conf.Keep != nil, s.conf.Keep.LeftAt()
}
