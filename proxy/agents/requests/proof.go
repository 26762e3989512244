package requests

import (
	"crypto/sha256"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/names"
)

// maxProofs bounds the remembered proofs, far above the usual rate.
const maxProofs = 256

// proofs holds the used proofs of local tokens and when each came: a proof counts once.
type proofs map[[sha256.Size]byte]time.Time

// useOnce remembers a proof. It returns false if the proof was used before, or if too many are
// remembered.
func (p *proofs) useOnce(now time.Time, message []byte) bool {
	for sum, at := range *p {
		if now.Sub(at) > 2*decisionFor { // it has expired by then
			delete(*p, sum)
		}
	}
	sum := sha256.Sum256(message)
	if _, used := (*p)[sum]; used || len(*p) >= maxProofs {
		return false
	}
	if *p == nil {
		*p = make(proofs)
	}
	(*p)[sum] = now
	return true
}

// provenToken returns the name of the local token whose holder signed a request for this session,
// this moment and the present epoch. Without a valid proof it returns "", and the agent asks as
// every agent does.
func (h *Handler) provenToken(now time.Time, m *protocol.ControlRequest) (token string) {
	if len(m.ProofB64) == 0 || h.LocalAgent == nil {
		return ""
	}
	message := m.Signed(h.Started.UnixMilli())
	token, err := h.LocalAgent(message, m.ProofB64)
	age := now.Sub(time.UnixMilli(m.At))
	switch {
	case err != nil:
		h.Log.Warn("a proof of a local token is refused", "error", err)
		return ""
	case age < -decisionFor || age > decisionFor || m.Epoch != h.Control.NewestState().Epoch ||
		!h.proofs.useOnce(now, message):
		h.Log.Info("a proof of a local token is too old or too new", "token", token)
		return ""
	}
	return token
}

// claimedProgram returns the program that an agent claims to ask with, made safe beside the proxy's
// own words: like an agent's name it names no key.
func claimedProgram(raw string) string {
	if raw == "" {
		return ""
	}
	return names.DisplayName(raw)
}
