package overlay

import (
	"cmp"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// company is how long an agent that asked for something counts as one that looks on: a gateway does not say who watches.
const company = time.Minute

// Attended notes that an agent asked for something just now.
func (s *Status) Attended() {
	s.mu.Lock()
	now := time.Now()
	news := s.state.Secret != protocol.SecretNone && !s.guarding(now)
	s.seen = now
	s.mu.Unlock()
	if news {
		s.conf.Repaint()
	}
}

// guarding reports whether the user is to know that a prompt for a secret keeps agents away: where there are none, there
// is nothing to say.
func (s *Status) guarding(now time.Time) bool {
	if s.state.Secret == protocol.SecretNone {
		return false
	}
	return s.state.Phase != control.Observing || s.rung || now.Sub(s.seen) < company
}

// secret is the line about a prompt.
func (s *Status) secret(cols int) string {
	say := "password prompt: what you type is not shown to agents"
	if s.state.Phase == control.Granted {
		say = "password prompt: " + s.state.Agent.Name + "'s input is blocked, and it does not see what you type"
	}
	return notice.Line(cols, say, s.dismissal())
}

// dismissal is what the grant key does about a prompt.
func (s *Status) dismissal() string {
	switch {
	case !s.state.Dismissible:
		return ""
	case s.state.Secret == protocol.SecretHard:
		return pressAgain(s.state.Again) + s.grantLabel() + " lets " + s.state.Agent.Name + " answer"
	}
	return pressAgain(s.state.Again) + s.grantLabel() + ": this is no password"
}

func (s *Status) secretTag() string {
	if keys := s.dismissal(); keys != "" && !s.conf.Line {
		return "[secret, agents blocked: " + keys + "]"
	}
	return "[secret, agents blocked]"
}

// menu is the line that the reclaim key opens.
func (s *Status) menu(cols, rows int) string {
	say, hide := "no agent has the keyboard", "h hides"
	if s.state.Hidden {
		say, hide = "agents do not see this screen", "h shows it"
	}
	keys := pressAgain(s.state.Again) + s.menuLets() + " · m writes to it · " + mute(s.state.Mute) + hide +
		" · " + s.conf.Reclaim + " sends the key" + s.conf.Leave
	if len(s.inbox.missed) > 0 {
		return s.recall(time.Now(), cols, rows, keys)
	}
	return notice.Rows(cols, min(rows-1, menuRows), say, keys)
}

// menuLets is what the key that gives control does in the menu.
func (s *Status) menuLets() string {
	return s.grantLabel() + " lets the next agent that asks drive" + term(s.state.For)
}

// mute is what the menu offers about the last agent, with what stands between that and the next key.
func mute(m control.Mute) string {
	switch {
	case m.Agent == "":
		return ""
	case m.Undo:
		return "x unmutes " + m.Agent + " · "
	}
	return "x mutes " + m.Agent + " · "
}

// hidden remarks that the screen is hidden from now on, or no longer. The caller holds the lock.
func (s *Status) hidden(on bool) {
	text := "agents see this screen again"
	if on {
		text = "agents no longer see this screen: " + s.conf.Reclaim + ", then h, shows it again"
	}
	s.remark(text)
}

// muted remarks on what the user did about an agent in the menu. The caller holds the lock.
func (s *Status) muted(m control.Mute) {
	text := m.Agent + " is muted: " + s.conf.Reclaim + ", then x, unmutes it"
	switch {
	case m.Undo && m.By != "":
		text = m.By + " unmuted " + cmp.Or(m.Agent, "all agents")
	case m.Undo:
		text = "agents that you muted may ask again"
	case m.By != "":
		text = m.By + " muted " + m.Agent + ": " + s.conf.Reclaim + ", then x, unmutes it"
	}
	s.remark(text)
}

// remark sets a remark for the usual time. The caller holds the lock, and repaints.
func (s *Status) remark(text string) {
	now := time.Now()
	s.told, s.said, s.until = text, now, now.Add(TellFor)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(TellFor, s.conf.Repaint)
}
