package protocol

import "fmt"

// Level is the scope of a grant.
type Level string

// The levels, from less to more.
const (
	// text and editing keys; only the user presses keys that submit or signal.
	LevelType  Level = "type"
	LevelDrive Level = "drive" // every key
)

// Reason is why control ended or was refused.
type Reason string

// The reasons of terminal.control.revoke.
const (
	ReasonReclaimed Reason = "reclaimed" // the user pressed the reclaim key
	ReasonRefused   Reason = "refused"   // the user declined the request
	ReasonReleased  Reason = "released"  // the agent gave control back
	ReasonExpired   Reason = "expired"   // the time of the grant, or of the request, is over
	ReasonExited    Reason = "exited"    // the program ended
	ReasonLink      Reason = "link"      // the connection to the agent was lost
	ReasonReplaced  Reason = "replaced"  // a newer request of the same agent replaced it
)

// Values of By, which tells people who decided about control, besides the names of owners
// elsewhere. By is empty if nobody decided: control can end by itself (see [Reason]), and an agent
// in its own terminal need not ask.
const (
	ByTerminal = "the terminal" // the user, at the session's own terminal
	ByFlag     = "--grant"      // a setting of the user for the session, or for every session
)

// ControlRequest asks the user for control. It is answered by a [ControlGrant] or a
// [ControlRevoke].
type ControlRequest struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId"`
	AgentName string `json:"agentName"`
	Level     Level  `json:"level"`
	// Why is shown to the user.
	Why string `json:"reason"`
	// Seconds is the longest time that the agent wants control. The user's limit still applies.
	Seconds int64 `json:"seconds,omitempty"`
	// TokenID is an opaque id of the token that the agent presented, or "". The gateway sets it.
	TokenID string `json:"tokenId,omitempty"`
	// Program is the program that the agent asks with, and Parent the one that started it, both as
	// the agent reports them.
	Program string `json:"program,omitempty"`
	Parent  string `json:"parent,omitempty"`
	// Epoch is the epoch that the agent saw, and At when it asked, in Unix milliseconds. Both are
	// set if the agent proves that it has a token of this machine.
	Epoch uint64 `json:"epoch,omitempty"`
	At    int64  `json:"at,omitempty"`
	// ProofB64 is the Ed25519 signature over [ControlRequest.Signed]: a gateway passes it on and
	// cannot make one.
	ProofB64 []byte `json:"proofB64,omitempty"`
}

// ControlGrant reports that control was given.
type ControlGrant struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	RequestID string `json:"requestId,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Level     Level  `json:"level,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	ExpiresAt int64  `json:"expiresAt,omitempty"`
	// By is the decider: see [ByTerminal].
	By string `json:"by,omitempty"`
	// Notes are messages of the user to this agent that it has not received yet.
	Notes []string `json:"notes,omitempty"`
}

// ControlRevoke reports that control ended, or that a request was refused.
type ControlRevoke struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	RequestID string `json:"requestId,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	Reason    Reason `json:"reason,omitempty"`
	// By is the decider: see [ByTerminal].
	By string `json:"by,omitempty"`
	// DroppedBytes counts the bytes accepted from the agent and not typed, or taken back before the
	// program read them.
	DroppedBytes int `json:"droppedBytes,omitempty"`
	// UnsubmittedBytes counts the bytes that the agent typed since its last Enter: the program may
	// still have them on its line.
	UnsubmittedBytes int `json:"unsubmittedBytes,omitempty"`
	// Notes are messages of the user to this agent that it has not received yet.
	Notes []string `json:"notes,omitempty"`
}

// ControlRelease gives control back, or withdraws an open request.
type ControlRelease struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId"`
	Note      string `json:"note,omitempty"`
	// Gone is set by a gateway when the agent's connection ended.
	Gone bool `json:"gone,omitempty"`
}

// AgentPresence reports to a proxy whether an agent that asked for control, or wrote to the user,
// is connected; after a loss it may reconnect.
type AgentPresence struct {
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId"`
	Connected bool   `json:"connected"`
}

