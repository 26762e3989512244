package proxy

import (
	"os"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/display/desk"
)

// newDesk makes the part that puts programs' questions for secrets to the user.
func (s *session) newDesk(agent *AgentConfig) *desk.Desk {
	home, _ := os.UserHomeDir()
	return desk.New(desk.Config{
		SessionID: s.id,
		Queue:     &s.authority.Queue,
		Post:      func(do func(now time.Time)) bool { return s.pump.Post(do) },
		Send:      func(m protocol.Message) { s.link.Send(m) },
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
		Home: home,
	})
}
