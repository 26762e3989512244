package control

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// Errors of CheckInput while an agent's grant pauses.
var (
	ErrSecret = errors.New("the program asks the user for a secret")
	ErrHidden = errors.New("the user hides the screen")
	// ErrDialog is returned by callers of this package, which knows no dialogs.
	ErrDialog = errors.New("the program asks the user something that no agent may answer")
)

// secrecy holds what the user, or a prompt for a secret, hides from agents.
type secrecy struct {
	secret  protocol.SecretPrompt
	allowed bool // the user dismissed the present prompt
	hidden  bool
	prompt  *question.Question // about the present prompt, or nil
}

// NoteSecretPrompt notes the present secret prompt. When a prompt begins, the epoch rises, so that
// input typed for something else cannot answer it. A grant pauses until the prompt is over. allowed
// is set once the user has dismissed the prompt.
func (m *Machine) NoteSecretPrompt(now time.Time, asked protocol.SecretPrompt, allowed bool) {
	m.Tick(now)
	if asked != protocol.SecretNone && m.secret == protocol.SecretNone {
		m.epoch++
	}
	another := m.secret != asked
	m.secret, m.allowed = asked, allowed
	m.updatePrompt(now, another)
}

// updatePrompt asks the user about the present prompt if the grant key answers it; another means
// that the prompt is not the one before. A guessed prompt can always be dismissed. For a certain
// one, the user can only allow the driving agent to answer it.
func (m *Machine) updatePrompt(now time.Time, another bool) {
	isAsked := m.secret == protocol.SecretSoft || m.secret == protocol.SecretHard && m.driven
	if another || !isAsked {
		m.Queue.End(now, m.prompt, question.Withdrawn, "")
		m.prompt = nil
	}
	if isAsked && m.prompt == nil {
		m.prompt = question.New(question.Prompt, Agent{}, func(time.Time, bool) {
			m.prompt, m.secret, m.allowed = nil, protocol.SecretNone, true
		})
		m.Add(now, m.prompt)
	}
}

// SetHidden hides the screen from agents, or shows it again. A grant pauses meanwhile. SetHidden
// reports a change.
func (m *situation) SetHidden(_ time.Time, on bool) bool {
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
	offer := m.muteOffer()
	switch {
	case !m.IsCurrent(question.Menu) || !m.IsAnswerable(now):
		return false
	case letter == 'h':
		m.SetHidden(now, !m.hidden)
	case letter != 'x' || offer.Agent == "":
		return false
	case offer.Undo:
		m.Unmute("")
		m.lastMute = offer
	default:
		m.mute(now, m.LastAgent, "")
	}
	m.NoteTyped(now)
	m.CloseMenu(now)
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

func (s *secrecy) pauseReason() error {
	return State{Hidden: s.hidden, Secret: s.secret}.PauseError()
}
