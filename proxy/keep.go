package proxy

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/window"
)

// Keep has a session outlive its window: the program goes on without one, and other windows come to it. Its methods may be called from
// any goroutine.
type Keep struct {
	dir  string       // of the session's door
	door *window.Door // nil before the session begins
	left atomic.Int64 // since when there is no window, in Unix milliseconds, 0 while there is one

	mu sync.Mutex
	at *window.Window // nil while there is none
}

// NewKeep makes what keeps a session, which starts in a window and has its door in dir.
func NewKeep(dir string, first *window.Window) *Keep { return &Keep{dir: dir, at: first} }

// Write tells the user at the session's window something, and nobody if there is none.
func (k *Keep) Write(p []byte) (int, error) {
	if w := k.window(); w != nil {
		w.Say(string(p))
	}
	return len(p), nil
}

// Exit has the process in front end as the program did.
func (k *Keep) Exit(code int) {
	if w := k.window(); w != nil {
		w.Exit(code)
	}
}

// window is the session's window, nil for none. It may be asked of a nil Keep.
func (k *Keep) window() *window.Window {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at
}

// since is when the user left, in Unix milliseconds, 0 for not.
func (k *Keep) since() int64 {
	if k == nil {
		return 0
	}
	return k.left.Load()
}

// put notes that the session is at a window, nil for none.
func (k *Keep) put(w *window.Window) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = w
}

// gone is closed when the process in front of the window is gone, nil without one.
func (k *Keep) gone() <-chan struct{} {
	if w := k.window(); w != nil {
		return w.Gone()
	}
	return nil
}

// windows are those that come, nil where none can.
func (k *Keep) windows() <-chan *window.Window {
	if k == nil || k.door == nil {
		return nil
	}
	return k.door.Windows()
}

// openDoor has windows come to the session from now on.
func (s *session) openDoor() (shut func(), err error) {
	k := s.conf.Keep
	if k == nil {
		return func() {}, nil
	}
	if k.door, err = window.Open(k.dir, s.id); err != nil {
		return nil, &UserError{Status: 125, Say: "--keep: " + err.Error(), Hint: "set TERMINALPROXY_DIR to a shorter path, or leave out --keep", Cause: err}
	}
	k.window().CloseFiles() // the session has its own
	k.window().Hear(s.hear)
	return k.door.Close, nil
}

// hear takes a signal of the process in front as one of ours.
func (s *session) hear(sig os.Signal) {
	select {
	case s.signals <- sig:
	default: // as signal.Notify does
	}
}

// resumable reports whether a shell could resume what runs in front, if it stopped.
func (s *session) resumable() bool {
	if s.conf.Keep == nil {
		return tty.Resumable()
	}
	w := s.conf.Keep.window()
	return w != nil && w.Job()
}

// inFront reports whether we are in the terminal's foreground: the keyboard and the line settings are ours.
func (s *session) inFront() bool {
	if w := s.conf.Keep.window(); w != nil {
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
	w := s.conf.Keep.window()
	w.Stop(sig)
	for {
		select {
		case sig := <-s.signals:
			if sig == syscall.SIGCONT {
				return
			}
			l.signal(sig)
		case <-w.Gone():
			return
		case l.came = <-s.conf.Keep.windows():
			return
		}
	}
}

// detach leaves the window, if there is one: the terminal is given back, and the program goes on without. No agent's control survives it.
func (l *life) detach(why window.Release) {
	s, k := l.s, l.s.conf.Keep
	w := k.window()
	if w == nil {
		return
	}
	w.Hear(func(os.Signal) {})
	l.takeKeyboard()
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
	k.put(nil)
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
			s.conf.Keep.left.Store(0)
		} else {
			s.authority.Leave(now)
			s.conf.Keep.left.Store(now.UnixMilli())
		}
		hidden := s.authority.State(now).Hidden
		s.observer.Post(func(now time.Time) { s.observer.ControlChanged(now, hidden) })
	})
	l.letPump()
}

// attach takes the program to another window, and away from the one where it is.
func (l *life) attach(w *window.Window) {
	s := l.s
	defer w.CloseFiles()
	l.detach(window.Taken)
	l.holdPump()
	err := error(&UserError{Say: "the program has ended"})
	s.copier.Move(func() bool {
		err = s.arrive(w)
		return err == nil
	})
	if err != nil {
		w.Say(fmt.Sprintf("attach: %v\n", err))
		w.Exit(1)
		w.Close()
		l.letPump()
		return
	}
	s.conf.Keep.put(w)
	w.Hear(s.hear)
	l.guard()
	l.moved(true)
	l.resized = time.Time{}
	l.resize(time.Now())
}

const (
	// historyShown is how many rows of history go up into a terminal to which the program comes.
	historyShown = 1000
	// arrivePatience is how long such a terminal may take for all that.
	arrivePatience = 10 * time.Second
)

// arrive takes a window's terminal and shows the program there. Nobody else writes to it yet.
func (s *session) arrive(w *window.Window) error {
	if err := s.term.Take(w.In, w.Out); err != nil {
		return err
	}
	s.raw()
	cols, rows := s.size()
	var all []byte
	s.observer.Call(func(now time.Time) {
		s.observer.Resize(now, cols, rows)
		all = s.copier.Around(s.observer.Model().AppendPicture(nil))
		all = append(s.past(rows), all...)
	})
	if err := s.term.WriteAll(all, arrivePatience); err != nil {
		s.log.Info("attach", "error", err) // the program goes on drawing, and the window may be gone already
	}
	return nil
}

// past moves what stands on a terminal up into its own history, and the program's history after it. It belongs to the observer's goroutine.
func (s *session) past(rows int) []byte {
	m := s.observer.Model()
	p := fmt.Appendf(nil, "%s\x1b[%d;1H", tty.Unlock, rows)
	for i := max(0, m.HistoryLen()-historyShown); i < m.HistoryLen(); i++ {
		p = append(p, "\r\n"...)
		p = m.AppendHistoryANSI(p, i)
	}
	for range rows {
		p = append(p, "\r\n"...)
	}
	return append(p, "\x1b[H\x1b[2J"...)
}

// kept tells what the gateway is to say of a session that outlives its window.
func (s *session) kept(m *protocol.Snapshot) {
	m.Kept, m.DetachedAt = s.conf.Keep != nil, s.conf.Keep.since()
}
