package proxy

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/keep"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/watchdog"
)

// Times of the end.
const (
	linkPatience = 500 * time.Millisecond // for the last words to the gateway
	lastPatience = 2 * time.Second        // for a screen that does not take the last words
	resizeEvery  = time.Second / 60       // while a user drags the window's edge
	// until then a program may have ended, and needs no watchdog.
	guardAfter = 30 * time.Millisecond
)

// crash describes a panic of one of the session's goroutines. The session ends, the terminal is
// restored, and the log has the stack.
type crash struct {
	where string
	cause any
	stack []byte
}

// life is what a running session waits on.
type life struct {
	s       *session
	exited  chan child.Exit
	ended   chan struct{} // closed with exited
	crashed chan crash
	parts   sync.WaitGroup // link
	pumped  chan struct{}  // closed when the pump has ended
	cutLink context.CancelFunc
	resized time.Time
	late    *time.Timer // a resize that came too soon after the one before
	over    bool        // the program was told to end
	// agentLost says that the coding agent ended before the program, which is its interface.
	agentLost bool
	// the terminal is another program's: the shell has put us in the background, or it is left
	// aside
	behind bool
	aside  bool          // see settleBegin
	heard  bool          // the keyboard is read
	look   *time.Timer   // while it has
	held   chan struct{} // the pump waits for its closing; nil while it runs
	came   *keep.Window  // came during a suspension, or nil
}

// runParts runs the parts until the program ends, and stops them in order: first the program's last
// output, then control, then the last messages to the gateway, then the terminal.
func (s *session) runParts(ctx context.Context) Result {
	l := &life{
		s:       s,
		exited:  make(chan child.Exit, 1),
		ended:   make(chan struct{}),
		pumped:  make(chan struct{}),
		crashed: make(chan crash, 8),
		late:    time.NewTimer(time.Hour),
		look:    time.NewTimer(time.Hour),
		behind:  s.behind,
		aside:   s.aside,
		heard:   !s.aside,
	}
	l.late.Stop()
	l.look.Stop()
	l.start()
	exit := l.awaitExit(ctx)
	return l.stopParts(exit)
}

// start starts the goroutines. The comment beside each says what ends it; stopParts waits for all
// of them.
func (l *life) start() {
	s := l.s
	go l.runGuarded("observer", s.observer.Run) // observer.Stop
	if s.recording != nil {
		go s.recording.Serve() // recording.EndRecording
	}
	// the program's terminal is closed, or copier.FinishOutput
	go l.runGuarded("copier", s.copier.Run)
	go func() { // pump.Stop
		defer close(l.pumped)
		l.runGuarded("input pump", func() {
			if err := s.pump.Run(); err != nil {
				panic(err)
			}
		})
	}()
	go func() { // the program's end
		exit := s.child.Wait()
		l.exited <- exit
		close(l.ended)
	}()
	if l.behind && !s.inFront() {
		l.waitInBack()
	}
	s.talk.Start() // talk.Close
	ctx, cut := context.WithCancel(context.Background())
	l.cutLink = cut
	if s.link != nil {
		l.parts.Go(func() { // cutLink
			if s.worth.WaitWorth(ctx) {
				l.runGuarded("link", func() { s.link.Run(ctx) })
			}
		})
	}
}

// runGuarded runs a part and turns its panic into the end of the session.
func (l *life) runGuarded(where string, run func()) {
	defer func() {
		if cause := recover(); cause != nil {
			l.crashed <- crash{where, cause, debug.Stack()}
		}
	}()
	run()
}

// startWatchdog guards the terminal. The program runs by now, so it does not wait for this.
func (l *life) startWatchdog() {
	s := l.s
	w, err := s.newWatchdog()
	if err != nil {
		s.log.Warn("the terminal is not guarded", "error", err)
	}
	if w == nil {
		return
	}
	if !s.copier.SetWatchdog(w) {
		w.Close()
		return
	}
	s.watchdog = w
	if !l.behind {
		w.SetLines(s.settings, s.term.Termios())
	}
	w.StartProcess(func(err error) { s.log.Warn("the terminal is not guarded", "error", err) })
}

