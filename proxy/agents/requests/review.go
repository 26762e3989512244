package requests

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/view/snapshot"
)

// reviewState is how far a review has come: it happens while the input is in the pump's state
// Judging or Voided, and ends with the answer that the pump waits for.
//
// This is the whole life of a review: the state that follows each event, "." for an event that
// cannot happen then. TestReviewIsDrawn compares it with the code, and has the reasons.
//
//	                Asked   Pausing Waiting Looking Unclear Unseen  Unready Moving  Untold  Done
//	BegunAtOnce     Looking .       .       .       .       .       .       .       .       .
//	StepBefore      Pausing .       .       .       .       .       .       .       .       .
//	ConditionBefore Waiting .       .       .       .       .       .       .       .       .
//	NotProcessed    .       Pausing .       .       .       .       .       .       .       .
//	Processed       .       Looking .       .       .       .       .       .       .       .
//	ConditionMet    .       .       Looking .       .       .       .       .       .       .
//	RecheckDue      .       .       Waiting .       Looking Looking Looking Looking Looking .
//	OwnerUnclear    .       .       .       Unclear .       .       .       .       .       .
//	KeysUnshown     .       .       .       Unseen  .       .       .       .       .       .
//	ProgramStarting .       .       .       Unready .       .       .       .       .       .
//	LineMoves       .       .       .       Moving  .       .       .       .       .       .
//	ReadinessUntold .       .       .       Untold  .       .       .       .       .       .
//	LineOccupied    .       .       .       Done    .       .       .       .       .       .
//	InputRefused    .       .       Done    Done    .       .       .       .       .       .
//	InputPassed     .       .       .       Done    .       .       .       .       .       .
//	InputEnded      .       Done    Done    Done    Done    Done    Done    Done    Done    .
//	ProgramEnded    Done    .       .       Done    Done    Done    Done    Done    Done    .
type reviewState uint8

// The states.
const (
	_             reviewState = iota
	reviewAsked               // the pump asks; nothing has been checked
	reviewPausing             // the program processes the step before
	reviewWaiting             // the condition behind the part before is not met
	reviewLooking             // the line and the screen are looked at next
	reviewUnclear             // the program has to read the user's keys first
	reviewUnseen              // the program has yet to show what the user's keys did
	reviewUnready             // the program is starting
	reviewMoving              // the line is not settled, under level type
	reviewUntold              // the system may be able to tell in a moment what the program does
	reviewDone                // the pump has the answer, or needs none

	reviewStates = int(reviewDone) + 1
)

// reviewEvent is what happens to a review.
type reviewEvent uint8

// The events.
const (
	begunAtOnce     reviewEvent = iota // the input begins, or goes on within a step
	stepBefore                         // it goes on behind a step
	conditionBefore                    // it goes on behind a part with a condition
	notProcessed                       // the program needs longer for the step before
	processed                          // it has processed that, or has had its time
	conditionMet                       // and the agent knows all that happened since
	recheckDue                         // the time until the next look is over
	ownerUnclear                       // looked: the program has not processed the user's keys
	keysUnshown                        // looked: what they did is not on the screen
	programStarting                    // looked: the program has not drawn its first screen
	lineMoves                          // looked: the line changes
	readinessUntold                    // looked: the system cannot tell yet if the program waits
	lineOccupied                       // looked: the user has something on the line
	inputRefused                       // looked: it must not be typed
	inputPassed                        // looked: it may be typed
	inputEnded                         // the pump has ended the input, or its agent gave it up
	programEnded                       // the observer's goroutine has ended

	reviewEvents = int(programEnded) + 1
)

// reviewRow has the next state for each event, 0 for an event that cannot happen.
type reviewRow [reviewEvents]reviewState

// reviewTransitions is the table above.
var reviewTransitions = [reviewStates]reviewRow{
	reviewAsked: {
		begunAtOnce: reviewLooking, stepBefore: reviewPausing, conditionBefore: reviewWaiting,
		programEnded: reviewDone,
	},
	reviewPausing: {
		notProcessed: reviewPausing, processed: reviewLooking, inputEnded: reviewDone,
	},
	reviewWaiting: {
		recheckDue: reviewWaiting, conditionMet: reviewLooking, inputRefused: reviewDone,
		inputEnded: reviewDone,
	},
	reviewLooking: {
		ownerUnclear: reviewUnclear, keysUnshown: reviewUnseen, programStarting: reviewUnready,
		lineMoves: reviewMoving, readinessUntold: reviewUntold, lineOccupied: reviewDone,
		inputRefused: reviewDone,
		inputPassed:  reviewDone, inputEnded: reviewDone, programEnded: reviewDone,
	},
	reviewUnclear: lookingAgain,
	reviewUnseen:  lookingAgain,
	reviewUnready: lookingAgain,
	reviewMoving:  lookingAgain,
	reviewUntold:  lookingAgain,
}

