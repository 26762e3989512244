package headless

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/terminal/child"
)

// restAfter is the silence after which a session rests.
const restAfter = 2 * time.Second

// Session stands in for a user's terminal: it has the program that an agent asked for, and ends it
// with the host. Its methods may be called from any goroutine; those of a nil Session, a user's, do
// nothing and report false.
type Session struct {
	Command    string
	Args       []string
	Dir        string // where the program starts
	Name       string // "" is the program's
	Cols, Rows int
	Hurry      <-chan struct{} // closed when the end must not take long

	owner  control.Agent
	env    []string // for the program, beyond the host's
	reaper *reaper
	begun  func(id string)
	idle   time.Duration // the session ends after this long without use; 0 for never
	stop   context.CancelFunc

	idled  atomic.Bool  // idle was why it ended
	used   atomic.Int64 // the last use, in Unix microseconds
	people atomic.Int32 // how many are attached
}

// run runs the session, and ends it when it has been idle for too long.
func (s *Session) run(ctx context.Context, run Runner) (Result, error) {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	s.NoteActivity()
	if s.idle > 0 {
		defer s.watchIdle().Stop()
	}
	result, err := run(ctx, s)
	result.Idle = s.idled.Load()
	return result, err
}

// NoteStarted says that the program runs in the session of this id.
func (s *Session) NoteStarted(id string) { s.begun(id) }

// Stop ends the session as a closing terminal would.
func (s *Session) Stop() { s.stop() }

// Agent started the session.
func (s *Session) Agent() control.Agent { return s.owner }

// SetAttached notes how many people are attached.
func (s *Session) SetAttached(n int) { s.people.Store(int32(n)) }

// IsUnattended reports whether no person is attached who could be asked.
func (s *Session) IsUnattended() bool { return s != nil && s.people.Load() == 0 }

// NoteActivity notes a use of the session, or output of the program.
func (s *Session) NoteActivity() {
	if s != nil {
		s.used.Store(time.Now().UnixMicro())
	}
}

// LastUse returns when NoteActivity was called last, to the microsecond.
func (s *Session) LastUse() time.Time { return time.UnixMicro(s.used.Load()) }

// IsResting reports whether the session has been silent for so long that only new use wakes it.
func (s *Session) IsResting() bool { return s != nil && time.Since(s.LastUse()) > restAfter }

// watchIdle ends the session when it has been idle for too long. It wakes once in that time.
func (s *Session) watchIdle() *time.Timer {
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(s.idle, func() {
		<-ready
		switch left := s.idle - time.Since(s.LastUse()); {
		case !s.IsUnattended():
			timer.Reset(s.idle)
		case left > 0:
			timer.Reset(left)
		default:
			s.idled.Store(true)
			s.stop()
		}
	})
	close(ready)
	return timer
}

// RegisterForReaping has the reaper end the program if the host is killed, until done is called.
func (s *Session) RegisterForReaping(program child.Identity) (done func()) {
	s.reaper.addProgram(program)
	return func() { s.reaper.removeProgram(program) }
}

// foreign lists the beginnings of variables that speak of the terminal in which the host was
// started. The program has another one, and would believe them.
var foreign = []string{
	"TERM=",
	"COLORTERM=",
	"TERM_PROGRAM",
	"TERM_FEATURES=",
	"LC_TERMINAL",
	"XTERM_",
	"INSIDE_EMACS=",
	"TERMINFO=",
	"COLUMNS=",
	"LINES=",
	"TMUX",
	"STY=",
	"WINDOWID=",
	"VTE_VERSION=",
	"KITTY_",
	"WEZTERM_",
	"ALACRITTY_",
	"GHOSTTY_",
	"ITERM_",
	"KONSOLE_",
	"WT_",
	"TERMINAL_EMULATOR=",
	"ZELLIJ",
	"PROXY_TOKEN_FILE=",
}

// Environment returns the program's environment: the host's without another terminal's variables,
// with those of this terminal, and with those that the agent asked for.
func (s *Session) Environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return slices.ContainsFunc(foreign, func(p string) bool { return strings.HasPrefix(e, p) })
	})
	return append(append(env, "TERM=xterm-256color", "COLORTERM=truecolor"), s.env...)
}
