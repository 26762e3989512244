// Package protocol is the wire between a proxy, a gateway and the agents and viewers behind it:
// every message as a Go type of one closed set, its limits, and Encode and Decode. It does no I/O
// and imports the standard library only.
//
// A message is one JSON text frame. Its "type" names it; the other fields are those of the Go type.
// Times are Unix milliseconds. Ids are opaque (see [ValidID]). PROTOCOL.md beside this file
// describes the conversation.
package protocol

import (
	"crypto/rand"
	"strings"
	"time"
)

// Version is the WebSocket subprotocol both sides must offer. A change that an older peer cannot
// ignore gets a new one.
const Version = "terminal-proxy.v1"

// Paths of the WebSockets; which one a peer dials decides what it may say.
const (
	PathProxy = "/v1/proxy" // a proxy publishes its sessions
	PathAgent = "/v1/agent" // an agent observes, asks for control and types under a grant
	PathView  = "/v1/view"  // a viewer or the owner watches
)

// PathProof is where a client and a gateway prove to each other over HTTP that they know a token,
// on the connection that then becomes a WebSocket. PROTOCOL.md has the exchange.
const PathProof = "/v1/proof"

// MaxProof bounds a body of the exchange of proofs, in bytes.
const MaxProof = 4 << 10

// Proof is a body of that exchange, in both directions.
type Proof struct {
	// Token names the token, see PROTOCOL.md.
	Token string `json:"token,omitempty"`
	// Nonce is the sender's random number: 64 hex digits.
	Nonce string `json:"nonce,omitempty"`
	// Answer is the sender's proof.
	Answer []byte `json:"answer,omitempty"`
	// Role and Name are those of the token.
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
}

// Limits of the wire. Sizes are bytes of the encoded frame or string unless they say otherwise.
const (
	MaxMessage      = 1 << 20    // a frame between proxy and gateway
	MaxAgentMessage = 64 << 10   // a frame from an agent
	MaxID           = 128        // an id
	MaxName         = 64         // names that people read: session, agent
	MaxReason       = 500        // a reason or a note
	MaxOutlived     = 65_535     // processes that outlive a terminal
	MaxText         = 4096       // a message between user and agent
	MaxShown        = 300        // characters of an agent's message to the user, on one line
	MaxConditions   = 16         // in any, and in stop, of a wait
	MaxPattern      = 1024       // text or regular expression of a wait or a condition
	MaxInput        = 48 << 10   // data of one terminal.input, of all its parts together
	MaxParts        = 48         // parts of one terminal.input
	MaxSteps        = 16         // parts of one terminal.input with until
	MaxSize         = 1000       // columns or rows
	MaxDepth        = 16         // nesting of JSON values
	ContentRunes    = 4000       // newest characters of the rolling text in a snapshot
	MaxWaitMs       = 600 * 1000 // longest wait, settle or request time-out, in milliseconds
	MaxHistory      = 2000       // rows of history in one terminal.read.result
	MaxHighlights   = 32         // highlights of one frame
	MaxPictures     = 32         // pictures of one frame
	MaxHighlight    = 80         // characters of the text of one highlight
	MaxCommands     = 32         // command lines of a shell that can be asked for
)

// HeaderCluster is a gateway's in its answer to the handshake: the name of the gateways that it
// belongs to, the same at each of them. Without it, it knows of no other.
const HeaderCluster = "Terminal-Gateway-Cluster"

// Level says what a grant allows.
type Level string

// The levels, from less to more.
const (
	// text and editing keys; what would submit or signal is the user's to press.
	LevelType  Level = "type"
	LevelDrive Level = "drive" // every key
)

// Reason says why control ended or was refused.
type Reason string

// The reasons of terminal.control.revoke.
const (
	ReasonReclaimed Reason = "reclaimed" // the user pressed the reclaim key
	ReasonRefused   Reason = "refused"   // the user declined the request
	ReasonReleased  Reason = "released"  // the agent gave control back
	ReasonExpired   Reason = "expired"   // the time of the grant, or of the request, is over
	ReasonExited    Reason = "exited"    // the program ended
	ReasonLink      Reason = "link"      // the way to the agent was lost
	ReasonReplaced  Reason = "replaced"  // the agent's own newer request took the place
)

// Who decides about control, for people, beside the names of owners elsewhere. It is empty without
// a decision: an end that came by itself has its [Reason], and in its own terminal an agent need
// not ask.
const (
	ByTerminal = "the terminal" // the user, at the session's own terminal
	ByFlag     = "--grant"      // what the user said when the session began, or set for every one
)

// InputKind says how the data of a terminal.input becomes bytes.
type InputKind string

// The kinds of input. Raw data is written as given.
const (
	InputRaw InputKind = ""
	// names of keys, separated by blanks, encoded for the modes that are on.
	InputKeys  InputKind = "keys"
	InputText  InputKind = "text"  // typed as is, without Enter
	InputPaste InputKind = "paste" // cleaned, and bracketed when the program asked for that
	InputMouse InputKind = "mouse" // what a mouse does, reported as the program asked for
	InputLines InputKind = "lines" // as paste when the program asked for brackets, else as text
)

// Status says what became of an input.
type Status string

// The fates of an input.
const (
	StatusWritten Status = "written" // every byte reached the program
	StatusRefused Status = "refused" // nothing was written
	StatusDropped Status = "dropped" // control ended midway
)

// Code is the machine-readable half of an [Error], and the reason of a refused input.
type Code string

// The codes. This list is the only one.
const (
	CodeBadMessage    Code = "bad_message"
	CodeTooLarge      Code = "too_large"
	CodeUnauthorized  Code = "unauthorized"
	CodeForbidden     Code = "forbidden"
	CodeNoSession     Code = "no_such_session"
	CodeNoGrant       Code = "no_grant"
	CodeStaleEpoch    Code = "stale_epoch"
	CodeScreenChanged Code = "screen_changed"
	CodeBlackout      Code = "blackout"
	CodeSecretPrompt  Code = "secret_prompt"
	CodeBusy          Code = "busy"
	CodeUserTyping    Code = "user_typing"
	CodeTimeout       Code = "timeout"
	CodeExited        Code = "exited"
	CodeUnavailable   Code = "unavailable"
	CodeReservedKey   Code = "reserved_key"
	CodeNotReading    Code = "program_not_reading"
	CodeUserRefused   Code = "user_refused"
	CodeOtherProgram  Code = "other_program"
	CodeNoChat        Code = "no_chat"
	CodeNotFound      Code = "not_found"
	CodeAnswered      Code = "answered"
	CodeWithdrawn     Code = "withdrawn" // the asker gave the call up
)

// Message is one message of the wire. Only this package can make one.
type Message interface {
	// check reports the first field that a peer may not send, as a *FieldError.
	check() error
}

// NewID is a new id for a message.
func NewID() string { return strings.ToLower(rand.Text()[:10]) }

// Milli is a time in Unix milliseconds, 0 for the zero time.
func Milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// ValidID reports whether s may be an id: 1 to 128 letters and digits of ASCII, or the signs in
// "._:-".
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > MaxID {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_',
			c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}
