package requests

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// decisionFor is how long a signed message is good: enough for the way here and for clocks that differ a little, and too
// little for somebody who kept one.
const decisionFor = 30 * time.Second

// decide does what an owner decided elsewhere. Whatever takes something away from agents is done on anybody's word who
// gets it here: who can reach the gateway's socket could as well send this process a signal, and the safe act must not
// fail for a missing file. Whatever gives agents more is for who owns the session to say.
func (h *Handler) decide(m *protocol.ControlDecide) {
	by := notice.Person(m.By)
	if m.Widens() {
		var no *refusal
		if by, no = h.owner(time.Now(), m); no != nil {
			h.refuse(m.RequestID, no.code, no.say)
			return
		}
	}
	switch {
	case m.Hide != "":
		h.decideHide(m)
	case m.Mute != "":
		h.decideMute(m, by)
	case m.Refuse:
		h.answered(m.RequestID, func(now time.Time) error { return h.Control.Refuse(now, h.book.Meant(m.AgentName), by) })
	case m.Grant:
		h.give(m, by)
	default:
		h.takeBack(m.RequestID, by)
	}
}

// owner is the name of the owner whose decision m is. The signature counts, by whatever gateway it comes; the word of a
// gateway alone counts only if the user said so when the session began.
func (h *Handler) owner(now time.Time, m *protocol.ControlDecide) (name string, no *refusal) {
	if h.RemoteGrant { // it knows its owners, and we need not
		return notice.Person(m.By), nil
	}
	if len(m.SignatureB64) == 0 {
		return "", &refusal{protocol.CodeForbidden, "only the user at the session's terminal can do that, or an owner who signs it: use gateway grant with an owner token of the session's own machine"}
	}
	if m.Epoch == 0 {
		return "", &refusal{protocol.CodeBadMessage, "a signed decision names the epoch that its owner saw"}
	}
	who, no := h.signer(now, m.At, m.Signed(h.Started.UnixMilli()), m.SignatureB64)
	return who.Name, no
}

// signer is the owner who signed a message of theirs at that time, in Unix milliseconds.
func (h *Handler) signer(now time.Time, at int64, message, signature []byte) (who protocol.Signer, no *refusal) {
	if age := now.Sub(time.UnixMilli(at)); age < -decisionFor || age > decisionFor {
		return who, &refusal{protocol.CodeForbidden, "what was signed is not of this moment: do it again, and see that both clocks are right"}
	}
	if h.Owner == nil {
		return who, &refusal{protocol.CodeForbidden, "this session knows no owner tokens"}
	}
	who, err := h.Owner(message, signature)
	if err != nil {
		h.Log.Warn("a message that no owner signed", "error", err)
		return who, &refusal{protocol.CodeForbidden, "the signature is refused: " + err.Error()}
	}
	if who.Session != "" && who.Session != h.SessionID {
		return who, &refusal{protocol.CodeForbidden, "this page was let in for another session: open one for all with gateway open --role owner"}
	}
	who.Name = notice.Person(who.Name)
	return who, nil
}

func (h *Handler) give(m *protocol.ControlDecide, by string) {
	g := control.RemoteGrant{By: by, For: time.Duration(m.Seconds) * time.Second, Agent: h.book.Meant(m.AgentName), Level: m.Level, Epoch: m.Epoch}
	h.answered(m.RequestID, func(now time.Time) error { return h.Control.Give(now, g) })
}

// answered has control decide, and answers with its error; else a turn later, when what an agent had queued is dropped.
func (h *Handler) answered(requestID string, decide func(now time.Time) error) {
	h.aTurnLater(requestID, decide, func() { h.Link.Send(&protocol.Done{RequestID: requestID}) })
}

// aTurnLater has control decide on the pump's goroutine, and calls then a turn later. An error is the answer instead.
func (h *Handler) aTurnLater(requestID string, decide func(now time.Time) error, then func()) {
	ok := h.Pump.Post(func(now time.Time) {
		if err := decide(now); err != nil {
			h.refuse(requestID, protocol.CodeBusy, err.Error())
		} else if !h.Pump.Post(func(time.Time) { then() }) {
			h.gone(requestID)
		}
	})
	if !ok {
		h.gone(requestID)
	}
}

// decideMute mutes an agent, or lets it speak again. What lets it is done once: whoever kept the decision cannot use it again when the
// user has muted the agent anew.
func (h *Handler) decideMute(m *protocol.ControlDecide, by string) {
	name := h.book.Meant(m.AgentName)
	h.answered(m.RequestID, func(now time.Time) error {
		if m.Mute == protocol.MuteOn {
			return h.Control.Hush(now, name, by)
		}
		if m.At != 0 && m.At <= h.unmuted {
			return errors.New("that was decided before: decide again")
		}
		h.unmuted = max(h.unmuted, m.At)
		return h.Control.Unhush(now, name, by, m.Epoch)
	})
}

// takeBack ends control. It is answered a turn of the pump later, when the queue is dropped and what the program has not
// read is taken back: no byte of an agent's follows the answer.
func (h *Handler) takeBack(requestID, by string) {
	h.answered(requestID, func(now time.Time) error { h.Reclaim(now, by); return nil })
}

// Reclaim takes the keyboard back by another way than its key. It runs on the pump's goroutine.
func (h *Handler) Reclaim(now time.Time, by string) {
	promised := h.Control.State(now).Phase == control.Observing
	if had := h.Control.Reclaim(now, by); had && promised { // of anything else an event tells
		h.Status.Tell("no agent gets the keyboard without asking you")
	}
}

// decideHide hides the session from agents, or shows it again. It is answered when nothing can be seen any more, or all.
func (h *Handler) decideHide(m *protocol.ControlDecide) {
	hide := func(now time.Time) error {
		if m.Epoch != 0 && m.Epoch != h.Control.State(now).Epoch {
			return control.ErrMoved
		}
		h.Control.Hide(now, m.Hide == protocol.HideOn)
		return nil
	}
	// A turn later the pump's queue is dropped and the observer has been told.
	h.aTurnLater(m.RequestID, hide, func() {
		h.Observer.Post(func(time.Time) { h.Link.Send(&protocol.Done{RequestID: m.RequestID}) })
	})
}
