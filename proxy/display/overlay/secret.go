package overlay

import (
	"cmp"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// attendedFor is how long an agent that made a request counts as watching: a gateway does not
// report who watches.
const attendedFor = time.Minute

// NoteRequest notes that an agent asked for something just now.
func (s *Status) NoteRequest() {
	s.mu.Lock()
	now := time.Now()
	mustTell := s.state.Secret != protocol.SecretNone && !s.isGuarding(now)
	s.lastRequest = now
	s.mu.Unlock()
	if mustTell {
		s.conf.Repaint()
	}
}

// isGuarding reports whether to show the user that a secret prompt keeps agents away. It is shown
// only if an agent may be watching.
func (s *Status) isGuarding(now time.Time) bool {
	if s.state.Secret == protocol.SecretNone {
		return false
	}
	return s.state.Phase != control.Observing || s.secretShown || now.Sub(s.lastRequest) < attendedFor
}

func (w *wording) secretLine(cols int) string {
	text := "password prompt: what you type is not shown to agents"
	if w.state.Phase == control.Granted {
		text = "password prompt: " + w.state.Agent.Name +
			"'s input is blocked, and it does not see what you type"
	}
	return notice.Line(cols, text, w.dismissLabel())
}

// dismissLabel describes the grant key's effect at a secret prompt.
func (w *wording) dismissLabel() string {
	switch {
	case !w.state.Dismissible:
		return ""
	case w.state.Secret == protocol.SecretHard:
		lets := w.grantLabel() + " lets " + w.state.Agent.Name + " answer"
		return pressAgain(w.state.GrantKeyIgnored) + lets
	}
	return pressAgain(w.state.GrantKeyIgnored) + w.grantLabel() + ": this is not a password"
}

func (w *wording) secretTag() string {
	if keys := w.dismissLabel(); keys != "" && !w.conf.Line {
		return "[secret, agents blocked: " + keys + "]"
	}
	return "[secret, agents blocked]"
}

// menuLine is the menu that the reclaim key opens.
func (s *Status) menuLine(cols, rows int) string {
	text, hide := "no agent has the keyboard", "h hides"
	if s.state.Hidden {
		text, hide = "agents do not see this screen", "h shows it"
	}
	keys := pressAgain(s.state.GrantKeyIgnored) + s.menuGrantLabel() + " · m writes to it · " +
		muteLabel(s.state.Mute) + hide +
		" · " + s.conf.Reclaim + " sends the key" + s.conf.Leave
	if len(s.inbox.missed) > 0 {
		return s.inbox.missedLine(time.Now(), cols, rows, keys)
	}
	return notice.Rows(cols, min(rows-1, menuRows), text, keys)
}

// menuGrantLabel describes the grant key's effect in the menu.
func (w *wording) menuGrantLabel() string {
	return w.grantLabel() + " lets the next agent that asks drive" + formatTerm(w.state.For)
}

// muteLabel offers to mute or unmute the last agent, with the separator before the next key.
func muteLabel(m control.Mute) string {
	switch {
	case m.Agent == "":
		return ""
	case m.Undo:
		return "x unmutes " + m.Agent + " · "
	}
	return "x mutes " + m.Agent + " · "
}

func (s *Status) remarkHiddenLocked(on bool) {
	text := "agents see this screen again"
	if on {
		text = "agents no longer see this screen: " + s.conf.Reclaim + ", then h, shows it again"
	}
	s.setRemarkLocked(text)
}

func (s *Status) remarkMutedLocked(m control.Mute) {
	text := m.Agent + " is muted: " + s.conf.Reclaim + ", then x, unmutes it"
	switch {
	case m.Undo && m.By != "":
		text = m.By + " unmuted " + cmp.Or(m.Agent, "all agents")
	case m.Undo:
		text = "agents that you muted may ask again"
	case m.By != "":
		text = m.By + " muted " + m.Agent + ": " + s.conf.Reclaim + ", then x, unmutes it"
	}
	s.setRemarkLocked(text)
}

// setRemarkLocked sets a remark that stays for RemarkFor. The caller repaints.
func (s *Status) setRemarkLocked(text string) {
	now := time.Now()
	s.remark, s.remarkedAt, s.remarkEnd = text, now, now.Add(RemarkFor)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(RemarkFor, s.conf.Repaint)
}
