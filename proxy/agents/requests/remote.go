package requests

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// decisionFor is the validity of a signed message: enough for its way here and for clocks that
// differ a little, but too short to keep one for later.
const decisionFor = 30 * time.Second

// handleDecision acts on an owner's decision from elsewhere. A decision that takes something away
// from agents needs no proof: each process that reaches the gateway's socket could also send this
// process a signal, and the safe act must not fail for a missing file. A decision that gives agents
// more needs the session's owner.
func (h *Handler) handleDecision(m *protocol.ControlDecide) {
	by := notice.Person(m.By)
	if m.Widens() {
		var reason *refusal
		if by, reason = h.verifyOwner(time.Now(), m); reason != nil {
			h.sendError(m.RequestID, reason.code, reason.message)
			return
		}
	}
	switch {
	case m.Hide != "":
		h.decideHide(m)
	case m.Mute != "":
		h.decideMute(m, by)
	case m.Refuse:
		h.decideAndReply(m.RequestID, func(now time.Time) error {
			return h.Control.RefuseRequest(now, h.book.ResolveName(m.AgentName), by)
		})
	case m.Grant:
		h.giveGrant(m, by)
	default:
		h.reclaimGrant(m.RequestID, by)
	}
}

// verifyOwner returns the name of the owner who made decision m. A signature counts, whichever
// gateway brought it. A gateway's word counts only if the user said so at the session's start.
func (h *Handler) verifyOwner(
	now time.Time,
	m *protocol.ControlDecide,
) (name string, reason *refusal) {
	if h.RemoteGrant { // the gateway has checked its owners
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
	signer, reason := h.verifySigner(now, m.At, m.Signed(h.Started.UnixMilli()), m.SignatureB64)
	return signer.Name, reason
}

// verifySigner returns the owner who signed a message at a time in Unix milliseconds.
func (h *Handler) verifySigner(
	now time.Time,
	at int64,
	message, signature []byte,
) (signer protocol.Signer, reason *refusal) {
	if age := now.Sub(time.UnixMilli(at)); age < -decisionFor || age > decisionFor {
		return signer, &refusal{
			protocol.CodeForbidden,
			"the signature is too old or too new: do it again, and check both clocks",
		}
	}
	if h.Owner == nil {
		return signer, &refusal{protocol.CodeForbidden, "this session knows no owner tokens"}
	}
	signer, err := h.Owner(message, signature)
	if err != nil {
		h.Log.Warn("a message without an owner's signature", "error", err)
		return signer, &refusal{protocol.CodeForbidden, "the signature is refused: " + err.Error()}
	}
	if signer.Session != "" && signer.Session != h.SessionID {
		return signer, &refusal{
			protocol.CodeForbidden,
			"this page was let in for another session: open one for all with gateway open " +
				"--role owner",
		}
	}
	signer.Name = notice.Person(signer.Name)
	return signer, nil
}

func (h *Handler) giveGrant(m *protocol.ControlDecide, by string) {
	g := control.RemoteGrant{
		By:    by,
		For:   time.Duration(m.Seconds) * time.Second,
		Agent: h.book.ResolveName(m.AgentName),
		Level: m.Level,
		Epoch: m.Epoch,
	}
	h.decideAndReply(m.RequestID, func(now time.Time) error {
		return h.Control.GrantFromOwner(now, g)
	})
}

// decideAndReply makes a decision and answers with its error; or else a turn later, when the
// agent's queued input is dropped.
func (h *Handler) decideAndReply(requestID string, decide func(now time.Time) error) {
	h.decideThen(requestID, decide, func() { h.Link.Send(&protocol.Done{RequestID: requestID}) })
}

// decideThen makes a decision on the pump's goroutine and calls then a turn later. An error is
// answered instead.
func (h *Handler) decideThen(requestID string, decide func(now time.Time) error, then func()) {
	ok := h.Pump.Post(func(now time.Time) {
		if err := decide(now); err != nil {
			h.sendError(requestID, protocol.CodeBusy, err.Error())
		} else if !h.Pump.Post(func(time.Time) { then() }) {
			h.sendExited(requestID)
		}
	})
	if !ok {
		h.sendExited(requestID)
	}
}

// decideMute mutes an agent or lets it speak again. An unmuting decision works once: it cannot be
// repeated after the user has muted the agent anew.
func (h *Handler) decideMute(m *protocol.ControlDecide, by string) {
	name := h.book.ResolveName(m.AgentName)
	h.decideAndReply(m.RequestID, func(now time.Time) error {
		if m.Mute == protocol.MuteOn {
			return h.Control.MuteAgent(now, name, by)
		}
		if m.At != 0 && m.At <= h.unmuted {
			return errors.New("that was decided before: decide again")
		}
		h.unmuted = max(h.unmuted, m.At)
		return h.Control.UnmuteAgent(now, name, by, m.Epoch)
	})
}

// reclaimGrant ends control. The answer comes a turn of the pump later, when the queue is dropped
// and what the program has not read is taken back: no byte of an agent follows the answer.
func (h *Handler) reclaimGrant(requestID, by string) {
	h.decideAndReply(requestID, func(now time.Time) error { h.Reclaim(now, by); return nil })
}

// Reclaim takes the keyboard back without the reclaim key. It runs on the pump's goroutine.
func (h *Handler) Reclaim(now time.Time, by string) {
	promised := h.Control.State(now).Phase == control.Observing
	if had := h.Control.Reclaim(now, by); had && promised { // an event announces every other end
		h.Status.ShowText("no agent gets the keyboard without asking you")
	}
}

// decideHide hides the session from agents or shows it again. It answers once that is in effect.
func (h *Handler) decideHide(m *protocol.ControlDecide) {
	hide := func(now time.Time) error {
		if m.Epoch != 0 && m.Epoch != h.Control.State(now).Epoch {
			return control.ErrMoved
		}
		h.Control.SetHidden(now, m.Hide == protocol.HideOn)
		return nil
	}
	// A turn later the pump's queue is dropped, and the observer has been told.
	h.decideThen(m.RequestID, hide, func() {
		h.Observer.Post(func(time.Time) { h.Link.Send(&protocol.Done{RequestID: m.RequestID}) })
	})
}
