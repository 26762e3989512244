package requests

import (
	"log/slog"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/terminal/keys"
)

// Config holds the ports of a [Handler].
type Config struct {
	SessionID  string
	Started    time.Time // part of what owners sign
	ReclaimKey keys.CtrlKey
	// Owner returns the owner who signed a message; an error is for people. nil: the session knows
	// no owners.
	Owner func(message, signature []byte) (protocol.Signer, error)
	// LocalAgent returns the name of the local token that signed a message. nil: the session knows
	// no tokens.
	LocalAgent func(message, signature []byte) (token string, err error)
	// RuleGrant returns the grant that a rule of the user gives an agent that asks now. It reads files.
	// nil: there are no rules.
	RuleGrant func(a control.Agent, level protocol.Level) control.RuleGrant
	// RemoteGrant makes the gateway's word enough for an owner's decision.
	RemoteGrant bool
	// RemoteKeys lets every owner type from elsewhere, not only those whose key says so.
	RemoteKeys bool
	Log        *slog.Logger

	Observer       Observer
	Pump           Pump
	Control        Control
	Link           Link
	Program        Program
	Terminal       Terminal
	Status         Status
	Recorder       Recorder
	Desk           Desk
	Tracker        *line.Tracker // follows all keys
	OwnTerminal    OwnTerminal   // nil in the user's own terminal
	Attached       Attached      // nil if Own is
	RemoteKeyboard RemoteKeyboard
	// Chat is the conversation with the program if that is a coding agent, or nil.
	Chat Conversation
	// OutsideRequests opens other agents' requests in that conversation; nil refuses them.
	OutsideRequests OutsideRequests
}

// sendError refuses a request. Inlined in its callers, it would be 8 KiB.
//
//go:noinline
func sendError(link Link, requestID string, code protocol.Code, message string) {
	link.Send(&protocol.Error{RequestID: requestID, Code: code, Message: message})
}

// sendExited refuses a request that came after the program's end.
func sendExited(link Link, requestID string) {
	sendError(link, requestID, protocol.CodeExited, "the program has ended")
}
