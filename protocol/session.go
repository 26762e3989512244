package protocol

import "time"

// MaxOutlived bounds the number of processes that outlive a terminal.
const MaxOutlived = 65_535

// SessionOpen publishes a session. It precedes all other messages of the session on each
// connection.
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
	// ResumeKey is a secret of this session, needed to take over its id after a reconnection. A
	// gateway never forwards it.
	ResumeKey string `json:"resumeKey,omitempty"`
	// AgentID is the agent that started a headless session, and may close it. A gateway never
	// forwards it.
	AgentID string `json:"agentId,omitempty"`
	// Chat is set if the session has a conversation with a coding agent: the proxy sends
	// [ChatStatus] and accepts the messages of a conversation.
	Chat bool `json:"chat,omitempty"`
	// Asks is set if other agents may put requests to people there, with [ChatAsk].
	Asks bool `json:"asks,omitempty"`
}

// SessionClose reports that the program ended; the last snapshot precedes it.
type SessionClose struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	ExitCode  int    `json:"exitCode"`
	Signal    string `json:"signal,omitempty"`
	// EndedAt is when the program ended, set by a gateway that forwards the end of a session later;
	// unset means now.
	EndedAt int64 `json:"endedAt,omitempty"`
	// Outlived counts the program's processes that continue in sessions of their own, as daemons
	// do. It is set when a terminal that an agent started is closed.
	Outlived int `json:"outlived,omitempty"`
	// Past is the history, which would otherwise end with the program. It is for the gateway, which
	// answers reads from it and does not forward it; it may be nil.
	Past *Past `json:"past,omitempty"`
}

// Resize reports a new size of the user's terminal.
type Resize struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	Cols      int    `json:"cols"`
	Rows      int    `json:"rows"`
}

// Close ends a headless session.
type Close struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	AgentID   string `json:"agentId,omitempty"`
	Signal    string `json:"signal,omitempty"`
}

// SessionInfo is one session in a list.
type SessionInfo struct {
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
	// Muted names the agents that are muted.
	Muted []string `json:"muted,omitempty"`
	// State is "running", "exited" or "lost" (its proxy does not answer).
	State string `json:"state"`
	// Moving is set for a lost session whose gateway closed or does not answer, and whose proxy is
	// expected at another gateway of the cluster.
	Moving bool `json:"moving,omitempty"`
	// ExitCode and Signal are set when State is "exited".
	ExitCode int    `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	// Title, Progress and Alt are those of the newest screen.
	Title    string    `json:"title,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Alt      bool      `json:"alt,omitempty"`
	// Foreground is the program that has the terminal, without its path and arguments, and
	// Directory where it runs, both as reported by the proxy's system, or "". UsedAt is when the
	// user typed there last, to the second, 0 for never.
	Foreground string `json:"foreground,omitempty"`
	Directory  string `json:"directory,omitempty"`
	UsedAt     int64  `json:"usedAt,omitempty"`
	// Kept is set if the session outlives its window. DetachedAt is when it lost its window, 0
	// while it has one.
	Kept       bool  `json:"kept,omitempty"`
	DetachedAt int64 `json:"detachedAt,omitempty"`
	// Viewed is set while a person has its screen open, on a page or by gateway attach --watch.
	Viewed   bool     `json:"viewed,omitempty"`
	Seq      uint64   `json:"seq"`
	IdleMs   int64    `json:"idleMs"`
	Keyboard Keyboard `json:"keyboard"`
	// LastLine is the last row of the newest screen that is not blank, as a read would show it,
	// shortened; "" while something is hidden from agents.
	LastLine string `json:"lastLine,omitempty"`
	// Decided is the newest decision about control, nil before the first.
	Decided *Decision `json:"decided,omitempty"`
	// Blackout describes what is hidden from agents now.
	Blackout *Hidden `json:"blackout,omitempty"`
	// Chat is the conversation of a coding agent that runs there; it may be nil.
	Chat *ChatState `json:"chat,omitempty"`
}

// States of a session in a list.
const (
	StateRunning = "running"
	StateExited  = "exited"
	StateLost    = "lost"
)

// Decision is the latest outcome about control, or about a request for it, from a [ControlGrant] or
// a [ControlRevoke].
type Decision struct {
	AgentName string `json:"agentName,omitempty"`
	// Granted is set if the agent got the keyboard. Otherwise, Reason is why it did not get it or
	// lost it.
	Granted bool   `json:"granted,omitempty"`
	Level   Level  `json:"level,omitempty"`
	Reason  Reason `json:"reason,omitempty"`
	// By is that of the message, and At when the message arrived.
	By string `json:"by,omitempty"`
	At int64  `json:"at"`
}

