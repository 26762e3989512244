package requests

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/display/notice"
)

// decisions carries out what owners decide about control from elsewhere.
type decisions struct {
	*Config
	verifier *verifier
	book     *names.Book
	// unmuted is the time of the newest decision that let a muted agent speak again, in Unix
	// milliseconds. Owned by the pump's goroutine.
	unmuted int64
}

// handleDecision acts on an owner's decision from elsewhere. A decision that takes something away
// from agents needs no proof: each process that reaches the gateway's socket could also send this
// process a signal, and the safe act must not fail for a missing file. A decision that gives agents
// more needs the session's owner.
func (d *decisions) handleDecision(m *protocol.ControlDecide) {
	by := notice.Person(m.By)
	if m.Widens() {
		var reason *refusal
		if by, reason = d.verifier.verifyOwner(time.Now(), m); reason != nil {
			sendRefusal(d.Link, m.RequestID, reason)
			return
		}
	}
	switch {
	case m.Hide != "":
		d.decideHide(m)
	case m.Mute != "":
		d.decideMute(m, by)
	case m.Refuse:
		d.decideAndReply(m.RequestID, func(now time.Time) error {
			return d.Control.RefuseRequest(now, d.book.ResolveName(m.AgentName), by)
		})
	case m.Grant:
		d.giveGrant(m, by)
	default:
		d.reclaimGrant(m.RequestID, by)
	}
}

func (d *decisions) giveGrant(m *protocol.ControlDecide, by string) {
	g := control.RemoteGrant{
		By:    by,
		For:   time.Duration(m.Seconds) * time.Second,
		Agent: d.book.ResolveName(m.AgentName),
		Level: m.Level,
		Epoch: m.Epoch,
	}
	d.decideAndReply(m.RequestID, func(now time.Time) error {
		return d.Control.GrantFromOwner(now, g)
	})
}

// decideAndReply makes a decision. It answers an error at once, and success a turn of the pump
// later, when the agent's queued input is dropped.
func (d *decisions) decideAndReply(requestID string, decide func(now time.Time) error) {
	d.decideThen(requestID, decide, func() { d.Link.Send(&protocol.Done{RequestID: requestID}) })
}

// decideThen makes a decision on the pump's goroutine and calls then a turn later. If the decision
// fails, it answers the error and does not call then.
func (d *decisions) decideThen(requestID string, decide func(now time.Time) error, then func()) {
	ok := d.Pump.Post(func(now time.Time) {
		if err := decide(now); err != nil {
			sendError(d.Link, requestID, protocol.CodeBusy, err.Error())
		} else if !d.Pump.Post(func(time.Time) { then() }) {
			sendExited(d.Link, requestID)
		}
	})
	if !ok {
		sendExited(d.Link, requestID)
	}
}

// decideMute mutes an agent or lets it speak again. An unmuting decision works once: it cannot be
// repeated after the user has muted the agent again.
func (d *decisions) decideMute(m *protocol.ControlDecide, by string) {
	name := d.book.ResolveName(m.AgentName)
	d.decideAndReply(m.RequestID, func(now time.Time) error {
		if m.Mute == protocol.MuteOn {
			return d.Control.MuteAgent(now, name, by)
		}
		if m.At != 0 && m.At <= d.unmuted {
			return errors.New("that was decided before: decide again")
		}
		d.unmuted = max(d.unmuted, m.At)
		return d.Control.UnmuteAgent(now, name, by, m.Epoch)
	})
}

// reclaimGrant ends control. The answer comes a turn of the pump later, when the queue is dropped
// and unread bytes are taken back: no byte of an agent follows the answer.
func (d *decisions) reclaimGrant(requestID, by string) {
	d.decideAndReply(requestID, func(now time.Time) error { d.reclaim(now, by); return nil })
}

// reclaim implements [Handler.Reclaim].
func (d *decisions) reclaim(now time.Time, by string) {
	promised := d.Control.State(now).Phase == control.Observing
	if had := d.Control.Reclaim(now, by); had && promised { // an event announces every other end
		d.Status.ShowText("no agent gets the keyboard without asking you")
	}
}

// decideHide hides the session from agents or shows it again. It answers once that is in effect.
func (d *decisions) decideHide(m *protocol.ControlDecide) {
	hide := func(now time.Time) error {
		if m.Epoch != 0 && m.Epoch != d.Control.State(now).Epoch {
			return control.ErrMoved
		}
		d.Control.SetHidden(now, m.Hide == protocol.HideOn)
		return nil
	}
	// A turn later the pump's queue is dropped, and the observer has the new state.
	d.decideThen(m.RequestID, hide, func() {
		d.Observer.Post(func(time.Time) { d.Link.Send(&protocol.Done{RequestID: m.RequestID}) })
	})
}
