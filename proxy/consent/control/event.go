package control

import (
	"time"

	"terminalproxy/protocol"
)

// Event is one change of control, in order.
type Event struct {
	Granted  bool     // control was given; otherwise it ended or was refused
	Requests []string // the requests that this answers
	Agent    Agent
	Level    protocol.Level
	Epoch    uint64 // of the grant that began or ended
	Until    time.Time
	Reason   protocol.Reason // of an end
	// By is the remote owner who decided; "" for the user at the keyboard, and without a decision.
	By          string
	Policy      bool   // the user decided when the session began
	Rule        string // place of the user's rule that gave control, or ""
	OneProgram  bool   // the rule is for the foreground program only
	OwnTerminal bool   // given without a question, in the agent's own terminal
	// Request is set if a request ended, not a grant. Shut is set if its agent may not ask again
	// before the user opens the menu.
	Request, Blocked bool
	// Cause details the reason of an end.
	Cause Cause
	// Withdrawn, with the reason Released, means that the agent did not release control itself: its
	// call was abandoned, or its caller is gone.
	Withdrawn bool
	// Absent, with the reason Link, means that the agent had no connection for AbsentFor.
	Absent bool
	// Dropped counts accepted bytes of the agent's input that were not written, and Unsubmitted the
	// bytes written since the last Enter. The pump fills them in.
	Dropped, Unsubmitted int
}

// Cause details the reason of an end of control.
type Cause uint8

// The causes.
const (
	NoCause   Cause = iota
	Closing         // Exited, while the program still runs: the session was told to end
	Left            // Reclaimed, since the user left the terminal; it continues without a window
	Suspended       // Reclaimed, since the program was stopped, or went to the background
	Flooded         // Reclaimed, since the user's own input could no longer be held
	Muted           // Reclaimed or Refused, since the user muted the agent
	Causes          // the number of causes
)

// Decider names the person or rule behind the event, for people: a remote owner, one of the
// protocol's words, or "".
func (e Event) Decider() string {
	switch {
	case e.By != "":
		return e.By
	case e.Rule != "":
		return "rule " + e.Rule
	case e.Policy:
		return protocol.ByFlag
	case e.Granted && !e.OwnTerminal,
		e.Reason == protocol.ReasonReclaimed,
		e.Reason == protocol.ReasonRefused:
		return protocol.ByTerminal
	}
	return ""
}