// newWatchdog prepares a watchdog for the keyboard and the screen. It returns nil if the session
// has neither, or wants no watchdog.
func (s *surroundings) newWatchdog() (*watchdog.Watchdog, error) {
	conf := watchdog.Config{Path: s.conf.Watchdog, Keyboard: -1, Screen: -1}
	keyboard, screen := s.term.Descriptors()
	if s.term.HasKeyboard() {
		conf.Keyboard = keyboard
	}
	if s.term.HasScreen() {
		conf.Screen = screen
	}
	if conf.Path == "" || conf.Keyboard < 0 && conf.Screen < 0 {
		return nil, nil
	}
	w, err := watchdog.New(conf)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// awaitExit waits for the program's end and does what signals ask.
func (l *life) awaitExit(ctx context.Context) child.Exit {
	cancelled, over := ctx.Done(), l.s.beside.Ended()
	unguarded := time.NewTimer(guardAfter)
	defer unguarded.Stop()
	for {
		l.attachWaitingWindow()
		select {
		case exit := <-l.exited:
			return exit
		case w := <-l.s.conf.Keep.Windows():
			l.attachWindow(w)
		case <-l.s.conf.Keep.WindowDone():
			l.detachWindow("")
		case <-l.s.leaving:
			l.detachWindow(keep.Detached)
		case c := <-l.crashed:
			l.logCrash(c)
			l.terminateProgram()
		case <-cancelled:
			cancelled = nil
			l.terminateProgram()
		case <-over:
			over, l.agentLost = nil, true
			l.terminateProgram()
		case <-l.late.C:
			l.resizeProgram(time.Now())
		case <-unguarded.C:
			l.startWatchdog()
		case <-l.look.C:
			l.lookBehind()
		case <-l.s.called:
			l.comeForward()
		case sig := <-l.s.stops:
			l.followStop(sig)
		case sig := <-l.s.signals.C:
			l.followSignal(sig)
		}
	}
}

// attachWaitingWindow attaches the window that came during a suspension.
func (l *life) attachWaitingWindow() {
	if w := l.came; w != nil {
		l.came = nil
		l.attachWindow(w)
	}
}

func (l *life) logCrash(c crash) {
	l.s.log.Error("a part of the session failed",
		"part", c.where,
		"cause", fmt.Sprint(c.cause),
		"stack", string(c.stack),
	)
}

// followStop suspends the session after sig stopped the program.
func (l *life) followStop(sig unix.Signal) {
	if l.s.child.IsStopped() { // else it was our own doing, told late
		l.suspendSession(sig, false)
	}
}

// followSignal does what a signal to this process asks of the session.
func (l *life) followSignal(sig os.Signal) {
	switch sig {
	case syscall.SIGTSTP:
		if l.s.child.HasLeader() {
			l.s.child.Signal(unix.SIGTSTP) // we follow when it has
		} else {
			l.suspendSession(unix.SIGTSTP, true)
		}
	case syscall.SIGCONT:
		l.resumeSession()
	default:
		l.handleSignal(sig)
	}
}

func (l *life) handleSignal(sig os.Signal) {
	switch {
	case sig == syscall.SIGTSTP || sig == syscall.SIGCONT: // one suspension at a time
	case sig == syscall.SIGWINCH:
		l.resizeProgram(time.Now())
	case l.aside && (sig == syscall.SIGINT || sig == syscall.SIGQUIT):
		// a key of the terminal, whose foreground program is another
		l.s.child.Signal(sig.(syscall.Signal))
	case l.s.conf.Agent != nil && (sig == syscall.SIGQUIT || sig == syscall.SIGUSR1):
		// These signals take the keyboard back on any keyboard layout.
		l.s.pump.Post(func(now time.Time) { l.s.requests.Reclaim(now, "") })
	default:
		l.terminateProgram()
	}
}

// terminateProgram ends the program as a closing terminal would, without waiting for it.
func (l *life) terminateProgram() {
	if l.s.authority != nil {
		l.s.pump.Post(l.s.authority.Close)
	}
	if l.over {
		l.s.copier.AbandonOutput()
		return
	}
	l.over = true
	go l.s.child.Terminate(l.ended) // ends with the program, or after the last kill
}

// resizeProgram passes the window's size on, first to the model: nothing that the program draws for
// the new size may meet the old one.
func (l *life) resizeProgram(now time.Time) {
	if wait := resizeEvery - now.Sub(l.resized); wait > 0 {
		l.late.Reset(wait)
		return
	}
	l.resized = now
	s := l.s
	cols, rows, err := s.term.Size()
	if err != nil {
		return
	}
	cols, rows = min(cols, protocol.MaxSize), min(rows, protocol.MaxSize)
	s.observer.Call(func(now time.Time) {
		s.observer.Resize(now, cols, rows)
		s.recording.WindowResized(cols, rows)
		if s.painter != nil {
			s.painter.NoteResize()
		}
	})
	if s.link != nil {
		s.copier.NoteResize() // before the program draws for the new size
		s.copier.ResendScreen()
	}
	width, height := s.term.PixelSize()
	if err := s.child.Resize(cols, rows, width, height); err != nil {
		s.log.Info("resize", "error", err)
	}
	if s.link != nil {
		noteMemoryUse()
		s.link.Send(&protocol.Resize{ID: protocol.NewID(), SessionID: s.id, Cols: cols, Rows: rows})
	}
}

// stopParts stops the parts in order and leaves the terminal as it was.
func (l *life) stopParts(exit child.Exit) Result {
	s := l.s
	l.letPump()
	l.finishOutput()
	if s.authority != nil {
		s.pump.Post(func(now time.Time) { s.authority.End(now, protocol.ReasonExited) })
	}
	// before the gateway learns of the end: after that a host has no time to lose
	outlived := l.countOutlived()
	l.awaitAnswers()
	s.pump.Stop()
	<-l.pumped
	l.restoreTerminal() // before anything that waits for others
	if s.requests != nil {
		s.requests.EndActions()
	}
	s.events.Close()
	s.beside.ReportExit(exit)
	s.talk.Close()
	if s.link != nil && s.worth.DecideAtEnd() {
		s.awaitLink()
		l.lastWords(exit, outlived)
	}
	l.cutLink()
	l.parts.Wait()
	s.observer.Stop()
	s.events.ReportExit(exit.Code)
	return Result{
		ID:         s.id,
		Code:       exit.Code,
		Agent:      l.whyAgentEnded(),
		HeldOpen:   s.copier.HeldOpen(),
		Unrecorded: s.recording.EndRecording(exit),
	}
}

// finishOutput brings the rest of the output to the user's screen, for as long as that may take.
func (l *life) finishOutput() {
	l.s.copier.FinishOutput()
	select {
	case <-l.s.copier.Done():
	case <-l.giveUp():
		l.s.copier.AbandonOutput()
		<-l.s.copier.Done()
	}
}

// whyAgentEnded says why the coding agent ended, "" if its end was expected.
func (l *life) whyAgentEnded() string {
	if l.over && !l.agentLost {
		return ""
	}
	return l.s.talk.WhyEnded()
}

// giveUp fires when a screen that takes no output must no longer keep a session alive that was told
// to end.
func (l *life) giveUp() <-chan time.Time {
	if !l.over {
		return nil
	}
	return time.After(lastPatience)
}

// countOutlived counts the processes that survive an agent's program that was told to end. It looks
// at all processes, so it is skipped when a program ended by itself.
func (l *life) countOutlived() int {
	s := l.s
	if s.conf.headless == nil || !l.over {
		return 0
	}
	return min(s.child.CountSurvivors(SessionVariable+"="+s.id), protocol.MaxOutlived)
}

func (l *life) lastWords(exit child.Exit, outlived int) {
	s := l.s
	back, stop := context.WithTimeout(context.Background(), linkPatience)
	s.link.WaitReconnected(back)
	stop()
	var past *protocol.Past
	s.observer.Call(func(now time.Time) {
		past = s.observer.NoteExit(now, exit)
	})
	s.link.Send(&protocol.SessionClose{
		ID:        protocol.NewID(),
		SessionID: s.id,
		ExitCode:  exit.Code,
		Signal:    exit.Signal,
		Outlived:  outlived,
		Past:      past,
	})
	ctx, cancel := context.WithTimeout(context.Background(), linkPatience)
	defer cancel()
	s.link.FinishSending(ctx)
}

// restoreTerminal gives the user the terminal back as it was: it removes what the proxy shows, then
// the modes that the program left on, then restores the line settings. The copier and the pump have
// ended, so that no other goroutine reads or writes there.
func (l *life) restoreTerminal() {
	s := l.s
	if s.status != nil {
		s.status.Close()
	}
	if s.term.HasScreen() {
		_ = s.term.WriteAll(s.copier.ExitSequence(), lastPatience)
	}
	if err := s.term.Restore(); err != nil {
		s.log.Error("restore", "error", err)
	}
	if s.watchdog != nil {
		s.watchdog.Close()
	}
}
