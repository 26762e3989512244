package control

import "terminalproxy/protocol"

// Level is what a grant allows.
type Level = protocol.Level

// The levels.
const (
	NoLevel Level = ""
	Type          = protocol.LevelType  // what would submit or signal is held for the user
	Drive         = protocol.LevelDrive // every key
)

// covers reports whether a grant of level l allows all that one of level other does.
func covers(l, other Level) bool {
	return l == other || other == NoLevel || l == Drive && other == Type
}

// Reason says why control ended, "" for none.
type Reason = protocol.Reason

// The reasons.
const (
	Reclaimed = protocol.ReasonReclaimed // the user pressed the reclaim key
	Refused   = protocol.ReasonRefused   // the user declined the request
	Released  = protocol.ReasonReleased  // the agent gave control back
	Expired   = protocol.ReasonExpired   // time is over
	Exited    = protocol.ReasonExited    // the program ended
	Link      = protocol.ReasonLink      // the way to the agent is lost, or the agent is gone
	Replaced  = protocol.ReasonReplaced  // the agent's own newer request took the place
)
