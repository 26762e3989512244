package control

import (
	"time"

	"terminalproxy/protocol"
)

// Event is one change of control, in order.
type Event struct {
	Granted  bool     // control was given; else it ended or was refused
	Requests []string // the requests that this answers
	Agent    Agent
	Level    protocol.Level
	Epoch    uint64 // of the grant that began or ended
	Until    time.Time
	Reason   protocol.Reason // of an end
	By       string          // the owner elsewhere who decided, "" for the user at the keyboard and for what nobody decided
	Policy   bool            // the user decided when the session began
	Rule     string          // where the user's rule stands that gave control, "" for none
	Bound    bool            // and that it is for the program in front
	Own      bool            // in a terminal of its own the agent got control without a question
	// Request says that it is a request which ended, and no grant; Shut that its agent may not ask again before the user opens
	// the menu.
	Request, Shut bool
	// Cause says more of an end than its reason does.
	Cause Cause
	// Withdrawn says of the reason Released that the agent did not say so: the call that asked was given up, or its caller is gone.
	Withdrawn bool
	// Absent says of the reason Link that the agent had no connection for AbsentFor.
	Absent bool
	// Dropped is what was accepted of the agent's input and not written, Unsubmitted what was written since the last Enter, in
	// bytes. Whoever writes fills them in.
	Dropped, Unsubmitted int
}

// Cause says more of an end of control than its reason does.
type Cause uint8

// The causes.
const (
	NoCause   Cause = iota
	Closing         // Exited, while the program still runs: the session was told to end
	Left            // Reclaimed, since the user left the session's terminal, which goes on without a window
	Suspended       // Reclaimed, since the program was stopped, or went into the background
	Flooded         // Reclaimed, since the user's own input could no longer be held
	Muted           // Reclaimed or Refused, since the user muted the agent
	Causes          // is how many there are
)

// Decider is who decided that, for people: the name of an owner elsewhere, or one of the protocol's words; "" for nobody.
func (e Event) Decider() string {
	switch {
	case e.By != "":
		return e.By
	case e.Rule != "":
		return "rule " + e.Rule
	case e.Policy:
		return protocol.ByFlag
	case e.Granted && !e.Own, e.Reason == protocol.ReasonReclaimed, e.Reason == protocol.ReasonRefused:
		return protocol.ByTerminal
	}
	return ""
}