// lookingAgain is the row of the states that end when the next look is due.
var lookingAgain = reviewRow{
	recheckDue: reviewLooking, inputEnded: reviewDone, programEnded: reviewDone,
}

var reviewStateNames = [reviewStates]string{
	"", "Asked", "Pausing", "Waiting", "Looking", "Unclear", "Unseen", "Unready", "Moving",
	"Untold", "Done",
}

var reviewEventNames = [reviewEvents]string{
	"BegunAtOnce", "StepBefore", "ConditionBefore", "NotProcessed", "Processed", "ConditionMet",
	"RecheckDue", "OwnerUnclear", "KeysUnshown", "ProgramStarting", "LineMoves",
	"ReadinessUntold", "LineOccupied",
	"InputRefused", "InputPassed", "InputEnded", "ProgramEnded",
}

func (s reviewState) String() string { return reviewStateNames[s] }
func (e reviewEvent) String() string { return reviewEventNames[e] }

// review finds out whether an input, or the rest of it, may be typed. Owned by the observer's
// goroutine; after that has ended, by the goroutine whose post failed.
type review struct {
	in     *delivery
	left   []pump.Piece // the unwritten rest; nil for the whole input
	answer func([]pump.Piece, error)
	state  reviewState
	since  time.Time // of the first look
}

// reviewInput implements [pump.Job.Prepare]. It runs on the pump's goroutine.
func (in *delivery) reviewInput(left []pump.Piece, answer func([]pump.Piece, error)) {
	r := &review{in: in, left: left, answer: answer, state: reviewAsked, since: time.Now()}
	r.post(r.begin)
}

// advance goes to the state that follows e. It returns false, and changes nothing, if e cannot
// happen now.
func (r *review) advance(e reviewEvent) bool {
	to := reviewTransitions[r.state][e]
	if to == 0 {
		return false
	}
	r.state = to
	return true
}

// note is advance for an event that the table must allow.
func (r *review) note(e reviewEvent) {
	if !r.advance(e) {
		r.in.Log.Error("a review was in no state for what happened to it",
			"state", r.state, "event", e)
	}
}

// post runs do on the observer's goroutine.
func (r *review) post(do func(now time.Time)) {
	if !r.in.Observer.Post(do) {
		r.endAtExit()
	}
}

func (r *review) endAtExit() {
	r.note(programEnded)
	r.answer(nil, &refusal{protocol.CodeExited, "the program has ended"})
}

// endIfInputEnded ends the review if the input has ended: the pump needs no answer then.
func (r *review) endIfInputEnded() (over bool) {
	if s := r.in.life.State(); s == pump.Judging || s == pump.Voided {
		return false
	}
	r.note(inputEnded)
	return true
}

// begin looks at once, or waits for what must come before the next step.
func (r *review) begin(now time.Time) {
	if r.left == nil || r.left[0].Step == 0 {
		r.note(begunAtOnce)
		r.look(now)
		return
	}
	if part, ends := r.in.conditions.conditionalPart(r.left[0].Step); ends {
		r.note(conditionBefore)
		r.awaitCondition(now, part)
		return
	}
	r.note(stepBefore)
	r.awaitProcessed(now, now)
}

// lookNext notes e and looks in the observer's next turn: the wait that has just ended may have
// ended in the middle of a piece of output.
func (r *review) lookNext(e reviewEvent) {
	r.note(e)
	r.since = time.Now()
	r.post(r.look)
}

// recheckAfter checks again after a delay. A state calls it last.
func (r *review) recheckAfter(delay time.Duration) {
	from := r.state
	time.AfterFunc(delay, func() {
		ok := r.in.Observer.Post(func(now time.Time) {
			if r.state == from && !r.endIfInputEnded() {
				r.recheck(now)
			}
		})
		if !ok && from != reviewWaiting { // else the open wait ends with the observer
			r.endAtExit()
		}
	})
}

func (r *review) recheck(now time.Time) {
	r.note(recheckDue)
	if r.state == reviewWaiting {
		r.watchCondition()
		return
	}
	r.look(now)
}

// awaitProcessed looks once the program has processed what was typed before the next step, or has
// had enough time since began.
func (r *review) awaitProcessed(now, began time.Time) {
	in := r.in
	facts := in.all.line.currentFacts()
	until, most, late := in.pauseBefore(now, facts, now.Equal(began))
	condition, _ := snapshot.Compile(until) // pauseBefore returns valid conditions
	in.Observer.OpenWait(now, until.Waiting, snapshot.Wait{
		ID:        in.waitID(r.left[0].Step),
		Condition: condition,
		NotBefore: now,
		Deadline:  now.Add(most),
		Done: func(end snapshot.Result) {
			now := time.Now()
			timely := now.Sub(began) < late &&
				(end.End == snapshot.Met || end.End == snapshot.TimedOut)
			switch {
			case r.endIfInputEnded():
			case timely && !in.hasConsumed(facts):
				r.note(notProcessed)
				r.awaitProcessed(now, began)
			default:
				r.lookNext(processed)
			}
		},
	}, func(error) { r.lookNext(processed) })
}

