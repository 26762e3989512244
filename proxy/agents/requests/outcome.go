package requests

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
)

// refusal is an error with a code for programs and a message for the agent.
type refusal struct {
	code    protocol.Code
	message string
}

func (r *refusal) Error() string { return r.message }

// finishInput makes the receipt. It runs on the pump's goroutine.
func (in *delivery) finishInput(r pump.Receipt) {
	in.written = r.Written
	result := &protocol.InputResult{
		ID: protocol.NewID(), RequestID: in.m.RequestID, SessionID: in.SessionID,
		WrittenBytes: r.Written, DroppedBytes: r.Dropped, UnsubmittedBytes: r.Unsubmitted,
	}
	if r.Written > 0 {
		result.FromSeq = in.steps[0].from
	}
	if in.setOutcome(r, result); result.Status != protocol.StatusRefused {
		result.Parts = in.partResults(r.Written)
	}
	does := in.mouseAct
	if first := in.steps[0]; does == "" && first.InputKind == protocol.InputMouse {
		does = describeWish(first.InputPart)
	}
	if r.Fate == pump.Withdrawn && r.Held {
		in.Status.ShowText(in.Control.State(time.Now()).Agent.Name + " no longer asks")
	}
	in.record.RecordReceipt(result, does, in.consent.allowed)
	in.announceTyped(r)
	if !in.Observer.Post(func(now time.Time) { in.reply.answerWhenSettled(now, result) }) {
		in.reply.answerAtExit(result)
	}
}

// setOutcome sets the receipt's status, reason and message. It runs on the pump's goroutine.
func (in *delivery) setOutcome(r pump.Receipt, result *protocol.InputResult) {
	result.Status, result.Reason, result.Message = receiptStatus(r)
	st := in.Control.State(time.Now())
	if r.Fate == pump.Withdrawn {
		return
	}
	if r.Fate == pump.UserTyping && st.Occupied {
		result.Message = "the user has not submitted the line: " +
			strconv.Quote(st.Line)
	}
	if r.Fate == pump.OtherProgram && st.NeverRule != "" {
		result.Message = ruleMessage(st)
	}
	if reason, ok := in.consent.userRefusal(r); ok {
		result.Reason, result.Message = reason.code, reason.message
		if result.Status = protocol.StatusDropped; r.Written == 0 {
			result.Status, result.DroppedBytes = protocol.StatusRefused, 0
		}
		if reason.code == protocol.CodeUserRefused {
			result.Ended = protocol.ReasonReclaimed
		}
	}
	if reason := st.PauseError(); reason != nil && r.Fate == pump.Dropped &&
		st.Phase == control.Granted {
		result.Reason, result.Message = pauseRefusal(reason).code, pauseRefusal(reason).message
		if r.Written == 0 {
			result.Status = protocol.StatusRefused
		}
	}
	if result.Reason == protocol.CodeNoGrant || result.Reason == protocol.CodeStaleEpoch {
		if e := in.Control.LastEnd(); e.Reason != "" && e.Agent.ID == in.m.AgentID {
			result.Ended, result.Message = e.Reason, endSentence(e)
			if r.Fate != pump.Dropped {
				result.UnsubmittedBytes = e.Unsubmitted
			}
		}
	}
	if result.Reason == protocol.CodeSecretPrompt && isUnattended(in.OwnTerminal) {
		result.Message = unansweredSecretMessage(in.SessionID)
	}
}

