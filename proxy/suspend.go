package proxy

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/authority"
	"terminalproxy/proxy/tty"
)

// Times of a suspension.
const (
	// nudgePause is how long a program gets to see the size that is not the window's.
	nudgePause = 20 * time.Millisecond
	// behindEvery is how often a session in the background looks whether it is in front.
	behindEvery = 100 * time.Millisecond
	// firstLook is when one that begins there looks first: a shell may give it the terminal a moment after its start.
	firstLook = 2 * time.Millisecond
)

// suspend stops the session as Ctrl+Z does any program: the terminal is given back, then the process group stops, so that
// the user's shell sees a stopped job; `fg` resumes it. It is for a program that was stopped by sig, or a SIGTSTP to a proxy
// whose program has no leader, in which case the program is stopped, too. No agent's control survives it.
//
// Where nobody could resume us, as in a terminal that runs the proxy in place of a shell, the session goes on.
func (l *life) suspend(sig unix.Signal, stop bool) {
	s := l.s
	if l.behind && isWish(sig) && s.inFront() {
		l.comeForward()
		return
	}
	if l.over || !s.resumable() {
		switch {
		case s.conf.Keep != nil, sig == unix.SIGTSTP:
			s.child.Continue()
		case l.behind: // until the terminal is ours
			l.look.Reset(behindEvery)
		}
		return
	}
	l.takeKeyboard((*authority.Authority).Suspend)
	resume, ok := l.s.copier.Park()
	if !ok {
		return
	}
	if stop {
		s.child.Stop()
	}
	l.answers()
	l.holdPump()
	if !l.behind {
		s.unraw()
	}
	l.halt(sig)
	l.take(resume)
	s.child.Continue()
	l.nudge()
}

// halt stops us as a job, and returns when we go on.
func (l *life) halt(sig unix.Signal) {
	if l.s.conf.Keep != nil {
		l.stopWindow(sig)
		return
	}
	l.s.handOver()
	l.stopGroup(sig)
	l.s.rejoin()
}

// handOver gives up what this process does for others, the gateway, before it is stopped.
func (s *session) handOver() {
	if s.conf.Agent != nil && s.conf.Agent.Away != nil {
		s.conf.Agent.Away()
	}
}

// rejoin is the way back: the session is found where the others are.
func (s *session) rejoin() {
	if s.conf.Agent != nil && s.conf.Agent.Back != nil {
		s.conf.Agent.Back()
	}
}

// resume takes the terminal up again after a SIGCONT that no suspension of ours preceded: somebody sent SIGSTOP, which
// leaves no time to give anything back, and a shell has used the terminal since.
func (l *life) resume() {
	if l.behind {
		l.lookBehind()
		return
	}
	if l.over {
		return
	}
	front := l.s.inFront()
	if !front {
		l.takeKeyboard((*authority.Authority).Suspend)
	}
	resume, ok := l.s.copier.Park()
	if !ok {
		return
	}
	if front {
		l.s.unraw()
	} else { // the line settings are the shell's
		l.holdPump()
		l.s.unguardLines()
		l.s.term.Forget()
	}
	l.take(resume)
	l.nudge()
}

// take goes on where the user's shell put us: in front, with the terminal, or behind it, where the program writes and
// whoever reads stops, as without us.
func (l *life) take(resume func(front bool)) {
	s := l.s
	inFront, was := s.inFront(), l.behind
	front := inFront && !l.aside
	l.behind = !front
	if front && was {
		s.child.Front()
	}
	if front {
		s.raw()
		if !l.heard {
			l.heard = true
			s.pump.Post(func(time.Time) { s.pump.Anew() })
		}
	} else {
		s.child.Background()
	}
	resume(front)
	if !inFront {
		l.look.Reset(behindEvery)
		return
	}
	l.letPump()
	if front {
		l.resized = time.Time{}
		l.resize(time.Now()) // the window may have another size by now
	}
}

// comeForward takes the keyboard that was left aside: the program wants it, or an agent.
func (l *life) comeForward() {
	l.aside = false
	if l.behind && !l.s.inFront() {
		l.waitInBack()
		return
	}
	l.lookBehind()
}

// waitInBack waits for the shell to put us in front. Until then no agent types: the user could not
// take the keyboard back.
func (l *life) waitInBack() {
	l.takeKeyboard((*authority.Authority).Suspend)
	l.holdPump()
	l.look.Reset(firstLook)
}

