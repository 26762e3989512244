package control

import (
	"errors"
	"time"

	"terminalproxy/protocol"
)

// Errors of Admit while an agent's grant pauses.
var (
	ErrSecret = errors.New("the program asks the user for a secret")
	ErrHidden = errors.New("the user hides the screen")
	// ErrDialog is an error of whoever asks control: it knows no dialogs.
	ErrDialog = errors.New("the program asks the user something that no agent may answer")
)

// Guard tells the machine what is asked for now. When a prompt begins, the epoch rises: what an agent typed for something
// else must not answer it. A grant pauses until there is no prompt, or allowed says that the user dismissed it.
func (m *Machine) Guard(now time.Time, asked protocol.SecretPrompt, allowed bool) {
	m.Tick(now)
	if asked != protocol.SecretNone && m.secret == protocol.SecretNone {
		m.epoch++
	}
	another := m.secret != asked && m.phase != Asked && m.menu.IsZero()
	if was := m.dismissible(); another && was {
		m.over(now, "", false)
	}
	m.secret, m.allowed = asked, allowed
	if another {
		m.ask(now) // it is another question, or none
	}
}

// Hide hides the screen from agents, or shows it again. A grant pauses meanwhile. It reports whether that is a change.
func (m *Machine) Hide(now time.Time, on bool) bool {
	m.Tick(now)
	if m.hidden == on {
		return false
	}
	if m.hidden = on; on {
		m.epoch++
	}
	return true
}

// Choose tells the machine that the user pressed the key of a letter: in the menu h hides the screen, or shows it again, and x
// mutes the last agent, or lets it speak again. Anything else is the program's, and [Machine.Key] is to be told.
func (m *Machine) Choose(now time.Time, letter byte) (took bool) {
	m.Tick(now)
	switch {
	case m.menu.IsZero() || !m.answerable(now):
		return false
	case letter == 'h':
		m.Hide(now, !m.hidden)
	case letter != 'x' || !m.toggle():
		return false
	}
	m.typed = now
	m.closeMenu(now)
	return true
}

// Secret is the prompt for a secret that stands now and that the user has not dismissed.
func (m *Machine) Secret() protocol.SecretPrompt { return m.secret }

// Allowed reports whether the user lets an agent answer the present prompt.
func (m *Machine) Allowed() bool { return m.allowed }

// Barred says why a grant pauses: ErrHidden, ErrSecret or nil.
func (s State) Barred() error {
	switch {
	case s.Hidden:
		return ErrHidden
	case s.Secret != protocol.SecretNone:
		return ErrSecret
	}
	return nil
}

// dismissible reports whether Ctrl+G is an answer to the present prompt: a guess can be wrong; of a certain one the user
// can say only that the agent that drives may answer it.
func (m *Machine) dismissible() bool {
	return m.menu.IsZero() && (m.secret == protocol.SecretSoft && m.phase != Asked || m.secret == protocol.SecretHard && m.phase == Granted)
}

// dismiss takes the user's answer to the present prompt.
func (m *Machine) dismiss() {
	m.secret, m.allowed, m.shown = protocol.SecretNone, true, time.Time{}
}

func (m *Machine) barred() error { return State{Hidden: m.hidden, Secret: m.secret}.Barred() }
