package requests

import (
	"errors"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
)

// backgroundText explains to an agent why nothing is typed into a session in the background.
const backgroundText = "the user's shell has this session in the background, so no one can type " +
	"there: ask for control once the user is back"

// deliveries accepts agents' inputs, on the link's goroutine, and follows each in a [delivery].
type deliveries struct {
	*Config
	line     *Line
	encoder  *encoder
	seen     *seen
	waits    *agentWaits
	inbox    *inbox
	receipts *receipts
	tally    typedTally
	// inBackground: the user's shell has the session in the background, where nothing is typed.
	inBackground atomic.Bool
}

// delivery follows an agent's input to its receipt. Owned by the pump's goroutine, except for the
// fields that the observer's owns.
type delivery struct {
	*Config
	all    *deliveries
	m      *protocol.Input
	life   pump.Life // Sent once the agent has the receipt
	epoch  uint64    // of its grant
	began  time.Time
	excuse func(error) bool // see [pump.Job.Excuse]
	record Record

	consent    consent
	conditions conditions
	reply      reply

	steps    []step
	mouseAct string     // what the mouse does, in words
	shown    shownInput // the part of it that viewers see
	written  int        // bytes, as in the receipt

	userKeysAtStart uint64 // how many keys the user had typed when the input came
	paused          bool   // it had to wait for the user at once

	// rev is the screen's revision before the next write, set by the observer's goroutine before
	// Prepare answers.
	rev uint64

	// Owned by the observer's goroutine:
	saw        glimpse        // the screen as its agent saw it
	notedSteps int            // how many steps noteTyping has reported
	at         *protocol.Cell // the mouse acts here
	// The program edited a line before the next step, and before the last typed step.
	editorBeforeNext bool
	editorBeforeLast bool
	userKeysAtStep   uint64 // how many keys the user had typed before the last step
	// group had the terminal when the input began to wait for the user's line; 0 if it did not.
	group int
}

func (d *deliveries) newDelivery(
	m *protocol.Input, epoch uint64, byPart map[int]condition,
) *delivery {
	in := &delivery{
		Config: d.Config,
		all:    d,
		m:      m,
		epoch:  epoch,
		began:  time.Now(),
		steps:  splitSteps(m),
	}
	in.consent.in = in
	in.conditions = conditions{
		in: in, byPart: byPart, ends: make(map[int]*protocol.UntilResult),
	}
	in.reply.in = in
	return in
}

// handleInput queues an agent's input. It is encoded, and its conditions are checked, when the
// first byte would be written.
func (d *deliveries) handleInput(m *protocol.Input) {
	byPart, err := compileConditions(m)
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		bad.RequestID, bad.Field = m.RequestID, "parts."+bad.Field
		d.Link.Send(bad.Reply())
		return
	}
	if d.inBackground.Load() { // the pump would answer when the user comes back
		d.Link.Send(&protocol.InputResult{
			ID: protocol.NewID(), RequestID: m.RequestID, SessionID: d.SessionID,
			Status: protocol.StatusRefused, Reason: protocol.CodeNoGrant, Message: backgroundText,
		})
		return
	}
	if !d.claimInput(m) {
		return
	}
	epoch := m.Epoch
	if epoch == 0 { // 0 means the current grant
		epoch = d.Control.NewestState().Epoch
	}
	in := d.newDelivery(m, epoch, byPart)
	in.excuse, in.record = d.ignorableRefusal(m, epoch), d.Recorder.StartInput(m, epoch)
	d.Pump.Post(func(now time.Time) { // after the keys that the user has typed so far
		st := d.Control.State(now)
		in.userKeysAtStart, in.paused = d.Tracker.TypedLine().Keys(), st.Paused || st.Occupied
	})
	d.Observer.Post(func(time.Time) { in.saw = d.seen.lastGlimpse(m.AgentID) })
	d.Pump.Enqueue(in.pumpJob())
}

// claimInput claims the id of an input. It answers a repeat and an invalid input itself, and
// returns false.
func (d *deliveries) claimInput(m *protocol.Input) bool {
	switch before, earlier := d.receipts.claimID(m); {
	case before == usedForOther:
		d.Link.Send(&protocol.Error{
			RequestID: m.RequestID, Code: protocol.CodeBadMessage, Field: "requestId",
			Message: `field "requestId": was that of another input, so nothing of this one was typed: give each input an id of its own`,
		})
		return false
	case earlier != nil:
		d.Link.Send(earlier)
		return false
	case before == repeated:
		return false
	}
	if len(m.Parts) > 0 && m.Data != "" {
		sendError(d.Link, m.RequestID, protocol.CodeBadMessage,
			"parts replace data: leave one of them out")
		return false
	}
	return true
}

// pumpJob returns the job by which the pump types the input.
func (in *delivery) pumpJob() pump.Job {
	return pump.Job{
		Life:    &in.life,
		ID:      in.m.RequestID,
		Agent:   in.m.AgentID,
		Epoch:   in.epoch,
		Size:    in.m.Size(),
		Wait:    time.Duration(in.m.TimeoutMs) * time.Millisecond,
		Prepare: in.reviewInput,
		Hold:    in.prepareWrite,
		Holds:   in.consent.checkTarget,
		Excuse:  in.excuse,
		Wrote:   in.noteWritten,
		Done:    in.finishInput,
		Flushed: in.correctFlushed,
	}
}

// prepareWrite implements [pump.Job.Hold].
func (in *delivery) prepareWrite(
	now time.Time, pieces []pump.Piece, typed pump.Line,
) (held bool, err error) {
	if act := pieces[0].Description; act != "" {
		in.mouseAct = act
	}
	if held, err = in.consent.holdForConsent(now, pieces, typed); !held && err == nil {
		in.noteOutgoing(pieces)
	}
	return held, err
}

// checkAndEncode checks the conditions of the input, or of the rest of it, against the present
// screen, and encodes it for the present modes. Input that the user let through keeps its bytes. It
// runs on the observer's goroutine.
func (in *delivery) checkAndEncode(left []pump.Piece) ([]pump.Piece, error) {
	o := in.Observer
	if err := in.inputRefusal(time.Now()); err != nil {
		return nil, err
	}
	switch {
	case left == nil:
		if err := o.CheckExpectation(in.m.Expect); err != nil {
			return nil, &refusal{protocol.CodeScreenChanged, err.Error()}
		}
		return in.all.encoder.encodeSteps(in, 0, o.Model().Modes())
	case in.consent.allowed:
		return left, nil
	}
	return in.all.encoder.encodeSteps(in, left[0].Step-1, o.Model().Modes())
}

// inputRefusal returns why the agent may not type now, or nil. The pump decides whether a refusal
// is ignored.
func (in *delivery) inputRefusal(now time.Time) error {
	reason := in.Observer.InputRefusal(now)
	if reason != nil && (in.excuse == nil || errors.Is(reason, control.ErrHidden)) {
		return pauseRefusal(reason)
	}
	return nil
}