// ControlDecide is an owner's decision from elsewhere. Without Hide, Refuse and Mute it gives
// control, or takes it back, which also refuses an open request. With Hide it hides the session
// from agents, or shows it again. A decision that gives agents more needs the owner's signature
// (see [ControlDecide.Signed]), unless the session trusts its gateway; one that takes away needs no
// signature.
type ControlDecide struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Grant     bool   `json:"grant"`
	// Level bounds the level given; without it, the agent gets what it asks for.
	Level   Level `json:"level,omitempty"`
	Seconds int64 `json:"seconds,omitempty"`
	// By is the owner's name for people. A gateway that has a better one replaces it.
	By string `json:"by"`
	// AgentName names the agent concerned; if it is "", the decision is for the asking agent, or
	// the next one that asks.
	AgentName string `json:"agentName,omitempty"`
	// Hide is "on" or "off"; Mute, Refuse and Grant then have no meaning.
	Hide string `json:"hide,omitempty"`
	// Mute is "on" or "off". With "on", AgentName may neither ask nor write until the end of the
	// session, and loses control or its request; "off" undoes that for AgentName or, if it is "",
	// for all. Refuse and Grant then have no meaning.
	Mute string `json:"mute,omitempty"`
	// Refuse refuses the request that AgentName has open, and leaves control as it is. Grant then
	// has no meaning.
	Refuse bool `json:"refuse,omitempty"`
	// Epoch is the epoch that the owner saw: the decision is void if control changed hands since.
	Epoch uint64 `json:"epoch,omitempty"`
	// At is when the owner decided; the decision is void half a minute later.
	At int64 `json:"at,omitempty"`
	// SignatureB64 is the Ed25519 signature over Signed.
	SignatureB64 []byte `json:"signatureB64,omitempty"`
}

// The values of [ControlDecide.Hide] and [ControlDecide.Mute].
const (
	HideOn  = "on"
	HideOff = "off"
	MuteOn  = "on"
	MuteOff = "off"
)

// Widens reports whether the decision gives agents more: control, a screen that was hidden, or the
// right to ask and write.
func (m *ControlDecide) Widens() bool {
	switch {
	case m.Hide != "":
		return m.Hide == HideOff
	case m.Mute != "":
		return m.Mute == MuteOff
	case m.Refuse:
		return false
	}
	return m.Grant
}

// Signed returns the bytes that an owner signs: the whole decision, for this one session. startedAt
// is the session's (see [SessionInfo.StartedAt]), so that the signature is invalid for another
// session with the same id. The request's id and the owner's name are not included, because a
// gateway rewrites both.
func (m *ControlDecide) Signed(startedAt int64) []byte {
	signed := fmt.Appendf(nil, "%s decide\n%s %d\n%t %s %d %s %s\n%d %d\n",
		Version, lengthPrefixed(m.SessionID), startedAt, m.Grant, lengthPrefixed(string(m.Level)), m.Seconds,
		lengthPrefixed(m.AgentName), lengthPrefixed(m.Hide), m.Epoch, m.At)
	if m.Mute != "" || m.Refuse {
		signed = fmt.Appendf(signed, "%s %t\n", lengthPrefixed(m.Mute), m.Refuse)
	}
	return signed
}

// Signed returns the bytes that the holder of a token signs for a request for control: the whole
// request for this one session, except the fields that a gateway rewrites. startedAt is as in
// [ControlDecide.Signed].
func (m *ControlRequest) Signed(startedAt int64) []byte {
	return fmt.Appendf(nil, "%s request\n%s %d\n%s %d %s\n%s %s\n%d %d\n",
		Version, lengthPrefixed(m.SessionID), startedAt, lengthPrefixed(string(m.Level)), m.Seconds,
		lengthPrefixed(m.Why), lengthPrefixed(m.Program), lengthPrefixed(m.Parent), m.Epoch, m.At)
}

// lengthPrefixed returns a string prefixed by its length in bytes, so that bytes of one signed
// field cannot be moved into another. Inlined in its callers, it would be 4 KiB.
//
//go:noinline
func lengthPrefixed(s string) string { return fmt.Sprintf("%d:%s", len(s), s) }

// Signer is the owner who signed a message, according to the session's own machine.
type Signer struct {
	Name string
	// Types is set if the owner may type into a user's own terminal.
	Types bool
	// Session is the only one in which the owner may decide and type, "" for all.
	Session string
}

