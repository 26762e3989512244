package proxy

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/tty"
)

// restAfter is how long nothing may have happened for a session to rest: nothing wakes it any more.
const restAfter = 2 * time.Second

// headless is what a session without a user's terminal has in its place: the agent that it belongs to, and how many
// people are attached.
type headless struct {
	owner  control.Agent
	where  string   // the program's directory
	env    []string // for the program, beyond the host's
	keeper *keeper
	hurry  <-chan struct{} // closed when the end must not take long
	begun  func(id string)
	idle   time.Duration // nobody does anything for this long, and it ends; 0 for never
	stop   context.CancelFunc

	linked chan struct{} // closed when a gateway was reached
	idled  atomic.Bool   // idle was why it ended
	used   atomic.Int64  // the last time somebody did something, in Unix milliseconds
	people atomic.Int32  // how many are attached
}

// runHeadless runs a program on a terminal of its own until it ends, and ends what it left in its session. ctx ends it as
// a closing terminal would.
func runHeadless(ctx context.Context, conf Config) (Result, error) {
	return newSession(conf).runHeadless(ctx)
}

func (s *session) runHeadless(ctx context.Context) (Result, error) {
	conf := s.conf
	h := conf.headless
	h.linked = make(chan struct{})
	ctx, h.stop = context.WithCancel(ctx)
	defer h.stop()
	s.term = tty.Absent(conf.Cols, conf.Rows, func(p []byte) { s.attached.Output.Write(p) })
	h.touch()
	if h.idle > 0 {
		defer h.watchIdle().Stop()
	}
	result, err := s.run(ctx)
	result.Idle = h.idled.Load()
	return result, err
}

// Attached notes how many people are attached.
func (h *headless) Attached(n int) { h.people.Store(int32(n)) }

// touch notes that somebody did something. h may be nil.
func (h *headless) touch() {
	if h != nil {
		h.used.Store(time.Now().UnixMilli())
	}
}

// unattended reports whether nobody is attached. Anybody may ask, and h may be nil.
func (h *headless) unattended() bool { return h != nil && h.people.Load() == 0 }

// rests reports whether nothing has happened for so long that nothing wakes the session any more. h may be nil.
func (h *headless) rests() bool {
	return h != nil && time.Since(time.UnixMilli(h.used.Load())) > restAfter
}

// watchIdle ends the session when nobody has done anything for too long. It wakes once in that time.
func (h *headless) watchIdle() *time.Timer {
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(h.idle, func() {
		<-ready
		switch rest := h.idle - time.Since(time.UnixMilli(h.used.Load())); {
		case h.people.Load() > 0:
			timer.Reset(h.idle)
		case rest > 0:
			timer.Reset(rest)
		default:
			h.idled.Store(true)
			h.stop()
		}
	})
	close(ready)
	return timer
}

// foreign are the beginnings of variables that speak of the terminal in which the host was started. The program has
// another one, and would believe them.
var foreign = []string{
	"TERM=", "COLORTERM=", "TERM_PROGRAM", "TERMINFO=", "COLUMNS=", "LINES=", "TMUX", "STY=", "WINDOWID=", "VTE_VERSION=",
	"KITTY_", "WEZTERM_", "ALACRITTY_", "GHOSTTY_", "ITERM_", "KONSOLE_", "WT_", "TERMINAL_EMULATOR=",
	"PROXY_TOKEN_FILE=", SessionVariable + "=",
}

// hurry is closed when the program's end must not take long.
func (s *session) hurry() <-chan struct{} {
	if s.conf.headless == nil {
		return nil
	}
	return s.conf.headless.hurry
}

// environment is the program's: the host's without what is another terminal's, with what is true of this one.
func (h *headless) environment(id string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !hasAnyPrefix(e, foreign...) {
			env = append(env, e)
		}
	}
	env = append(env, "TERM=xterm-256color", "COLORTERM=truecolor")
	for _, e := range h.env {
		if !strings.HasPrefix(e, SessionVariable+"=") {
			env = append(env, e)
		}
	}
	return append(env, SessionVariable+"="+id)
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// wireHeadless adds what a session without a user's terminal has beside others.
func (s *session) wireHeadless() {
	h := s.conf.headless
	s.link.Behind = s.copier.Renew
	up, down := s.link.Up, s.link.Down
	reached := sync.OnceFunc(func() { close(h.linked) })
	s.link.Up = func() { up(); reached(); s.pump.Post(s.resume) }
	s.link.Down = func() { down(); s.pump.Post(s.attached.DetachAll) }
	s.pump.Post(func(now time.Time) {
		s.resume(now)
		if h.begun != nil {
			h.begun(s.id)
		}
	})
}

// resume gives the agent the keyboard of its own terminal, unless somebody decided otherwise: at the start, and after the
// way to it was lost. It runs on the pump's goroutine.
func (s *session) resume(now time.Time) {
	h := s.conf.headless
	if end := s.authority.LastEnd().Reason; h.owner.ID != "" && (end == 0 || end == control.Link) {
		s.authority.Own(now, control.Request{Agent: h.owner, Level: control.Drive})
	}
}

// awaitLink waits until a gateway was reached once, for a moment: a program that ends at once shall leave its last screen
// there all the same.
func (s *session) awaitLink() {
	if s.conf.headless == nil {
		return
	}
	select {
	case <-s.conf.headless.linked:
	case <-time.After(lastPatience):
	}
}
