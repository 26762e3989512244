package requests

import (
	"cmp"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// askSecret puts a program's question to the user, as one of the agent that started the program.
func (h *Handler) askSecret(m *protocol.SecretAsk) {
	agent := question.Agent{Identity: "unknown"} // all unknown programs are one
	if a := &m.Asker; a.Agent != "" {
		agent = identifyAgent(h.book, "", a.Agent, a.TokenID)
		agent.ID, agent.Name = a.AgentID, cmp.Or(h.book.FindName(a.AgentID), agent.Name)
	}
	ok := h.Pump.Post(func(now time.Time) { h.Desk.Ask(now, m, agent) })
	if !ok {
		sendExited(h.Link, m.RequestID)
	}
}

// answerSecret answers a program's question for an owner elsewhere. The signature names the key
// that the answer is sealed to, so a gateway that has shown the owner another key is detected.
func (h *Handler) answerSecret(m *protocol.SecretReply) {
	refuse := func() {
		sendError(h.Link, m.RequestID, protocol.CodeForbidden,
			"the program does not wait for this answer")
	}
	answer := func(by string) func(now time.Time) {
		return func(now time.Time) {
			if h.Desk.AnswerElsewhere(now, m.Question, by, m.Verdict, m.SealedB64) {
				h.Link.Send(&protocol.Done{RequestID: m.RequestID})
			} else {
				refuse()
			}
		}
	}
	ok := h.Pump.Post(func(now time.Time) {
		key := h.Desk.FindKey(m.Question)
		if key == nil {
			refuse()
			return
		}
		h.actions.enqueue(func(bool) { // the keys of owners are on a disk
			signer, reason := h.verifier.verifySigner(
				now, m.At, m.Signed(h.Started.UnixMilli(), key), m.SignatureB64)
			if reason != nil {
				sendRefusal(h.Link, m.RequestID, reason)
			} else if !h.Pump.Post(answer(signer.Name)) {
				sendExited(h.Link, m.RequestID)
			}
		})
	})
	if !ok {
		sendExited(h.Link, m.RequestID)
	}
}
