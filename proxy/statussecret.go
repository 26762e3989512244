package proxy

import (
	"time"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/screen"
)

// company is how long an agent that asked for something counts as one that looks on: a gateway does not say who watches.
const company = time.Minute

// attended notes that an agent asked for something just now.
func (s *status) attended() {
	s.mu.Lock()
	now := time.Now()
	news := s.state.Secret != control.NoSecret && !s.guarding(now)
	s.seen = now
	s.mu.Unlock()
	if news {
		s.repaint()
	}
}

// guarding reports whether the user is to know that a prompt for a secret keeps agents away: where there are none, there
// is nothing to say.
func (s *status) guarding(now time.Time) bool {
	if s.state.Secret == control.NoSecret {
		return false
	}
	return s.state.Phase != control.Observing || s.rung || now.Sub(s.seen) < company
}

// secret is the line about a prompt.
func (s *status) secret(cols int) string {
	say := "password prompt: what you type is not shown to agents"
	if s.state.Phase == control.Granted {
		say = "password prompt: " + s.state.Agent.Name + "'s input is blocked, and it does not see what you type"
	}
	return notice.Line(cols, say, s.dismissal())
}

// dismissal is what Ctrl+G does about a prompt.
func (s *status) dismissal() string {
	switch {
	case !s.state.Dismissible:
		return ""
	case s.state.Secret == control.HardSecret:
		return "Ctrl+G lets " + s.state.Agent.Name + " answer"
	}
	return "Ctrl+G: this is no password"
}

func (s *status) secretTag() string {
	if keys := s.dismissal(); keys != "" && !s.line {
		return "[secret, agents blocked: " + keys + "]"
	}
	return "[secret, agents blocked]"
}

// menu is the line that the reclaim key opens.
func (s *status) menu(cols, rows int) string {
	say, hide := "no agent has the keyboard", "h hides"
	if s.state.Hidden {
		say, hide = "agents do not see this screen", "h shows it"
	}
	keys := "Ctrl+G lets the next agent that asks drive · m writes to it · " + hide + " · " + s.key + " sends the key" + s.leave
	if len(s.mouth.missed) > 0 {
		return s.recall(time.Now(), cols, rows, keys)
	}
	return notice.Rows(cols, min(rows-1, menuRows), say, keys)
}

// hidden remarks that the screen is hidden from now on, or no longer. The caller holds the lock.
func (s *status) hidden(on bool) {
	text := "agents see this screen again"
	if on {
		text = "agents do not see this screen any more: " + s.key + ", then h, shows it again"
	}
	now := time.Now()
	s.told, s.said, s.until = text, now, now.Add(tellFor)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(tellFor, s.repaint)
}

// row is where the first row of the line goes: the bottom, but for the one about a prompt that stands there itself.
func (s *status) row(m *screen.Screen, line string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, rows := m.Size(); s.aside && m.Cursor().Row == rows-1 {
		return 0
	}
	return notice.Top(m, line)
}