// Incomplete reports that a list lacks sessions of other gateways of the cluster.
type Incomplete struct {
	// Since is when they became unavailable, in Unix milliseconds.
	Since int64 `json:"since"`
	// Why is a clause for people and agents, to be read after "since TIME".
	Why string `json:"why"`
}

// Words returns Since and Why as a clause.
func (m *Incomplete) Words(now time.Time) string {
	since, form := time.UnixMilli(m.Since).In(now.Location()), "15:04:05"
	if since.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = "2 Jan 15:04"
	}
	return "since " + since.Format(form) + " " + m.Why
}

// SessionsList asks the gateway for its sessions.
type SessionsList struct {
	RequestID string `json:"requestId"`
	// Paged allows an answer with a part of them, whose Next says where it ends. After is the Next
	// of the previous page, "" for the first one. Gateways of earlier versions answer with all.
	Paged bool   `json:"paged,omitempty"`
	After string `json:"after,omitempty"`
}

// SessionsListResult answers a [SessionsList].
type SessionsListResult struct {
	RequestID string        `json:"requestId"`
	Sessions  []SessionInfo `json:"sessions"`
	// Next names the next page, "" on the last one.
	Next string `json:"next,omitempty"`
	// Incomplete is set if sessions of other gateways are missing; it may be nil.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// SessionsSubscribe asks for a stream of snapshots, control and close messages of one session.
type SessionsSubscribe struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// EveryMs is the shortest interval wanted; 0 is the proxy's own.
	EveryMs int64 `json:"everyMs,omitempty"`
	// Changes omits what the subscriber already has: the rows that did not change since the
	// previous snapshot, and the content.
	Changes bool `json:"changes,omitempty"`
	// Moves, with Changes: rows that only moved need not be sent again, see [Snapshot.Moved].
	Moves bool `json:"moves,omitempty"`
	// Deltas, with Changes: snapshots may come as [SnapshotDelta].
	Deltas bool `json:"deltas,omitempty"`
}

// Subscribed tells a proxy that asked for it whether the session's snapshots have a subscriber:
// after every [SessionOpen], and when that changes. Until it comes, a subscriber is assumed.
// Without a subscriber, the proxy's model may be behind until a request needs it.
type Subscribed struct {
	SessionID string `json:"sessionId"`
	On        bool   `json:"on"`
	// Deltas is set if the gateway accepts a [SnapshotDelta] in place of a snapshot.
	Deltas bool `json:"deltas,omitempty"`
}

// SessionsWatch asks for the list of sessions and for its changes: [SessionsChanged].
type SessionsWatch struct {
	RequestID string `json:"requestId"`
}

// SessionsChanged holds the list of sessions, or the changes to it, at most four times a second.
type SessionsChanged struct {
	// Full is set if these are all sessions. Otherwise they are those that are new, or in which
	// something else changed than IdleMs and Seq.
	Full     bool          `json:"full,omitempty"`
	Sessions []SessionInfo `json:"sessions"`
	// More is set if the next message continues this one: a long list comes in several messages,
	// the first of which is Full.
	More bool `json:"more,omitempty"`
	// Gone lists the ids of sessions that no longer exist.
	Gone []string `json:"gone,omitempty"`
	// Incomplete is set while sessions of other gateways are missing. A message with no other field
	// reports only a change of it.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

func (m *SessionOpen) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		required("name", m.Name, MaxName).
		required("command", m.Command, MaxInput).size(m.Cols, m.Rows).
		optionalID("parentSessionId", m.ParentSessionID).optionalID("resumeKey", m.ResumeKey).
		optionalID("agentId", m.AgentID).done()
}

func (m *SessionClose) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).
		text("signal", m.Signal, MaxName).
		between("outlived", m.Outlived, 0, MaxOutlived).checkPast(m.Past).done()
}

func (m *Resize) check() error {
	return new(checks).id("id", m.ID).id("sessionId", m.SessionID).size(m.Cols, m.Rows).done()
}

func (m *Close) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).
		text("signal", m.Signal, MaxName).done()
}

func (m *SessionsList) check() error { return new(checks).id("requestId", m.RequestID).done() }

func (m *SessionsListResult) check() error {
	return new(checks).id("requestId", m.RequestID).done()
}

func (m *SessionsSubscribe) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		upTo("everyMs", m.EveryMs, MaxWaitMs).done()
}

func (m *Subscribed) check() error { return new(checks).id("sessionId", m.SessionID).done() }

func (m *SessionsWatch) check() error { return new(checks).id("requestId", m.RequestID).done() }

func (m *SessionsChanged) check() error { return nil }
