package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/secretprompt"
)

// controlled is the session as package authority sees it. Its methods belong to the pump's goroutine.
type controlled struct{ s *session }

// Front implements [authority.Session]; see also observed.Printed. A group may get its name after it got the terminal: a shell
// hands that over before it starts the program. The name is the program's own choice.
func (c controlled) Front() control.Front {
	program := c.s.child
	group := program.ForegroundGroup()
	return control.Front{Group: group, Name: notice.Clean(program.Foreground(), 32), File: child.Executable(group)}
}

func (c controlled) AsksForSecret() bool {
	line, err := c.s.child.Line()
	return secretprompt.Judge(secretprompt.Facts{Known: err == nil, Line: secretprompt.Line(line), Mute: c.s.piped()}) == protocol.SecretHard
}

func (c controlled) SecretSeen()      { c.s.observer.Post(c.s.observer.SecretSeen) }
func (c controlled) SecretDismissed() { c.s.observer.Post(c.s.observer.Dismiss) }
func (c controlled) LineShared()      { c.s.tracker.Allow() }

func (c controlled) Typed() {
	c.s.status.Dismiss()
	c.s.recording.Typed()
}

func (c controlled) StateChanged(state control.State) {
	c.s.status.Show(state)
	c.s.observer.Post(func(now time.Time) { c.s.observer.ControlChanged(now, state.Hidden) })
}

func (c controlled) ControlChanged(e control.Event) { c.s.requests.ControlEvent(e) }

// cameBack makes the test of whether the program that a grant is for asks for more, see [input.Config].
func (s *session) cameBack() func(now time.Time) bool {
	comeback := s.child.Comeback()
	return func(now time.Time) bool {
		s.authority.LookFront()
		back := !s.authority.Away() && comeback.Look(now)
		s.authority.LookFront() // again: it may have been elsewhere only while it was looked at
		if back || s.authority.Away() {
			comeback.Reset()
		}
		return back && !s.authority.Away()
	}
}
