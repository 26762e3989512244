package proxy

import (
	"time"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// awayFor is how long another program has to be in front before the user is told that the agent waits: a shell that an
// agent types commands into is away with each of them.
const awayFor = time.Second

// watchFront has control know which program has the terminal, where grants are for one of them: whenever it asks, and on
// output while there is a grant. A program that gives the terminal back writes something as a rule.
func (s *session) watchFront(one bool) {
	if !one {
		return
	}
	s.authority.front = func() control.Front {
		// A group may get its name after it got the terminal: a shell hands that over before it starts the program. The name
		// is the program's own choice.
		return control.Front{Group: s.child.ForegroundGroup(), Name: notice.Clean(s.child.Foreground(), 32)}
	}
	seen := 0 // belongs to the screen loop
	s.loop.passed = func() {
		if s.authority.state().Phase != control.Granted {
			return
		}
		if group := s.child.ForegroundGroup(); group != seen {
			seen = group
			s.pump.Post(func(time.Time) { s.authority.look() })
		}
	}
}

// fronted notes that another program took the terminal from the one that a grant is for, or gave it back. The lock is held.
func (s *status) fronted(state control.State) {
	if (state.Away == "") == (s.state.Away == "") {
		return
	}
	if s.away != nil {
		s.away.Stop()
		s.away = nil
	}
	if state.Away == "" {
		return
	}
	s.away = time.AfterFunc(awayFor, func() {
		s.mu.Lock()
		st := s.state
		s.mu.Unlock()
		if st.Away != "" {
			s.say(st.Agent.Name+" waits: it has the keyboard for "+st.Program+" only, and "+st.Away+" is in front", tellFor)
		}
	})
}
