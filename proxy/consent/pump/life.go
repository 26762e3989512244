package pump

import "sync/atomic"

// State is the state of an agent's input. Until Ended the input is in the pump's queue.
//
// This is the whole life of an input: the state that follows each event, "." for an event that
// cannot happen then. TestLifeIsDrawn compares it with the code, and has the reasons.
//
//	             Queued  Judging Voided  Held    Ready   Begun   Crossed Ended Sent
//	TurnCame     Judging .       .       .       .       .       .       .     .
//	LineOccupied .       Queued  Queued  .       .       .       .       .     .
//	Postponed    .       Queued  Queued  .       .       .       .       .     .
//	Passed       .       Ready   .       .       .       .       .       .     .
//	AskedUser    .       Held    .       .       .       .       .       .     .
//	LetThrough   .       .       .       Queued  .       .       .       .     .
//	UserTyped    Queued  Voided  Voided  Held    Queued  Crossed Crossed .     .
//	Shifted      .       .       .       .       Queued  .       .       .     .
//	PartWritten  .       .       .       .       Begun   Begun   Crossed .     .
//	PieceWritten .       .       .       .       Ready   Ready   Queued  .     .
//	StepWritten  .       .       .       .       Queued  Queued  Queued  .     .
//	TakenBack    Queued  Judging Voided  Held    Ready   Begun   Crossed Ended Sent
//	AllWritten   .       .       .       .       Ended   Ended   Ended   .     .
//	Failed       Ended   Ended   Ended   .       Ended   Ended   .       .     .
//	NotAllowed   .       .       .       Ended   .       .       .       .     .
//	GivenUp      Ended   Ended   Ended   Ended   Ended   Ended   Ended   .     .
//	TypedOn      Ended   Ended   Ended   .       Ended   .       .       .     .
//	StayedAway   Ended   Ended   Ended   .       Ended   .       .       .     .
//	Unread       Ended   Ended   Ended   .       Ended   .       .       .     .
//	NotBack      Ended   Ended   Ended   .       Ended   .       .       .     .
//	ControlEnded Ended   Ended   Ended   Ended   Ended   Ended   Ended   .     .
//	Stuck        Ended   Ended   Ended   Ended   Ended   Ended   Ended   .     .
//	Exited       Ended   Ended   Ended   Ended   Ended   Ended   Ended   .     .
//	Receipted    .       .       .       .       .       .       .       Sent  .
//
// The fate in the receipt follows from the event that ended the input:
//
//	AllWritten: Written · GivenUp: Withdrawn · Failed, NotAllowed: Refused · Stuck: NotReading ·
//	ControlEnded: Dropped · Exited: ProgramEnded · TypedOn: UserTyping · StayedAway: OtherProgram ·
//	Unread, NotBack: Busy
type State uint8

// The states.
const (
	_       State = iota
	Queued        // it waits for its turn: for inputs before it, the user, or another program
	Judging       // its conditions are checked, and its rest is encoded
	Voided        // as Judging, but the user has typed since: only a refusal counts
	Held          // the user is asked to let it through
	Ready         // its next piece may be written
	Begun         // a piece is half written
	Crossed       // as Begun, and the user has typed since: the rest is judged again
	Ended         // it has a fate; the receipt waits for the screen to settle
	Sent          // its agent has the receipt

	states = int(Sent) + 1
)

// Event is what happens to an input.
type Event uint8

// The events.
const (
	TurnCame     Event = iota // it is the first in the queue, and nothing is known to hold it up
	LineOccupied              // judged: the user has something on the line
	Postponed                 // judged, but the user is typing
	Passed                    // judged: it may be written
	AskedUser                 // judged: the user has to let it through
	LetThrough                // the user lets it through
	UserTyped                 // a key of the user comes before the rest of it
	Shifted                   // the facts by which it was judged have changed
	PartWritten               // the program took a part of a piece
	PieceWritten              // a piece is complete, more of its step follow
	StepWritten               // a step is complete, another one follows
	TakenBack                 // the program had not read some of it, and will not
	AllWritten                // no piece is left
	Failed                    // a condition, its grant or the queue's limit refuses it
	NotAllowed                // the user does not let it through in time
	GivenUp                   // its agent gives it up
	TypedOn                   // it times out while the user types
	StayedAway                // it times out while another program has the terminal
	Unread                    // it times out while the program has not asked for more
	NotBack                   // the program does not ask for more
	ControlEnded              // the user took the keyboard back, or the grant ended
	Stuck                     // the program does not read
	Exited                    // the program or the session has ended
	Receipted                 // the receipt is sent

	events = int(Receipted) + 1
)