// correctFlushed corrects a receipt after the last n written bytes were taken back unread when
// control ended. If the agent has the receipt already, a repeat of the input gets the correction,
// and the end of the grant counts the bytes. It runs on the pump's goroutine.
func (in *delivery) correctFlushed(n int) {
	now := protocol.InputResult{WrittenBytes: in.written - n, DroppedBytes: n}
	in.setOutcome(pump.Receipt{Fate: pump.Dropped, Written: now.WrittenBytes, Dropped: n}, &now)
	in.record.RecordFlush(in.written, n, now.Reason)
	now.Parts = in.partResults(now.WrittenBytes)
	correct := func(r *protocol.InputResult) {
		r.Parts = now.Parts
		in.conditions.reportEnds(r)
		r.WrittenBytes, r.DroppedBytes, r.UnsubmittedBytes = now.WrittenBytes, now.DroppedBytes, now.UnsubmittedBytes
		r.Status, r.Reason, r.Message, r.Ended = now.Status, now.Reason, now.Message, now.Ended
	}
	in.Observer.Post(func(time.Time) {
		if in.life.State() == pump.Sent {
			in.all.receipts.correctReceipt(in.m.RequestID, correct)
		} else {
			in.reply.correct = correct
		}
	})
}

// pauseRefusal returns why an agent's grant pauses.
func pauseRefusal(why error) *refusal {
	if errors.Is(why, control.ErrHidden) {
		return &refusal{
			protocol.CodeBlackout,
			"the user hides the screen; your grant resumes when it is shown again",
		}
	}
	return &refusal{
		protocol.CodeSecretPrompt,
		"the program asks the user for a password, which the user types; your grant resumes " +
			"afterwards",
	}
}

// ruleMessage returns the message that a rule of the user keeps the agent out of the foreground
// program.
func ruleMessage(st control.State) string {
	return fmt.Sprintf("the user's rule (%s) keeps you out of %q, which has the terminal",
		st.NeverRule, st.OtherProgram)
}

// receiptStatus returns the status, reason and message of a receipt.
func receiptStatus(r pump.Receipt) (protocol.Status, protocol.Code, string) {
	status := protocol.StatusDropped
	if r.Written == 0 {
		status = protocol.StatusRefused
	}
	switch r.Fate {
	case pump.Written:
		return protocol.StatusWritten, "", ""
	case pump.Dropped:
		return protocol.StatusDropped, protocol.CodeNoGrant, "your grant ended"
	case pump.NotReading:
		return status, protocol.CodeNotReading, "the program has not read its input for two seconds"
	case pump.UserTyping:
		return status, protocol.CodeUserTyping, "the user is typing"
	case pump.ProgramEnded:
		return status, protocol.CodeExited, "the program has ended"
	case pump.OtherProgram:
		return status, protocol.CodeOtherProgram, "the grant is for one program, and another one " +
			"has the terminal"
	case pump.Withdrawn:
		return status, protocol.CodeWithdrawn, "the call that sent this was given up"
	case pump.Busy:
		return status, protocol.CodeNotReading, "the grant is for one program, and nothing is " +
			"typed ahead for it: it has not asked for more since the last input"
	case pump.Refused:
	}
	if known, ok := errors.AsType[*refusal](r.Err); ok {
		return status, known.code, known.message
	}
	if known, ok := errors.AsType[*pump.LongLineError](r.Err); ok {
		return status, protocol.CodeTooLarge, known.Error()
	}
	switch {
	case errors.Is(r.Err, control.ErrSecret), errors.Is(r.Err, control.ErrHidden):
		return status, pauseRefusal(r.Err).code, pauseRefusal(r.Err).message
	case errors.Is(r.Err, control.ErrStale):
		return status, protocol.CodeStaleEpoch, "the grant that this input belongs to has ended"
	case errors.Is(r.Err, control.ErrNoGrant):
		return status, protocol.CodeNoGrant, "you do not have the keyboard"
	case errors.Is(r.Err, control.ErrDialog):
		return status, protocol.CodeBusy, "the coding agent in this terminal waits for a " +
			"person's answer, and your keys would give it: wait until its dialog is closed " +
			"(only --agents-may-approve lets agents answer)"
	case errors.Is(r.Err, pump.ErrFull):
		return status, protocol.CodeBusy, r.Err.Error()
	}
	return status, protocol.CodeUnavailable, "the input could not be typed"
}

func sendRefusal(link Link, requestID string, reason *refusal) {
	sendError(link, requestID, reason.code, reason.message)
}