// awaitCondition looks once the condition of a part is met.
func (r *review) awaitCondition(now time.Time, part int) {
	if end := r.in.conditions.ends[part]; end != nil && end.Met { // it is judged again
		r.passCondition()
		return
	}
	r.in.conditions.openWait(now, part, r.left[0].Step, func(end snapshot.Result) {
		if err := r.in.conditions.unmetError(part, end); err != nil {
			r.refuse(err)
			return
		}
		r.passCondition()
	}, r.refuse)
	r.watchCondition()
}

func (r *review) passCondition() {
	if err := r.in.unexpectedError(); err != nil {
		r.refuse(err)
		return
	}
	r.lookNext(conditionMet)
}

// watchCondition ends the wait for a condition as soon as the rest must not be typed.
func (r *review) watchCondition() {
	if r.state != reviewWaiting {
		return
	}
	if err := r.in.unexpectedError(); err != nil {
		r.in.conditions.cancelWait()
		r.refuse(err)
		return
	}
	r.recheckAfter(lineEvery)
}

func (r *review) refuse(err error) {
	if r.endIfInputEnded() {
		return
	}
	r.note(inputRefused)
	r.answer(nil, err)
}

// look checks the line and the screen. While they do not decide yet, it looks again later.
func (r *review) look(now time.Time) {
	if r.endIfInputEnded() {
		return
	}
	found, err := r.checkLine(now)
	pieces := r.left
	if found == inputPassed {
		pieces, found, err = r.checkSteps(now)
	}
	r.note(found)
	switch found {
	case ownerUnclear:
		r.recheckAfter(pendingEvery)
	case keysUnshown, programStarting, lineMoves, readinessUntold:
		r.recheckAfter(stillEvery)
	default:
		r.answer(pieces, err)
	}
}

// beginsStep reports whether a new step begins.
func (r *review) beginsStep() bool { return r.left == nil || r.left[0].Step != 0 }

// checkLine checks whether the line is free for the input, and still the one that its agent saw.
func (r *review) checkLine(now time.Time) (found reviewEvent, err error) {
	in := r.in
	pending, blocked := in.all.line.blockedBy(now)
	if pending {
		return ownerUnclear, nil
	}
	if blocked != nil {
		if in.group == 0 {
			in.group = in.Program.ForegroundGroup()
		}
		types := describeSteps(in.steps)
		if r.left != nil {
			types = describePieces(r.left)
		}
		blocked.Types = notice.Reason(types)
		return lineOccupied, blocked
	}
	if r.beginsStep() && in.group != 0 && in.group != in.Program.ForegroundGroup() {
		// A text for one program's line could be a command to another.
		return inputRefused, &refusal{
			protocol.CodeScreenChanged,
			"another program has the terminal since the input waited for the user's line",
		}
	}
	waited := in.paused || in.group != 0 || in.userKeysAtStart != in.Tracker.TypedLine().Keys()
	// A full-screen program may hold half a command of the user's, as vim behind a colon. Or the
	// user has started or left one.
	unseen := in.saw.looked && in.saw.keys != in.userKeysAtStart &&
		(in.saw.place.Alt || in.Observer.Model().Alt())
	if r.left != nil || !waited && !unseen {
		return inputPassed, nil
	}
	pending, err = in.all.line.checkSeen(in.saw, now.Sub(r.since) >= maxStillWait)
	switch {
	case pending:
		return keysUnshown, nil
	case err != nil:
		return inputRefused, err
	}
	return inputPassed, nil
}

// checkSteps encodes the input, or what is left of it, and judges it under level type.
func (r *review) checkSteps(now time.Time) (pieces []pump.Piece, found reviewEvent, err error) {
	in := r.in
	pieces, found = r.left, inputPassed
	if r.beginsStep() {
		if in.all.line.isStarting(in.nextStep(r.left), r.since, now) {
			return nil, programStarting, nil
		}
		in.rev, in.userKeysAtStep = in.Observer.Model().Rev(), in.Tracker.TypedLine().Keys()
		if pieces, err = in.checkAndEncode(r.left); err != nil {
			found = inputRefused
		}
	}
	if err == nil && isTypeLevel(in.Control) {
		still := false
		if pieces, still = in.consent.judgeLine(pieces, r.since, now); !still {
			return nil, lineMoves, nil
		}
	}
	if err == nil && r.beginsStep() {
		late := now.Sub(r.since) >= stillFor
		if !in.noteTyping(firstStep(pieces), late) {
			return nil, readinessUntold, nil
		}
	}
	if r.left == nil {
		in.record.RecordScreen(time.Now())
	}
	return pieces, found, err
}
