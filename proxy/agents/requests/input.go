package requests

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
)

// delivery follows an agent's input to its receipt. Under level type the user has to let through
// each key that would submit or signal. The whole rest of the input is held then, so that the user
// sees all that one key lets through. Owned by the pump's goroutine.
type delivery struct {
	h            *Handler
	m            *protocol.Input
	life         pump.Life // Sent once the agent has the receipt
	epoch        uint64    // of its grant
	began        time.Time
	steps        []step
	keys         string // the keys of the last question to the user, "" for no question
	asked        string // that whole question, without what the answer does not cover
	allowed      bool   // the user let it through
	userKeysThen int    // the user's count of keys at that time
	shifts       int    // changes of the program between judgement and write
	unasked      bool   // the next write needs no consent of the user, by judged
	mouseAct     string // the act of the mouse, in words

	excuse func(error) bool // see [pump.Job.Excuse]
	record Record
	shown  shownInput // what viewers are told of it

	// Set by the observer's goroutine before Prepare answers:
	judged judgement // of the line, under level type
	rev    uint64    // the screen's revision before the next write

	conditions map[int]condition // by part, in place of a pause after it

	userKeysAtStart uint64 // the user's count of keys when the input came
	paused          bool   // it had to wait for the user at once

	written int // bytes, as in the receipt

	// Owned by the observer's goroutine:
	saw     glimpse        // the screen as its agent saw it
	noted   int            // steps known to [Handler.noteTyping]
	at      *protocol.Cell // the mouse acts here
	settled bool           // the program waits for its next line
	// repainting are the rows that kept changing while the rest of the screen was quiet.
	repainting []int
	// The program edited a line before the next step, and before the last typed step.
	editorBeforeNext bool
	editorBeforeLast bool
	userKeysAtStep   uint64 // the user's count of keys before the last step
	waiting          string // the id of the open wait for a condition, or ""
	// ends says by part how its condition ended.
	ends  map[int]*protocol.UntilResult
	wrote time.Time // the last byte was known to be written then
	// correct mends a receipt that was not sent yet; nil if the receipt is right.
	correct func(*protocol.InputResult)
	// group had the terminal when the input began to wait for the user's line; 0 if it did not.
	group int
}

// handleInput queues an agent's input. It is encoded, and its conditions are checked, when the
// first byte would be written.
func (h *Handler) handleInput(m *protocol.Input) {
	conditions, err := compileConditions(m)
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		bad.RequestID, bad.Field = m.RequestID, "parts."+bad.Field
		h.Link.Send(bad.Reply())
		return
	}
	if !h.claimInput(m) {
		return
	}
	epoch := m.Epoch
	if epoch == 0 { // 0 means the current grant
		epoch = h.Control.NewestState().Epoch
	}
	in := &delivery{
		h:      h,
		m:      m,
		epoch:  epoch,
		began:  time.Now(),
		steps:  splitSteps(m),
		excuse: h.ignorableRefusal(m, epoch),

		conditions: conditions,
		record:     h.Recorder.StartInput(m, epoch),
	}
	h.Pump.Post(func(now time.Time) { // after the keys that the user has typed so far
		st := h.Control.State(now)
		in.userKeysAtStart, in.paused = h.Tracker.TypedLine().Keys(), st.Paused || st.Occupied
	})
	h.Observer.Post(func(time.Time) { in.saw = h.seen.lastGlimpse(m.AgentID) })
	h.Pump.Enqueue(h.pumpJob(in))
}

// claimInput claims the id of an input. It answers a repeat and an invalid input itself, and
// returns false.
func (h *Handler) claimInput(m *protocol.Input) bool {
	switch before, earlier := h.receipts.claimID(m); {
	case before == usedForOther:
		h.Link.Send(&protocol.Error{
			RequestID: m.RequestID, Code: protocol.CodeBadMessage, Field: "requestId",
			Message: `field "requestId": was that of another input, so nothing of this one was typed: give each input an id of its own`,
		})
		return false
	case earlier != nil:
		h.Link.Send(earlier)
		return false
	case before == repeated:
		return false
	}
	if len(m.Parts) > 0 && m.Data != "" {
		sendError(
			h.Link,
			m.RequestID,
			protocol.CodeBadMessage,
			"parts replace data: leave one of them out",
		)
		return false
	}
	return true
}

// pumpJob returns the job by which the pump types an input.
func (h *Handler) pumpJob(in *delivery) pump.Job {
	return pump.Job{
		Life:  &in.life,
		ID:    in.m.RequestID,
		Agent: in.m.AgentID,
		Epoch: in.epoch,
		Size:  in.m.Size(),
		Wait:  time.Duration(in.m.TimeoutMs) * time.Millisecond,
		Prepare: func(left []pump.Piece, answer func([]pump.Piece, error)) {
			h.reviewInput(in, left, answer)
		},
		Hold:    in.holdForConsent,
		Holds:   in.checkTarget,
		Excuse:  in.excuse,
		Wrote:   func(p []byte) { h.noteWritten(in, p) },
		Done:    func(r pump.Receipt) { h.finishInput(in, r) },
		Flushed: func(n int) { h.correctFlushed(in, n) },
	}
}

// judgeLine judges the line for pieces under level type, and brackets their text. It returns false
// while the line is unsettled and that matters.
func (h *Handler) judgeLine(
	in *delivery,
	pieces []pump.Piece,
	began, now time.Time,
) ([]pump.Piece, bool) {
	judged, still := h.line.assessLine(now, began, isText(firstStep(pieces)))
	in.judged = judged
	pieces = judged.bracketText(pieces)
	return pieces, still || judged.prompt == line.Editor && judged.read &&
		!in.needsConsent(firstStep(pieces))
}

// checkTarget implements [pump.Job.Holds]: input that the user was not asked about may only reach
// the program that was judged.
func (in *delivery) checkTarget() bool {
	if !in.unasked || in.judged.isStillValid(in.h.Program) {
		return true
	}
	in.shifts++
	return false
}

// isText reports whether pieces hold text and editing keys only.
func isText(pieces []pump.Piece) bool {
	for _, p := range pieces {
		if p.Say != "" || keys.MaySubmit(p.Bytes, false) {
			return false
		}
	}
	return true
}

// checkAndEncode checks the conditions of an input, or of the rest of it, against the present
// screen, and encodes it for the present modes. What the user let through keeps its bytes. It runs
// on the observer's goroutine.
func (h *Handler) checkAndEncode(in *delivery, left []pump.Piece) ([]pump.Piece, error) {
	o := h.Observer
	if err := h.inputRefusal(in, time.Now()); err != nil {
		return nil, err
	}
	switch {
	case left == nil:
		if err := o.CheckExpectation(in.m.Expect); err != nil {
			return nil, &refusal{protocol.CodeScreenChanged, err.Error()}
		}
		return h.encoder.encodeSteps(in, 0, o.Model().Modes())
	case in.allowed:
		return left, nil
	}
	return h.encoder.encodeSteps(in, left[0].Step-1, o.Model().Modes())
}

// inputRefusal returns why the agent may not type now, or nil. The pump decides whether a refusal
// is ignored.
func (h *Handler) inputRefusal(in *delivery, now time.Time) error {
	reason := h.Observer.InputRefusal(now)
	if reason != nil && (in.excuse == nil || errors.Is(reason, control.ErrHidden)) {
		return pauseRefusal(reason)
	}
	return nil
}
