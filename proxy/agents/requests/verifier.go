package requests

import (
	"crypto/sha256"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/display/notice"
)

// decisionFor is how long a signed message is valid: enough for transport and for clocks that
// differ a little, but too short to keep one for later.
const decisionFor = 30 * time.Second

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

// verifier finds out who signed a message. Owned by the link's goroutine.
type verifier struct {
	*Config
	proofs proofs
}

// provenToken returns the name of the local token whose holder signed a request for this session,
// this moment and the present epoch. Without a valid proof it returns "", and the agent asks as
// every agent does.
func (v *verifier) provenToken(now time.Time, m *protocol.ControlRequest) (token string) {
	if len(m.ProofB64) == 0 || v.LocalAgent == nil {
		return ""
	}
	message := m.Signed(v.Started.UnixMilli())
	token, err := v.LocalAgent(message, m.ProofB64)
	age := now.Sub(time.UnixMilli(m.At))
	switch {
	case err != nil:
		v.Log.Warn("a proof of a local token is refused", "error", err)
		return ""
	case age < -decisionFor || age > decisionFor || m.Epoch != v.Control.NewestState().Epoch ||
		!v.proofs.useOnce(now, message):
		v.Log.Info("a proof of a local token does not count: it is too old or too new, was used before, "+
			"or names another epoch", "token", token)
		return ""
	}
	return token
}

// verifyOwner returns the name of the owner who made decision m. A signature counts, whichever
// gateway brought it. Without one, the gateway's claim counts only if the user allowed that at the
// session's start.
func (v *verifier) verifyOwner(
	now time.Time, m *protocol.ControlDecide,
) (name string, reason *refusal) {
	if v.RemoteGrant { // the gateway has checked its owners
		return notice.Person(m.By), nil
	}
	if len(m.SignatureB64) == 0 {
		return "", &refusal{
			protocol.CodeForbidden,
			"only the user at the session's terminal can do that, or an owner who signs it: use " +
				"gateway grant with an owner token of the session's own machine",
		}
	}
	if m.Epoch == 0 {
		return "", &refusal{
			protocol.CodeBadMessage,
			"a signed decision names the epoch that its owner saw",
		}
	}
	signer, reason := v.verifySigner(now, m.At, m.Signed(v.Started.UnixMilli()), m.SignatureB64)
	return signer.Name, reason
}

// verifySigner returns the owner who signed a message at a time in Unix milliseconds.
func (v *verifier) verifySigner(
	now time.Time, at int64, message, signature []byte,
) (signer protocol.Signer, reason *refusal) {
	if age := now.Sub(time.UnixMilli(at)); age < -decisionFor || age > decisionFor {
		return signer, &refusal{
			protocol.CodeForbidden,
			"the signature is too old or too new: do it again, and check both clocks",
		}
	}
	if v.Owner == nil {
		return signer, &refusal{protocol.CodeForbidden, "this session knows no owner tokens"}
	}
	signer, err := v.Owner(message, signature)
	if err != nil {
		v.Log.Warn("a message without an owner's signature", "error", err)
		return signer, &refusal{protocol.CodeForbidden, "the signature is refused: " + err.Error()}
	}
	if signer.Session != "" && signer.Session != v.SessionID {
		return signer, &refusal{
			protocol.CodeForbidden,
			"this page was let in for another session: open one for all with gateway open " +
				"--role owner",
		}
	}
	signer.Name = notice.Person(signer.Name)
	return signer, nil
}

// verifyPerson returns the name of the person who acts for the owner, from the signature if one is
// needed. In a session without a user's terminal, each person whom its gateway admits may type
// anyway, so their claimed name counts.
func (v *verifier) verifyPerson(
	claimed string, at int64, signed, signature []byte,
) (name string, reason *refusal) {
	if len(signature) > 0 {
		signer, reason := v.verifySigner(time.Now(), at, signed, signature)
		return signer.Name, reason
	}
	if v.RemoteGrant || v.OwnTerminal != nil {
		return notice.Person(claimed), nil
	}
	return "", &refusal{
		protocol.CodeForbidden,
		"only the user at the session's terminal can do that, or an owner who signs it: use an " +
			"owner's page, or gateway chat with an owner token of the session's own machine",
	}
}