// lookBehind looks whether the shell has put us in front meanwhile: for a job that runs, some send no signal.
func (l *life) lookBehind() {
	switch {
	case !l.behind || l.over:
	case !l.s.inFront():
		l.look.Reset(behindEvery)
	default:
		resume, ok := l.s.copier.Park()
		if !ok {
			l.look.Reset(behindEvery)
			return
		}
		l.take(resume)
		if l.s.child.Halted() { // it wanted the terminal before
			l.s.child.Continue()
		}
		l.nudge()
	}
}

// holdPump has the pump do nothing until letPump: neither is the keyboard ours, nor may anybody type who could not be
// stopped from it.
func (l *life) holdPump() {
	if l.held != nil {
		return
	}
	reached, held := make(chan struct{}), make(chan struct{})
	if l.s.pump.Post(func(time.Time) { close(reached); <-held }) {
		l.held = held
		<-reached
	}
}

func (l *life) letPump() {
	if l.held != nil {
		close(l.held)
		l.held = nil
	}
}

// takeKeyboard ends an agent's control as end does, and returns when the pump has dropped what was queued.
func (l *life) takeKeyboard(end func(a *authority.Authority, now time.Time)) {
	s := l.s
	if s.authority == nil || l.held != nil {
		return
	}
	done := make(chan struct{})
	if s.pump.Post(func(now time.Time) { end(s.authority, now) }) && s.pump.Post(func(time.Time) { close(done) }) {
		<-done
	}
}

// answerPatience is how long the terminal gets to answer a question for its cursor, and farPatience where it is at the other end of a
// line that may be slow.
const (
	answerPatience = 300 * time.Millisecond
	farPatience    = time.Second
)

// patience is that of this session's terminal.
func patience() time.Duration {
	if os.Getenv("SSH_CONNECTION") != "" {
		return farPatience
	}
	return answerPatience
}

// answers waits until the terminal has answered what the proxy asked it: whoever reads the keyboard next would take the
// answer for something typed. No question may follow. Where nothing was asked and no agent was ever let in there is nothing to wait for.
func (l *life) answers() {
	s := l.s
	if s.detector == nil || l.held != nil || s.asksSince.Load() == 0 && !s.worth.Now() {
		return
	}
	heard, done := make(chan struct{}), make(chan struct{})
	if !s.pump.Post(func(time.Time) { s.detector.WhenAnswered(func() { close(done) }); close(heard) }) {
		return
	}
	select {
	case <-heard: // what the pump had to do before is done, too: an input that ended the program has its receipt
	case <-time.After(lastPatience):
		return
	}
	limit := time.NewTimer(patience() - time.Since(time.Unix(0, s.asksSince.Load())))
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	}
}

// stopGroup stops our process group, as the terminal's own Ctrl+Z does, and returns when it goes on. What else is in it, a
// script or the other end of a pipe, gets SIGTSTP; we ourselves what stopped the program, which the shell tells the user.
func (l *life) stopGroup(sig unix.Signal) {
	signal.Ignore(syscall.SIGTSTP)
	defer signal.Notify(l.s.signals.C, syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	if tty.StopSelf(sig); !tty.Resumable() { // the shell is gone: the kernel has discarded it
		return
	}
	for sig := range l.s.signals.C { // it ends with SIGCONT: without it nothing here runs
		if sig == syscall.SIGCONT {
			return
		}
		l.signal(sig)
	}
}

// nudge makes a program on the alternate screen draw itself anew, where there is no model to do it: by a size that lasts
// for a moment.
func (l *life) nudge() {
	s := l.s
	if s.painter != nil || l.behind || !s.copier.Alt() {
		return
	}
	cols, rows := s.size()
	if rows < 2 || s.child.Resize(cols, rows-1) != nil {
		return
	}
	l.late.Reset(nudgePause)
}

// unraw gives the line settings back, when the copier has given back the rest.
func (s *session) unraw() {
	s.unguardLines()
	if err := s.term.Restore(); err != nil {
		s.log.Info("suspend", "error", err)
	}
}

// unguardLines leaves the line settings to the shell, when the copier waits.
func (s *session) unguardLines() {
	if s.watchdog != nil {
		s.watchdog.Lines(nil, nil)
	}
}

// raw is the way back, before the copier takes up the rest.
func (s *session) raw() {
	s.settings = s.term.Termios()
	if err := s.term.Raw(); err != nil {
		s.log.Info("resume", "error", err)
	}
	if s.aside {
		s.cooks(false)
	}
	if s.watchdog != nil {
		s.watchdog.Lines(s.settings, s.term.Termios())
	}
}
