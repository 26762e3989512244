package requests

import (
	"time"

	"terminalproxy/protocol"
)

// answerSecret answers a program's question for an owner elsewhere. The signature names the key
// that the answer is sealed to, so a gateway that has shown the owner another key is detected.
func (h *Handler) answerSecret(m *protocol.SecretReply) {
	key := h.Desk.FindKey(m.Question)
	if key == nil {
		sendError(h.Link, m.RequestID, protocol.CodeForbidden,
			"the program does not wait for this answer")
		return
	}
	signer, reason := h.verifier.verifySigner(
		time.Now(), m.At, m.Signed(h.Started.UnixMilli(), key), m.SignatureB64)
	switch {
	case reason != nil:
		sendRefusal(h.Link, m.RequestID, reason)
	case !h.Desk.AnswerElsewhere(m.Question, signer.Name, m.Verdict, m.SealedB64):
		sendError(h.Link, m.RequestID, protocol.CodeForbidden,
			"the program does not wait for this answer")
	default:
		h.Link.Send(&protocol.Done{RequestID: m.RequestID})
	}
}