// row has the next state for each event, 0 for an event that cannot happen.
type row [events]State

// transitions is the table above.
var transitions = [states]row{
	Queued:  ending(waiting(row{TurnCame: Judging, UserTyped: Queued}), Queued),
	Judging: ending(waiting(judged(row{Passed: Ready, AskedUser: Held})), Judging),
	Voided:  ending(waiting(judged(row{})), Voided),
	Held: ending(row{
		LetThrough: Queued, NotAllowed: Ended, UserTyped: Held, GivenUp: Ended,
	}, Held),
	Ready: ending(waiting(row{
		UserTyped: Queued, Shifted: Queued, PartWritten: Begun, PieceWritten: Ready,
		StepWritten: Queued, AllWritten: Ended,
	}), Ready),
	Begun: ending(row{
		UserTyped: Crossed, PartWritten: Begun, PieceWritten: Ready,
		StepWritten: Queued, AllWritten: Ended, Failed: Ended, GivenUp: Ended,
	}, Begun),
	Crossed: ending(row{
		UserTyped: Crossed, PartWritten: Crossed, PieceWritten: Queued,
		StepWritten: Queued, AllWritten: Ended, GivenUp: Ended,
	}, Crossed),
	Ended: {TakenBack: Ended, Receipted: Sent},
	Sent:  {TakenBack: Sent},
}

// judged adds the answers that count even if the user has typed since.
func judged(r row) row {
	r[LineOccupied], r[Postponed], r[UserTyped] = Queued, Queued, Voided
	return r
}

// waiting adds the ends of an input that is between two pieces.
func waiting(r row) row {
	for _, e := range []Event{Failed, GivenUp, TypedOn, StayedAway, Unread, NotBack} {
		r[e] = Ended
	}
	return r
}

// ending adds what can happen to every input in the queue.
func ending(r row, same State) row {
	r[ControlEnded], r[Stuck], r[Exited], r[TakenBack] = Ended, Ended, Ended, same
	return r
}

// fates has the fate of an input that an event ended.
var fates = [events]Fate{
	AllWritten: Written, GivenUp: Withdrawn,
	Failed: Refused, NotAllowed: Refused, ControlEnded: Dropped, Stuck: NotReading, Exited: ProgramEnded,
	TypedOn: UserTyping, StayedAway: OtherProgram, Unread: Busy, NotBack: Busy,
}

var stateNames = [states]string{
	"", "Queued", "Judging", "Voided", "Held", "Ready", "Begun", "Crossed", "Ended", "Sent",
}

var eventNames = [events]string{
	"TurnCame", "LineOccupied", "Postponed", "Passed", "AskedUser", "LetThrough", "UserTyped",
	"Shifted", "PartWritten", "PieceWritten", "StepWritten", "TakenBack", "AllWritten",
	"Failed", "NotAllowed", "GivenUp", "TypedOn", "StayedAway", "Unread", "NotBack",
	"ControlEnded", "Stuck", "Exited", "Receipted",
}

func (s State) String() string { return stateNames[s] }
func (e Event) String() string { return eventNames[e] }

// Life is the state of one input. The pump's goroutine advances it until Ended, and after that the
// goroutine that sends the receipt. Any goroutine may read it.
type Life struct{ state atomic.Uint32 }

// State returns the present state.
func (l *Life) State() State {
	if s := State(l.state.Load()); s != 0 {
		return s
	}
	return Queued
}

// Advance goes to the state that follows e. It returns false, and changes nothing, if e cannot
// happen now.
func (l *Life) Advance(e Event) bool {
	for {
		from := l.state.Load()
		to := transitions[max(State(from), Queued)][e]
		if to == 0 {
			return false
		}
		if l.state.CompareAndSwap(from, uint32(to)) {
			return true
		}
	}
}

// canHappen reports whether e can happen now.
func (l *Life) canHappen(e Event) bool { return transitions[l.State()][e] != 0 }

// isHalfWritten reports whether the program has got a part of a key: the rest must come before
// everything else.
func (l *Life) isHalfWritten() bool {
	s := l.State()
	return s == Begun || s == Crossed
}
