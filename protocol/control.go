package protocol

import "fmt"

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
	// Seconds is how long control is wanted at the most. The user's limit holds all the same.
	Seconds int64 `json:"seconds,omitempty"`
	// TokenID tells whose token the agent shows, where it shows one: opaque, and the gateway's to
	// set.
	TokenID string `json:"tokenId,omitempty"`
	// Program is what the agent asks with, and Parent the program that started that, in its own
	// words.
	Program string `json:"program,omitempty"`
	Parent  string `json:"parent,omitempty"`
	// Epoch is the one that the agent saw, and At when it asked, in Unix milliseconds, where it
	// proves a token of this machine.
	Epoch uint64 `json:"epoch,omitempty"`
	At    int64  `json:"at,omitempty"`
	// ProofB64 is the Ed25519 signature over [ControlRequest.Signed]: a gateway passes it on and
	// cannot make one.
	ProofB64 []byte `json:"proofB64,omitempty"`
}

// ControlGrant says that the user gave control.
type ControlGrant struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	RequestID string `json:"requestId,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Level     Level  `json:"level,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	ExpiresAt int64  `json:"expiresAt,omitempty"`
	// By is who decided that: see [ByTerminal].
	By string `json:"by,omitempty"`
	// Notes are messages of the user's to this agent which it has not had yet.
	Notes []string `json:"notes,omitempty"`
}

// ControlRevoke says that control ended, or that a request was refused.
type ControlRevoke struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	RequestID string `json:"requestId,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	Reason    Reason `json:"reason,omitempty"`
	// By is who decided that: see [ByTerminal].
	By string `json:"by,omitempty"`
	// DroppedBytes is what was accepted from the agent and not typed, or taken back before the
	// program read it.
	DroppedBytes int `json:"droppedBytes,omitempty"`
	// UnsubmittedBytes is what the agent typed since its last Enter: the program may still hold it
	// on its line.
	UnsubmittedBytes int `json:"unsubmittedBytes,omitempty"`
	// Notes are messages of the user's to this agent which it has not had yet.
	Notes []string `json:"notes,omitempty"`
}

// ControlRelease gives control back, or takes an open request back.
type ControlRelease struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId"`
	Note      string `json:"note,omitempty"`
	// Gone is set by a gateway when the agent's connection ended.
	Gone bool `json:"gone,omitempty"`
}

// AgentPresence tells a proxy whether an agent that asked for control, or wrote to the user, has a
// connection now; after a loss it may come back.
type AgentPresence struct {
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId"`
	Connected bool   `json:"connected"`
}

// ControlDecide is an owner's decision from elsewhere. Without Hide, Refuse and Mute it gives
// control, or takes it back, which refuses an open request too; with Hide it hides the session from
// agents, or shows it again. A decision that gives agents more needs the owner's signature (see
// [ControlDecide.Signed]), unless the session trusts its gateway's word; one that takes away needs
// no signature.
type ControlDecide struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Grant     bool   `json:"grant"`
	// Level bounds the level given; without it, the agent gets what it asks for.
	Level   Level `json:"level,omitempty"`
	Seconds int64 `json:"seconds,omitempty"`
	// By is the owner's name for people. A gateway that knows a better one puts it here.
	By string `json:"by"`
	// AgentName names the agent concerned; without it, the one that asks, or the next one that
	// does.
	AgentName string `json:"agentName,omitempty"`
	// Hide is "on" or "off"; Mute, Refuse and Grant say nothing then.
	Hide string `json:"hide,omitempty"`
	// Mute is "on", and AgentName may neither ask nor write until the end of the session, and loses
	// what it has; or "off", for AgentName or, without it, for all. Refuse and Grant say nothing
	// then.
	Mute string `json:"mute,omitempty"`
	// Refuse refuses the request that AgentName has open, and leaves control as it is. Grant then
	// has no meaning.
	Refuse bool `json:"refuse,omitempty"`
	// Epoch is the one that the owner saw: the decision is void when control changed hands since.
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

// Widens reports whether the decision gives agents more than they have: control, a screen that was
// hidden, or a voice.
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

// Signed is what an owner signs: everything that the decision says, for this one session. startedAt
// is the session's (see [SessionInfo.StartedAt]), so that a signature is of no use for another
// session that happens to have the same id. The request's id and the owner's name are not in it: a
// gateway rewrites both.
func (m *ControlDecide) Signed(startedAt int64) []byte {
	signed := fmt.Appendf(nil, "%s decide\n%s %d\n%t %s %d %s %s\n%d %d\n",
		Version, counted(m.SessionID), startedAt, m.Grant, counted(string(m.Level)), m.Seconds,
		counted(m.AgentName), counted(m.Hide), m.Epoch, m.At)
	if m.Mute != "" || m.Refuse {
		signed = fmt.Appendf(signed, "%s %t\n", counted(m.Mute), m.Refuse)
	}
	return signed
}

// Signed is what the holder of a token signs who asks for control: everything that the request says
// but for what a gateway rewrites, for this one session. startedAt is as in [ControlDecide.Signed].
func (m *ControlRequest) Signed(startedAt int64) []byte {
	return fmt.Appendf(nil, "%s request\n%s %d\n%s %d %s\n%s %s\n%d %d\n",
		Version, counted(m.SessionID), startedAt, counted(string(m.Level)), m.Seconds,
		counted(m.Why), counted(m.Program), counted(m.Parent), m.Epoch, m.At)
}

// counted returns a string behind its length in bytes, so that no signed field can be moved into
// another.
func counted(s string) string { return fmt.Sprintf("%d:%s", len(s), s) }

// Signer is the owner who signed a message, as the session's own machine knows them.
type Signer struct {
	Name string
	// Types says that the owner may type into a user's own terminal.
	Types bool
	// Session is the only one in which the owner may decide and type, "" for all.
	Session string
}

// Keyboard says who has the keyboard. The user always has it; an agent has it beside the user while
// a grant lasts.
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
	// Paused says that the user is typing and the agent's input waits.
	Paused bool `json:"paused,omitempty"`
	// Held says that input of the agent's waits for the user, and HeldWhy for what: see the Held
	// constants.
	Held    bool   `json:"held,omitempty"`
	HeldWhy string `json:"heldWhy,omitempty"`
	// HeldLine quotes what the user has typed and not submitted, where input waits for that.
	HeldLine string `json:"heldLine,omitempty"`
	// Program is the program that the grant is for, where it is for one only; Away says that
	// another one has the terminal, and the agent's input waits.
	Program string `json:"program,omitempty"`
	Away    bool   `json:"away,omitempty"`
	// Asking is the name of the agent whose request is open.
	Asking string `json:"asking,omitempty"`
	// AskingLevel and AskingReason are what it asks for, and why in its own words.
	AskingLevel  Level  `json:"askingLevel,omitempty"`
	AskingReason string `json:"askingReason,omitempty"`
	// AskingSince is since when it asks.
	AskingSince int64 `json:"askingSince,omitempty"`
}

// What held input waits for.
const (
	HeldConfirm = "confirm" // the user lets it through: the grant does not cover it
	HeldLine    = "line"    // the user submits or clears the line, on which something stands
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
		between("seconds", m.Seconds, 0, 24*3600).optionalID("tokenId", m.TokenID).
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
		between("seconds", m.Seconds, 0, 24*3600).required("by", m.By, MaxName).
		text("agentName", m.AgentName, MaxName).
		oneOf("hide", m.Hide, "", HideOn, HideOff).checkMuted(m).done()
}

// muted checks whom a decision mutes.
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
