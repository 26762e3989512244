package proxy

import (
	"os"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat/beside"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/display/desk"
)

// newDesk makes the part that puts programs' questions for secrets to the user.
func (s *session) newDesk(agent *AgentConfig) *desk.Desk {
	bound := agent.Keys.WithDefaults()
	home, _ := os.UserHomeDir()
	return desk.New(desk.Config{
		SessionID: s.id,
		Send:      func(m protocol.Message) { s.link.Send(m) },
		Repaint:   func() { s.copier.Repaint() },
		// Another gateway could have the answer for itself: it names the program and the key.
		CanAsk: func() bool {
			return agent.OwnGateway && s.conf.headless == nil && !agent.NoNotice && s.term.HasKeyboard() &&
				s.term.HasScreen()
		},
		// There, the desk checks who answers by the key of an owner of this machine.
		CanAskElsewhere: func() bool { return agent.OwnGateway && agent.Owner != nil },
		Show:            func(text string) { s.status.ShowText(text) },
		Ended: func(o desk.Outcome) {
			o.Command = s.observer.Redact(o.Command, -1)
			o.Prompt = s.observer.Redact(o.Prompt, -1)
			s.recording.RecordSecret(o)
		},
		Home:   home,
		Answer: func() string { return s.status.GrantLabel() },
		Refuse: bound.Reclaim.Label,
	})
}

// asked is control as the pump asks it while programs ask for secrets, too: the keys that answer
// those do nothing else. Only the key that takes the keyboard back always does that. It also keeps
// agents' keys from a coding agent's dialogs.
type asked struct {
	pump.Control
	desk   *desk.Desk
	beside *beside.Agent // nil without a coding agent
}

// CheckInput implements [pump.Control].
func (a asked) CheckInput(now time.Time, agent string, epoch uint64) error {
	if err := a.beside.CheckInput(agent); err != nil {
		return err
	}
	return a.Control.CheckInput(now, agent, epoch)
}

// NoteGrantKey implements [pump.Control].
func (a asked) NoteGrantKey(now time.Time) (took bool) {
	return a.desk.NoteGrantKey(now) || a.Control.NoteGrantKey(now)
}

// ConfirmInText implements [pump.Control].
func (a asked) ConfirmInText(now time.Time) (took bool) {
	return a.desk.ConfirmInText() || a.Control.ConfirmInText(now)
}

// ReclaimKey implements [pump.Control].
func (a asked) ReclaimKey(now time.Time) (took bool) {
	refused := a.desk.NoteReclaimKey(now)
	if refused && !a.IsSought() {
		return true
	}
	return a.Control.ReclaimKey(now) || refused
}
