package proxy

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/control"
)

// Times of a suspension.
const (
	// parkPatience is how long the copier may be busy with a screen that takes no output before a suspension is given up.
	parkPatience = 2 * time.Second
	// nudgePause is how long a program gets to see the size that is not the window's.
	nudgePause = 20 * time.Millisecond
)

// suspend stops the session as Ctrl+Z does any program: the terminal is given back, then the process group stops, so that
// the user's shell sees a stopped job; `fg` resumes it. It is for a program that stopped by itself, or a SIGTSTP to the
// proxy, in which case the program is stopped, too. No agent's control survives it.
//
// Where nobody could resume us, as in a terminal that runs the proxy in place of a shell, the session goes on.
func (l *life) suspend(signals <-chan os.Signal, stop bool) {
	s := l.s
	if l.over || !resumable() {
		return
	}
	l.takeKeyboard()
	resume, ok := l.park()
	if !ok {
		return
	}
	if stop {
		s.child.Stop()
	}
	l.answers()
	s.unraw()
	l.stopGroup(signals)
	resume()
	l.resized = time.Time{}
	l.resize(time.Now()) // the window may have another size by now
	s.child.Continue()
	l.nudge()
}

// resume takes the terminal up again after a SIGCONT that no suspension of ours preceded: somebody sent SIGSTOP, which
// leaves no time to give anything back, and a shell has used the terminal since.
func (l *life) resume() {
	if l.over {
		return
	}
	if resume, ok := l.park(); ok {
		l.s.unraw()
		resume()
		l.nudge()
	}
}

// takeKeyboard ends an agent's control, and returns when the pump has dropped what was queued.
func (l *life) takeKeyboard() {
	s := l.s
	if s.authority == nil {
		return
	}
	done := make(chan struct{})
	if s.pump.Post(func(now time.Time) { s.authority.End(now, control.Reclaimed) }) && s.pump.Post(func(time.Time) { close(done) }) {
		<-done
	}
}

// answers waits until the terminal has answered what the proxy asked it: whoever reads the keyboard next would take the
// answer for something typed. No question may follow.
func (l *life) answers() {
	s := l.s
	if s.detector == nil {
		return
	}
	done := make(chan struct{})
	if !s.pump.Post(func(time.Time) { s.detector.whenAnswered(func() { close(done) }) }) {
		return
	}
	limit := time.NewTimer(originPatience)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	}
}

// park has the copier give the terminal back and wait. The function it returns has it take the terminal up again; ok is
// false when the copier cannot: the screen takes no output, or the session ends.
func (l *life) park() (resume func(), ok bool) {
	s := l.s
	reached, back, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	ok = l.copier(reached, func() {
		s.giveBack()
		close(reached)
		<-back
		s.takeUp()
		close(done)
	})
	return func() { close(back); <-done }, ok
}

// copier has the copier call do between two chunks, and waits until that has closed reached. It reports false if it does
// not come to that.
func (l *life) copier(reached <-chan struct{}, do func()) bool {
	l.s.output.ask(do)
	wait := time.NewTimer(parkPatience)
	defer wait.Stop()
	select {
	case <-reached:
		return true
	case <-l.copied:
	case <-wait.C:
		if l.s.output.withdraw() {
			return false
		}
	}
	select { // it came at the last moment, or the copier has ended
	case <-reached:
		return true
	case <-l.copied:
		return false
	}
}

// stopGroup stops our process group, as the terminal's own Ctrl+Z does, and returns when it goes on. What else is in it, a
// script or the other end of a pipe, gets SIGTSTP; we ourselves SIGSTOP, because the Go runtime cannot go back to the
// default of a signal that it was told to catch.
func (l *life) stopGroup(signals <-chan os.Signal) {
	signal.Ignore(syscall.SIGTSTP)
	defer signal.Notify(l.notified, syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	for sig := range signals { // it ends with SIGCONT: without it nothing here runs
		if sig == syscall.SIGCONT {
			return
		}
		l.signal(sig)
	}
}

// resumable reports whether a shell could resume us: our process group is not orphaned (POSIX, 3.264), that is, somebody up
// our line of ancestors is in our session, but not in our process group.
func resumable() bool {
	group, session := syscall.Getpgrp(), getsid(0)
	for pid := syscall.Getppid(); pid > 1 && getsid(pid) == session; pid = parent(pid) {
		if other, err := syscall.Getpgid(pid); err != nil || other != group {
			return err == nil
		}
	}
	return false
}

func getsid(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return -1
	}
	return sid
}

// parent is the parent of a process, 0 where the system does not say (proc(5), stat).
func parent(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return ppid
}

// nudge makes a program on the alternate screen draw itself anew, where there is no model to do it: by a size that lasts
// for a moment.
func (l *life) nudge() {
	s := l.s
	if s.painter != nil || !s.output.alt.Load() {
		return
	}
	cols, rows := s.size()
	if rows < 2 || s.child.Resize(cols, rows-1) != nil {
		return
	}
	l.late.Reset(nudgePause)
}

// giveBack gives the user's terminal to whoever comes next. It belongs to the copier, like everything that writes there.
func (s *session) giveBack() {
	o := s.output
	if o.hide != nil {
		o.unshow()
	}
	if o.last.on {
		o.write(o.last.append(nil))
	}
	if s.painter != nil {
		s.painter.title = "" // the window has its own again
	}
	if g := o.last.guardian; g != nil {
		g.Bequeath(nil, nil)
	}
}

// unraw gives the line settings back, when the copier has given back the rest.
func (s *session) unraw() {
	if s.guardian != nil {
		s.guardian.Lines(nil, nil) // the copier waits
	}
	if err := s.term.Restore(); err != nil {
		s.log.Info("suspend", "error", err)
	}
}

// takeUp is the way back.
func (s *session) takeUp() {
	o := s.output
	s.settings = s.term.Termios()
	if err := s.term.Raw(); err != nil {
		s.log.Info("resume", "error", err)
	}
	if g := o.last.guardian; g != nil {
		g.Lines(s.settings, s.term.Termios())
	}
	o.last.leave()
	if o.last.on {
		o.write(o.last.modes.AppendSet(nil))
	}
	switch {
	case s.painter == nil:
	case o.last.modes.Alt():
		o.write(o.erase())
	default:
		s.loop.post(func(time.Time) { s.painter.resized() }) // who knows where the shell left the cursor
	}
	o.dirty.Store(true)
}
