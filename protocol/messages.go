package protocol

// Proxy to gateway. The first five messages of the project (Snapshot, Input, ControlGrant,
// ControlRevoke, ProxyStart) keep their names and fields for ever; fields are only added.

// Snapshot is the newest screen and text of a session.
type Snapshot struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	// Content is the rolling text without escape sequences, the newest 4,000 characters.
	Content   string  `json:"content"`
	Timestamp int64   `json:"timestamp"`
	Seq       uint64  `json:"seq,omitempty"`
	Screen    *Screen `json:"screen,omitempty"`
	Settled   bool    `json:"settled,omitempty"`
	// Changed holds the rows that differ from the snapshot with revision Since, in place of
	// Screen.Lines. Those moved up by Moved before, down if it is negative; only who subscribed
	// with Moves gets it.
	Changed  []Row     `json:"changed,omitempty"`
	Since    uint64    `json:"since,omitempty"`
	Moved    int       `json:"moved,omitempty"`
	IdleMs   int64     `json:"idleMs,omitempty"`
	Activity *Activity `json:"activity,omitempty"`
	Keyboard *Keyboard `json:"keyboard,omitempty"`
	// Blackout says what the snapshot does not show.
	Blackout *Hidden `json:"blackout,omitempty"`
	// Redactions and HiddenText are those of a [Frame].
	Redactions int   `json:"redactions,omitempty"`
	HiddenText []int `json:"hiddenText,omitempty"`
	// Foreground, Directory and UsedAt are those of a [SessionInfo]. They are left out while the
	// user hides the screen.
	Foreground string `json:"foreground,omitempty"`
	Directory  string `json:"directory,omitempty"`
	UsedAt     int64  `json:"usedAt,omitempty"`
	// Kept and DetachedAt are those of a [SessionInfo].
	Kept       bool  `json:"kept,omitempty"`
	DetachedAt int64 `json:"detachedAt,omitempty"`
	// Muted is that of a [SessionInfo].
	Muted []string `json:"muted,omitempty"`

	shared *sharing // nil for a message to one
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

// SessionOpen publishes a session, before anything else of it, on every connection.
type SessionOpen struct {
	ID              string   `json:"id"`
	SessionID       string   `json:"sessionId"`
	Name            string   `json:"name"`
	Command         string   `json:"command"`
	Args            []string `json:"args"`
	Cwd             string   `json:"cwd"`
	Cols            int      `json:"cols"`
	Rows            int      `json:"rows"`
	Pid             int      `json:"pid"`
	StartedAt       int64    `json:"startedAt"`
	ParentSessionID string   `json:"parentSessionId,omitempty"`
	Headless        bool     `json:"headless,omitempty"`
	// ResumeKey is a secret of this session: only who knows it can take the id over after a
	// reconnection. A gateway never passes it on.
	ResumeKey string `json:"resumeKey,omitempty"`
	// AgentID is the agent that started a headless session: it may close it. A gateway never passes
	// it on.
	AgentID string `json:"agentId,omitempty"`
	// Chat says that a coding agent talks there: the proxy sends [ChatStatus] and takes what
	// belongs to a conversation.
	Chat bool `json:"chat,omitempty"`
	// Asks says that other agents may put requests to people there, with [ChatAsk].
	Asks bool `json:"asks,omitempty"`
}

// SessionClose says that the program ended; the last snapshot precedes it.
type SessionClose struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	ExitCode  int    `json:"exitCode"`
	Signal    string `json:"signal,omitempty"`
	// EndedAt is the time of the end, set by a gateway that hands on a session that ended before;
	// unset means now.
	EndedAt int64 `json:"endedAt,omitempty"`
	// Outlived is how many processes that came of the program go on in sessions of their own, as
	// daemons do. It is told of terminals that agents started, when they are closed.
	Outlived int `json:"outlived,omitempty"`
	// Past is the history that would end with the program. It is for the gateway, which answers
	// reads from it and does not pass it on; it may be nil.
	Past *Past `json:"past,omitempty"`
}

// Output is live output, sent only while it is watched.
type Output struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	// Seq is the number of bytes of live output before these: who finds a gap needs a repaint. The
	// bytes of a repaint do not count.
	Seq     uint64 `json:"seq"`
	DataB64 []byte `json:"dataB64"`
	// Repaint: these bytes paint the whole screen on a terminal of Cols times Rows that was just
	// cleared and reset.
	Repaint bool `json:"repaint,omitempty"`
	Cols    int  `json:"cols,omitempty"`
	Rows    int  `json:"rows,omitempty"`
}

// Resize says that the user's terminal changed size.
type Resize struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	Cols      int    `json:"cols"`
	Rows      int    `json:"rows"`
}

