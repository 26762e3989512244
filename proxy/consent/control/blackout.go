package control

import (
	"errors"
	"time"

	"terminalproxy/protocol"
)

// Errors of CheckInput while an agent's grant pauses.
var (
	ErrSecret = errors.New("the program asks the user for a secret")
	ErrHidden = errors.New("the user hides the screen")
	// ErrDialog is returned by callers of this package, which knows no dialogs.
	ErrDialog = errors.New("the program asks the user something that no agent may answer")
)

// NoteSecretPrompt notes the present secret prompt. When a prompt begins, the epoch rises, so that
// input typed for something else cannot answer it. A grant pauses until the prompt is over. allowed
// is set once the user has dismissed the prompt.
func (m *Machine) NoteSecretPrompt(now time.Time, asked protocol.SecretPrompt, allowed bool) {
	m.Tick(now)
	if asked != protocol.SecretNone && m.secret == protocol.SecretNone {
		m.epoch++
	}
	another := m.secret != asked && m.phase != Asked && m.menu.IsZero()
	if dismissible := m.isDismissible(); another && dismissible {
		m.endQuestion(now, "", false)
	}
	m.secret, m.allowed = asked, allowed
	if another {
		m.startQuestion(now) // another question, or the end of this one
	}
}

// SetHidden hides the screen from agents, or shows it again. A grant pauses meanwhile. SetHidden
// reports a change.
func (m *Machine) SetHidden(now time.Time, on bool) bool {
	m.Tick(now)
	if m.hidden == on {
		return false
	}
	if m.hidden = on; on {
		m.epoch++
	}
	return true
}

// ChooseInMenu notes that the user pressed a letter. In the menu, h hides the screen or shows it
// again, and x mutes the last agent or unmutes all. Any other letter is the program's, and the
// caller must call [Machine.NoteKey].
func (m *Machine) ChooseInMenu(now time.Time, letter byte) (took bool) {
	m.Tick(now)
	switch {
	case m.menu.IsZero() || !m.isAnswerable(now):
		return false
	case letter == 'h':
		m.SetHidden(now, !m.hidden)
	case letter != 'x' || !m.toggleMute():
		return false
	}
	m.typed = now
	m.closeMenu(now)
	return true
}

// Secret returns the present secret prompt that the user has not dismissed.
func (s *secrecy) Secret() protocol.SecretPrompt { return s.secret }

// AllowsSecret reports whether the user lets an agent answer the present prompt.
func (s *secrecy) AllowsSecret() bool { return s.allowed }

// PauseError returns why a grant pauses: ErrHidden, ErrSecret or nil.
func (s State) PauseError() error {
	switch {
	case s.Hidden:
		return ErrHidden
	case s.Secret != protocol.SecretNone:
		return ErrSecret
	}
	return nil
}

// isDismissible reports whether Ctrl+G answers the present prompt. A guessed prompt can always be
// dismissed. For a certain one, the user can only allow the driving agent to answer it.
func (g *grant) isDismissible() bool {
	return g.menu.IsZero() &&
		(g.secret == protocol.SecretSoft && g.phase != Asked ||
			g.secret == protocol.SecretHard && g.phase == Granted)
}

func (g *grant) dismissPrompt() {
	g.secret, g.allowed, g.shown = protocol.SecretNone, true, time.Time{}
}

func (s *secrecy) pauseReason() error {
	return State{Hidden: s.hidden, Secret: s.secret}.PauseError()
}
