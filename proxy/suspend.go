package proxy

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/consent/authority"
	"terminalproxy/proxy/terminal/tty"
)

// Times of a suspension.
const (
	// nudgePause bounds how long a program sees a size other than the window's.
	nudgePause = 20 * time.Millisecond
	// behindEvery spaces the looks of a session in the background whether it is in front.
	behindEvery = 100 * time.Millisecond
	// firstLook delays the first of these looks: a shell may give the session the terminal a moment
	// after its start.
	firstLook = 2 * time.Millisecond
)

// suspendSession stops the session as Ctrl+Z stops any program: it gives the terminal back, then
// stops the process group, so that the user's shell sees a stopped job; `fg` resumes it. It follows
// a program that sig stopped, or a SIGTSTP to a proxy whose program has no leader; then it stops
// the program, too. It ends every agent's control.
// If no shell could resume us, as in a terminal that runs the proxy in place of a shell, the
// session goes on.
func (l *life) suspendSession(sig unix.Signal, stop bool) {
	s := l.s
	if l.behind && isWish(sig) && s.inFront() {
		l.comeForward()
		return
	}
	if l.over || !s.canResume() {
		switch {
		case s.conf.Keep != nil, sig == unix.SIGTSTP:
			s.child.Continue()
		case l.behind: // until the terminal is ours
			l.look.Reset(behindEvery)
		}
		return
	}
	l.takeKeyboard((*authority.Authority).EndSuspended)
	resume, ok := l.s.copier.PauseCopying()
	if !ok {
		return
	}
	if stop {
		s.child.Stop()
	}
	l.awaitAnswers()
	l.holdPump()
	if !l.behind {
		s.restoreLines()
	}
	l.haltJob(sig)
	l.takeTerminal(resume)
	s.child.Continue()
	l.nudgeProgram()
}

// haltJob stops us as a job, and returns when we go on.
func (l *life) haltJob(sig unix.Signal) {
	if l.s.conf.Keep != nil {
		l.stopWindow(sig)
		return
	}
	l.s.handOver()
	l.stopGroup(sig)
	l.s.rejoinOthers()
}

// handOver gives up what this process serves to others, before it is stopped.
func (s *surroundings) handOver() {
	if s.conf.Agent != nil && s.conf.Agent.Away != nil {
		s.conf.Agent.Away()
	}
}

// rejoinOthers undoes handOver: the session is found at the same place as the others.
func (s *surroundings) rejoinOthers() {
	if s.conf.Agent != nil && s.conf.Agent.Back != nil {
		s.conf.Agent.Back()
	}
}

// resumeSession takes the terminal again after a SIGCONT that did not follow suspendSession: a
// SIGSTOP leaves no time to give anything back, and a shell has used the terminal since.
func (l *life) resumeSession() {
	if l.behind {
		l.lookBehind()
		return
	}
	if l.over {
		return
	}
	front := l.s.inFront()
	if !front {
		l.takeKeyboard((*authority.Authority).EndSuspended)
	}
	resume, ok := l.s.copier.PauseCopying()
	if !ok {
		return
	}
	if front {
		l.s.restoreLines()
	} else { // the line settings are the shell's
		l.holdPump()
		l.s.unguardLines()
		l.s.term.ForgetLineSettings()
	}
	l.takeTerminal(resume)
	l.nudgeProgram()
}

// takeTerminal goes on as the user's shell has put us: in front, with the terminal, or behind it,
// where the program writes and a reader is stopped, as without us.
func (l *life) takeTerminal(resume func(front bool)) {
	s := l.s
	inFront, wasBehind := s.inFront(), l.behind
	front := inFront && !l.aside
	l.behind = !front
	if front && wasBehind {
		s.child.ReturnForeground()
	}
	if front {
		s.setRaw()
		if !l.heard {
			l.heard = true
			s.pump.Post(func(time.Time) { s.pump.NoteNewKeyboard() })
		}
	} else {
		s.child.TakeForeground()
	}
	resume(front)
	if !inFront {
		l.look.Reset(behindEvery)
		return
	}
	l.letPump()
	if front {
		if s.authority != nil {
			s.pump.Post(s.authority.OfferToGoOn)
		}
		l.resized = time.Time{}
		l.resizeProgram(time.Now()) // the window may have another size by now
	}
}

// comeForward takes the keyboard that was left aside, because the program or an agent wants it.
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
	l.takeKeyboard((*authority.Authority).EndSuspended)
	l.holdPump()
	l.look.Reset(firstLook)
}