// Blackout says that something is kept from agents from now on, or no longer; Why is "password" or
// "user".
type Blackout struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	On        bool   `json:"on"`
	Why       string `json:"reason"`
	// Secret says how sure the proxy is of a password's prompt.
	Secret SecretPrompt `json:"secretPrompt,omitempty"`
}

// ReadResult answers a [Read].
type ReadResult struct {
	ID        string `json:"id"`
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Frame     *Frame `json:"frame"`
	// Text is the rolling text, or the rows of history that were asked for, one a line.
	Text string `json:"text,omitempty"`
	// FirstLine and NextLine are the lasting numbers of the first line of Text, if it is history,
	// and of the line after it; they are equal without history. OldestLine is that of the oldest
	// kept line.
	FirstLine  uint64 `json:"firstLine,omitempty"`
	NextLine   uint64 `json:"nextLine,omitempty"`
	OldestLine uint64 `json:"oldestLine,omitempty"`
	// Unseen, with Follow, is how many rows before NextLine have left the screen unseen, those
	// included that Text does not hold.
	Unseen uint64 `json:"unseen,omitempty"`
	// HiddenText are the lines of Text, from 0, that hold text which a person cannot see, where
	// Text is history.
	HiddenText []int `json:"hiddenText,omitempty"`
	// Wraps are the lines of Text, from 0, that continue in the next one. They come for history that
	// is read with Attributes.
	Wraps []Wrap `json:"wraps,omitempty"`
	// Links are the hyperlinks in Text, as those of a [ViewState], and come with Wraps.
	Links []Link `json:"links,omitempty"`
	// Found answers a read with Match.
	Found *Found `json:"found,omitempty"`
	// Command answers a read with Command, and Text is of its output.
	Command *Command `json:"command,omitempty"`
	// Notes are messages of the user's to this agent which it has not had yet.
	Notes []string `json:"notes,omitempty"`
}

// CheckFor returns an error unless the answer has all that asked wants and the user does not hide.
func (m *ReadResult) CheckFor(asked *Read) error {
	lacks := ""
	switch {
	case m.Frame != nil && m.Frame.Blackout.ByUser():
	case asked.Command > 0 && m.Command == nil:
		lacks = "command"
	case asked.Command == 0 && asked.Match != "" && m.Found == nil:
		lacks = "found"
	}
	if lacks == "" {
		return nil
	}
	return &Error{Code: CodeUnavailable, Field: lacks, Message: "the proxy of session " +
		m.SessionID + " answered without " + lacks + ": read the history instead"}
}

// ProxyStarted answers a [ProxyStart].
type ProxyStarted struct {
	ID        string `json:"id"`
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId,omitempty"`
	Error     string `json:"error,omitempty"`
}

// Note is a message between the user and an agent (terminal.message).
type Note struct {
	ID        string `json:"id,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	SessionID string `json:"sessionId"`
	From      string `json:"from"` // FromUser or FromAgent
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	// TokenID is that of a [ControlRequest].
	TokenID string `json:"tokenId,omitempty"`
	// By is who writes to the agent for the user, from elsewhere; "" for the user at the session's
	// own terminal.
	By   string `json:"by,omitempty"`
	Text string `json:"text"`
}

// Who a [Note] is from.
const (
	FromUser  = "user"
	FromAgent = "agent"
)

// Gateway to proxy, and agents to the gateway.

// ProxyStart asks a host to start a headless session.
type ProxyStart struct {
	RequestID string   `json:"requestId"`
	Command   string   `json:"command"`
	Args      []string `json:"args,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	Env       []string `json:"env,omitempty"`
	Cols      int      `json:"cols,omitempty"`
	Rows      int      `json:"rows,omitempty"`
	AgentID   string   `json:"agentId,omitempty"`
	Name      string   `json:"name,omitempty"`
	AgentName string   `json:"agentName,omitempty"`
	// HostKey names the host that shall do it, by the secret that it shares with this agent alone.
	// A gateway never passes it on.
	HostKey string `json:"hostKey,omitempty"`
}

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