// Keyboard describes who has the keyboard. The user always has it; an agent has it as well while a
// grant lasts.
type Keyboard struct {
	// Holder is "user" or "agent".
	Holder    string `json:"holder"`
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Level     Level  `json:"level,omitempty"`
	// Epoch is the number that input must carry to be accepted now.
	Epoch uint64 `json:"epoch"`
	// ExpiresAt is the end of the grant, 0 without one.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// Paused is set while the user types and the agent's input waits.
	Paused bool `json:"paused,omitempty"`
	// Held is set while the agent's input waits for the user, and HeldWhy is the reason: see the
	// Held constants.
	Held    bool   `json:"held,omitempty"`
	HeldWhy string `json:"heldWhy,omitempty"`
	// HeldLine quotes the user's unsubmitted line if input waits for it.
	HeldLine string `json:"heldLine,omitempty"`
	// Program is the only program that the grant is for, or "". Away is set if another one has the
	// terminal, and the agent's input waits.
	Program string `json:"program,omitempty"`
	Away    bool   `json:"away,omitempty"`
	// Asking is the name of the agent whose request is open.
	Asking string `json:"asking,omitempty"`
	// AskingLevel and AskingReason are the requested level and the reason in the agent's words.
	AskingLevel  Level  `json:"askingLevel,omitempty"`
	AskingReason string `json:"askingReason,omitempty"`
	// AskingSince is when that agent asked.
	AskingSince int64 `json:"askingSince,omitempty"`
	// AskingSeconds is the time that a yes at the session's terminal gives; 0 has no end.
	AskingSeconds int64 `json:"askingSeconds,omitempty"`
}

// The values of [Keyboard.HeldWhy]: what the agent's input waits for.
const (
	HeldConfirm = "confirm" // for the user to confirm it, because the grant does not cover it
	HeldLine    = "line"    // for the user to submit or clear the line, which holds text
)

// Holders of the keyboard.
const (
	HolderUser  = "user"
	HolderAgent = "agent"
)

func (m *ControlRequest) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		text("agentName", m.AgentName, MaxName).checkLevel("level", m.Level).
		required("reason", m.Why, MaxReason).
		upTo("seconds", m.Seconds, 24*3600).optionalID("tokenId", m.TokenID).
		text("program", m.Program, MaxName).text("parent", m.Parent, MaxName).done()
}

func (m *ControlGrant) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		optionalID("requestId", m.RequestID).
		optionalID("agentId", m.AgentID).text("agentName", m.AgentName, MaxName).
		optionalLevel("level", m.Level).
		text("by", m.By, MaxName).checkNotes(m.Notes).done()
}

func (m *ControlRevoke) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		optionalID("requestId", m.RequestID).optionalID("agentId", m.AgentID).
		text("agentName", m.AgentName, MaxName).text("by", m.By, MaxName).
		oneOf("reason", string(m.Reason), "",
			string(ReasonReclaimed), string(ReasonRefused), string(ReasonReleased),
			string(ReasonExpired), string(ReasonExited), string(ReasonLink),
			string(ReasonReplaced)).
		checkNotes(m.Notes).done()
}

func (m *ControlRelease) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		text("note", m.Note, MaxReason).done()
}

func (m *AgentPresence) check() error {
	return new(checks).id("sessionId", m.SessionID).id("agentId", m.AgentID).done()
}

func (m *ControlDecide) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalLevel("level", m.Level).
		upTo("seconds", m.Seconds, 24*3600).required("by", m.By, MaxName).
		text("agentName", m.AgentName, MaxName).
		oneOf("hide", m.Hide, "", HideOn, HideOff).checkMuted(m).done()
}

// checkMuted checks the agents that a decision mutes.
func (c *checks) checkMuted(m *ControlDecide) *checks {
	if m.Mute == MuteOn && m.AgentName == "" {
		c.fail(CodeBadMessage, "agentName", "is missing: say which agent to mute")
	}
	return c.oneOf("mute", m.Mute, "", MuteOn, MuteOff)
}

func (c *checks) checkLevel(field string, l Level) *checks {
	return c.oneOf(field, string(l), string(LevelType), string(LevelDrive))
}

func (c *checks) optionalLevel(field string, l Level) *checks {
	if l != "" {
		c.checkLevel(field, l)
	}
	return c
}