// lookBehind looks whether the shell has put us in front meanwhile: some shells send no signal to a
// job that runs.
func (l *life) lookBehind() {
	switch {
	case !l.behind || l.over:
	case !l.s.inFront():
		l.look.Reset(behindEvery)
	default:
		resume, ok := l.s.copier.PauseCopying()
		if !ok {
			l.look.Reset(behindEvery)
			return
		}
		l.takeTerminal(resume)
		if l.s.child.IsStopped() { // it wanted the terminal before
			l.s.child.Continue()
		}
		l.nudgeProgram()
	}
}

// holdPump has the pump do nothing until letPump: the keyboard is not ours, and an agent must not
// type while the user cannot stop it.
func (l *life) holdPump() {
	if l.held != nil {
		return
	}
	if l.s.requests != nil {
		l.s.requests.SetInBackground(true)
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
		if l.s.requests != nil {
			l.s.requests.SetInBackground(false)
		}
	}
}

// takeKeyboard ends an agent's control by end, and returns when the pump has dropped what was
// queued.
func (l *life) takeKeyboard(end func(a *authority.Authority, now time.Time)) {
	s := l.s
	if s.authority == nil || l.held != nil {
		return
	}
	done := make(chan struct{})
	if s.pump.Post(func(now time.Time) { end(s.authority, now) }) &&
		s.pump.Post(func(time.Time) { close(done) }) {
		<-done
	}
}

// answerPatience bounds how long the terminal may take to answer a query for its cursor;
// farPatience applies to one at the other end of a line that may be slow, and busyPatience to one
// that has answered before: a late answer is still expected.
const (
	answerPatience = 300 * time.Millisecond
	farPatience    = time.Second
	busyPatience   = 2 * time.Second
)

// patience returns the bound for this session's terminal.
func patience(hasAnswered bool) time.Duration {
	switch {
	case hasAnswered:
		return busyPatience
	case os.Getenv("SSH_CONNECTION") != "":
		return farPatience
	default:
		return answerPatience
	}
}

// awaitAnswers waits until the terminal has answered the proxy's queries: the next reader of the
// keyboard would take the answer for typed input. No query may follow. It returns at once if
// nothing was asked and no agent was ever let in.
func (l *life) awaitAnswers() {
	s := l.s
	if s.detector == nil || l.held != nil || s.asksSince.Load() == 0 && !s.worth.IsWorthNow() {
		return
	}
	heard, done := make(chan struct{}), make(chan struct{})
	hasAnswered := false
	if !s.pump.Post(func(time.Time) {
		hasAnswered = s.detector.HasAnswered()
		s.detector.WhenAnswered(func() { close(done) })
		close(heard)
	}) {
		return
	}
	select {
	// what the pump had to do before is done, too: an input that ended the program has its receipt
	case <-heard:
	case <-time.After(lastPatience):
		return
	}
	limit := time.NewTimer(patience(hasAnswered) - time.Since(time.Unix(0, s.asksSince.Load())))
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	}
}

// stopGroup stops our process group, as the terminal's own Ctrl+Z does, and returns when it goes
// on. The group's other processes, a script or the other end of a pipe, get SIGTSTP; we stop by the
// signal that stopped the program, which the shell tells the user.
func (l *life) stopGroup(sig unix.Signal) {
	signal.Ignore(syscall.SIGTSTP)
	defer signal.Notify(l.s.signals.C, syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	if tty.StopSelf(sig); !tty.IsResumable() { // the shell is gone: the kernel has discarded it
		return
	}
	for sig := range l.s.signals.C { // it ends with SIGCONT: without it nothing here runs
		if sig == syscall.SIGCONT {
			return
		}
		l.handleSignal(sig)
	}
}

// nudgeProgram makes a program on the alternate screen redraw, if there is no model to do it: it
// sets another size for a moment.
func (l *life) nudgeProgram() {
	s := l.s
	if s.painter != nil || l.behind || !s.copier.Alt() {
		return
	}
	cols, rows := s.terminalSize()
	width, height := s.term.PixelSize()
	if rows < 2 || s.child.Resize(cols, rows-1, width, height) != nil {
		return
	}
	l.late.Reset(nudgePause)
}

// restoreLines gives the line settings back, when the copier has given back the rest.
func (s *surroundings) restoreLines() {
	s.unguardLines()
	if err := s.term.Restore(); err != nil {
		s.log.Info("suspend", "error", err)
	}
}

// unguardLines leaves the line settings to the shell, when the copier waits.
func (s *surroundings) unguardLines() {
	if s.watchdog != nil {
		s.watchdog.SetLines(nil, nil)
	}
}

// setRaw undoes restoreLines, before the copier takes up the rest.
func (s *session) setRaw() {
	s.settings = s.term.Termios()
	if err := s.term.EnterRawMode(); err != nil {
		s.log.Info("resume", "error", err)
	}
	if s.aside {
		s.cooksOutput(false)
	}
	if s.watchdog != nil {
		s.watchdog.SetLines(s.settings, s.term.Termios())
	}
}