// AgentPresence tells a proxy whether an agent that asked for control, or wrote to the user, has a
// connection now; after a loss it may come back.
type AgentPresence struct {
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId"`
	Connected bool   `json:"connected"`
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

// Read asks for a fresh frame, for what changed, or for history.
type Read struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId,omitempty"`
	// SinceSeq: the frame may carry only the rows that changed since that revision.
	SinceSeq uint64 `json:"sinceSeq,omitempty"`
	// Scrollback is the number of rows of history wanted, newest last: the newest ones, or those
	// from FromLine on.
	Scrollback int     `json:"scrollback,omitempty"`
	FromLine   *uint64 `json:"fromLine,omitempty"`
	// Match, a regular expression (RE2), has the rows of history and of the main screen searched
	// from FromLine on: see [ReadResult.Found]. Scrollback is then the most rows wanted, Context
	// how many before and after each one that matches.
	Match   string `json:"match,omitempty"`
	Context int    `json:"context,omitempty"`
	// Command asks about a command line that the shell ran: 1 for the last one, which may still
	// run, 2 for the one before it. Scrollback, FromLine, Match and Context are about its output
	// then.
	Command int `json:"command,omitempty"`
	// Follow, with SinceSeq: rows that moved need not be sent again (see [Frame.Moved]), and
	// Scrollback is the most wanted of the rows that have left the screen since then and were not
	// seen on it.
	Follow bool `json:"follow,omitempty"`
	// Attributes: rows carry SGR sequences.
	Attributes bool `json:"attributes,omitempty"`
	// Text: the rolling text is wanted.
	Text bool `json:"text,omitempty"`
	// Notes: the user's messages to this agent are wanted.
	Notes bool `json:"notes,omitempty"`
	// Probe: the answer is for the client itself and not for its agent, which still knows only the
	// screen that it saw before.
	Probe bool `json:"probe,omitempty"`
}

// Watch turns live output on; Unwatch turns it off.
type Watch struct {
	SessionID string `json:"sessionId"`
}

// Unwatch turns live output off.
type Unwatch struct {
	SessionID string `json:"sessionId"`
}

// Subscribed tells a proxy that asked for it whether the session's snapshots have a subscriber:
// after every [SessionOpen], and when that changes. Until it comes, a subscriber is assumed.
// Without a subscriber, the proxy's model may be behind until a request needs it.
type Subscribed struct {
	SessionID string `json:"sessionId"`
	On        bool   `json:"on"`
	// Brief says that the gateway takes what [Snapshot.Brief] makes.
	Brief bool `json:"brief,omitempty"`
}

// Cancel says that the answer to a request is no longer waited for: no answer comes. A [Wait] and a
// [ChatAsk] end. A [ControlRequest] stays open, and its answer is kept for the agent's next wait
// for control, unless Withdraw is set.
type Cancel struct {
	// RequestID is that of the request.
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// Withdraw says that the asker gave the call up, unlike a time limit that has passed: a
	// [ControlRequest] is taken back, and with it control that it was just given; an [Input] is
	// typed no further; a [Note] not shown yet stays so.
	Withdraw bool `json:"withdraw,omitempty"`
	// Gone says that the asker's connection ended, and that it may repeat the request over another
	// one: an input already being written is written to its end. Only the gateway sets it.
	Gone bool `json:"gone,omitempty"`
}

// Close ends a headless session.
type Close struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId,omitempty"`
	Signal    string `json:"signal,omitempty"`
}

// SessionsList asks the gateway for the sessions it knows.
type SessionsList struct {
	RequestID string `json:"requestId"`
	// Paged: the answer may have a part of them, and say in Next where it ends. After is the Next
	// of the page before, "" for the first. A gateway that does not know of this answers with all.
	Paged bool   `json:"paged,omitempty"`
	After string `json:"after,omitempty"`
}

// SessionsListResult answers a [SessionsList].
type SessionsListResult struct {
	RequestID string        `json:"requestId"`
	Sessions  []SessionInfo `json:"sessions"`
	// Next names the next page, "" on the last one.
	Next string `json:"next,omitempty"`
	// Incomplete says that sessions of other gateways are missing; it may be nil.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// SessionsSubscribe asks for a stream of snapshots, control and close messages of one session.
type SessionsSubscribe struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// EveryMs is the fastest rhythm wanted; 0 is the proxy's own.
	EveryMs int64 `json:"everyMs,omitempty"`
	// Changes leaves out what the subscriber has: the rows that did not change since the snapshot
	// before, and the content.
	Changes bool `json:"changes,omitempty"`
	// Moves, with Changes: rows that moved need not be sent again, see [Snapshot.Moved].
	Moves bool `json:"moves,omitempty"`
	// Brief, with Changes: that the screen has settled and nothing else changed may be said without
	// the screen: see [Snapshot.Brief].
	Brief bool `json:"brief,omitempty"`
}

// Done answers a request that has no result of its own.
type Done struct {
	RequestID string `json:"requestId"`
	// Waiting says why the user has not been shown a message yet, or a coding agent not given a
	// prompt; "" for any other request.
	Waiting Waiting `json:"waiting,omitempty"`
}

// Error answers a request that could not be done, or a frame that was no message.
type Error struct {
	RequestID string `json:"requestId,omitempty"`
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Field     string `json:"field,omitempty"`
	// RetryAfterMs, with the code busy, is how long the user is not to be asked again; 0 where time
	// alone does not help.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
}

// Error makes an Error message usable as a Go error.
func (m *Error) Error() string { return m.Message }
