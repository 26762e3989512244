package proxy

import (
	"time"

	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// watchFront has control know which program has the terminal, where grants are for one of them, whenever it asks; see also
// observed.Printed.
func (s *session) watchFront(one bool) {
	if !one {
		return
	}
	s.authority.front = func() control.Front {
		// A group may get its name after it got the terminal: a shell hands that over before it starts the program. The name
		// is the program's own choice.
		group := s.child.ForegroundGroup()
		return control.Front{Group: group, Name: notice.Clean(s.child.Foreground(), 32), File: child.Executable(group)}
	}
}

// cameBack makes the test of whether the program that a grant is for asks for more, see [input.Config].
func (s *session) cameBack() func(now time.Time) bool {
	comeback := s.child.Comeback()
	return func(now time.Time) bool {
		s.authority.look()
		back := !s.authority.Away() && comeback.Look(now)
		s.authority.look() // again: it may have been elsewhere only while it was looked at
		if back || s.authority.Away() {
			comeback.Reset()
		}
		return back && !s.authority.Away()
	}
}
