package requests

import (
	"crypto/sha256"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/names"
)

// maxProofs bounds the proofs that are remembered: nobody asks so often.
const maxProofs = 256

// proofs are those of local tokens that were used, with when: each counts once.
type proofs map[[sha256.Size]byte]time.Time

// spend notes a proof; false says that it was used before, or that there are too many to tell.
func (p *proofs) spend(now time.Time, message []byte) bool {
	for sum, at := range *p {
		if now.Sub(at) > 2*decisionFor { // by then its own time is over
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

// proven is the name of the local token whose holder signed a request, for this session, at this moment and for what control is now; ""
// for none. An agent without a proof, or with one that does not count, asks as every agent does.
func (h *Handler) proven(now time.Time, m *protocol.ControlRequest) (token string) {
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
	case age < -decisionFor || age > decisionFor || m.Epoch != h.Control.Newest().Epoch || !h.proofs.spend(now, message):
		h.Log.Info("a proof of a local token is not of this moment", "token", token)
		return ""
	}
	return token
}

// calledSo is the name of a program that an agent says it asks with, as people read it beside the proxy's own words: like an agent's it
// names no key. "" is none.
func calledSo(raw string) string {
	if raw == "" {
		return ""
	}
	return names.Of(raw)
}
