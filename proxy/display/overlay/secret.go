package overlay

import (
	"cmp"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
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

func (w *wording) secretText() string {
	if w.state.Phase == control.Granted {
		return "password prompt: " + w.state.Agent.Name +
			"'s input is blocked, and it does not see what you type"
	}
	return "password prompt: what you type is not shown to agents"
}

// dismissLabel describes the grant key's effect at a secret prompt.
func (w *wording) dismissLabel() string {
	if w.state.Secret == protocol.SecretHard {
		return w.grantLabel() + " lets " + w.state.Agent.Name + " answer"
	}
	return w.grantLabel() + ": this is not a password"
}

func (w *wording) secretTag() string {
	if w.state.Question.Kind == question.Prompt && !w.conf.Line {
		return "[secret, agents blocked: " + w.wordQuestion(maxTitle, 2).keys + "]"
	}
	return "[secret, agents blocked]"
}

// menuKeys are the keys of the menu, which the reclaim key opens.
func (w *wording) menuKeys() string {
	hide := "h hides"
	if w.state.Hidden {
		hide = "h shows it"
	}
	return w.menuGrantLabel() + " · m writes to it · " + muteLabel(w.state.Mute) + hide + " · " +
		w.conf.Reclaim + " sends the key" + w.conf.Leave
}

// menuGrantLabel describes the grant key's effect in the menu.
func (w *wording) menuGrantLabel() string {
	if w.state.Phase == control.Asked {
		return w.grantLabel() + " shows who asks"
	}
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
	s.setRemarkLocked(text, RemarkFor)
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
	s.setRemarkLocked(text, RemarkFor)
}
