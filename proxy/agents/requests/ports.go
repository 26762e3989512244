package requests

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/mouse"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/snapshot"
)

// Observer owns the terminal model. Post is safe for concurrent use; all other methods run in a
// function given to it.
type Observer interface {
	// Post runs do on the observer's goroutine; false means that this has ended.
	Post(do func(now time.Time)) bool
	Model() *screen.Screen
	// Redact returns text as agents may see it. The program is printing before its last ahead
	// bytes, or elsewhere if ahead is -1.
	Redact(text string, ahead int) string
	// SettleTime returns when the screen counts as settled if it does not change before; LastChange
	// returns when it changed last.
	SettleTime() time.Time
	LastChange() time.Time
	// HasCaughtUp reports whether the program has read all input, and the model has all output.
	// HasStayedCaughtUp reports whether that is still so, after HasCaughtUp has. canonical means
	// that the kernel was found collecting lines in between.
	HasCaughtUp() bool
	HasStayedCaughtUp(canonical bool) bool
	// IsBlank reports whether the program has shown nothing yet, and began a moment ago.
	IsBlank(now time.Time) bool
	// RunsCommand reports whether the shell that has the terminal said that it runs a command.
	RunsCommand() bool
	// SetSubscribed sets whether an agent gets the snapshots.
	SetSubscribed(yes bool)

	// InputRefusal returns why an agent may not type now, or nil: [control.ErrHidden] or
	// [control.ErrSecret].
	InputRefusal(now time.Time) error
	// CheckExpectation returns why an input's expectation of the screen fails, or nil. The error is
	// for the agent.
	CheckExpectation(e *protocol.Expect) error
	// FindText finds a text on the screen, and WordAt returns the word at a cell.
	FindText(text string) (mouse.Cell, error)
	WordAt(c mouse.Cell) string

	// AnswerFrame returns the screen for an answer. CompleteRead and CompleteWait complete answers;
	// an error concerns the line asked for.
	AnswerFrame(now time.Time) *protocol.Frame
	CompleteRead(now time.Time, m *protocol.Read, r *protocol.ReadResult) error
	CompleteWait(now time.Time, m *protocol.Wait, out *protocol.WaitResult)
	// SetViewed starts or ends following the screen for viewers elsewhere.
	SetViewed(now time.Time, on bool)
	// NoteAgentTyped tells viewers what an agent typed, as it may be shown.
	NoteAgentTyped(now time.Time, agent, text string)
	// OpenWait opens a wait; looking means that it depends on the program's input wait. If the wait
	// is open already ([snapshot.ErrWaitOpen]) or there are too many, refused is called in place of
	// w.Done.
	OpenWait(now time.Time, looking bool, w snapshot.Wait, refused func(error))
	// NoteTyping notes what an agent is about to type, and whether the program waits for it.
	NoteTyping(typed []byte, r snapshot.Readiness)
	// CancelWait ends a wait without an answer, and reports whether it was open.
	CancelWait(id string) bool
	// EndControlWaits ends those waits for a decision about control for which wordFor returns a
	// word, the name of the decision.
	EndControlWaits(wordFor func(id string) string)
}

// Pump is the only writer to the program. It is safe for concurrent use.
type Pump interface {
	// Post runs do on the pump's goroutine; false means that the program has ended.
	Post(do func(now time.Time)) bool
	// Enqueue queues an input.
	Enqueue(j pump.Job)
	// WithdrawInput cancels an input that waits or is held; if begun is set, also one that is being
	// written.
	WithdrawInput(id string, begun bool)
}

// Control decides who may type, see [control.Machine]. Owned by the pump's goroutine, except
// Newest.
type Control interface {
	// NewestState returns the state after the pump's last turn. It is safe for concurrent use.
	NewestState() control.State
	State(now time.Time) control.State
	// AllowsSecret reports whether the user lets an agent answer the present prompt for a secret.
	AllowsSecret() bool
	// LastEnd returns how control ended last.
	LastEnd() control.Event

	Grants
	Obstacles
	Messages
}

// Grants is the part of [Control] for the requests of agents and the decisions of owners elsewhere.
type Grants interface {
	Request(now time.Time, r control.Request) error
	// GrantOwnTerminal gives an agent the keyboard of its own terminal.
	GrantOwnTerminal(now time.Time, r control.Request)
	Release(now time.Time, agentID string, why protocol.Reason) bool
	// WithdrawRequest takes a request back after its agent gave it up or left.
	WithdrawRequest(now time.Time, requestID string)
	SetConnected(now time.Time, agentID string, yes bool)
	// GrantFromOwner, Reclaim and SetHidden act on an owner's decision.
	GrantFromOwner(now time.Time, g control.RemoteGrant) error
	Reclaim(now time.Time, by string) bool
	SetHidden(now time.Time, on bool) bool
	RefuseRequest(now time.Time, agent, by string) error
	// MuteAgent mutes an agent, and UnmuteAgent lets it speak again, "" for all.
	MuteAgent(now time.Time, agent, by string) error
	UnmuteAgent(now time.Time, agent, by string, epoch uint64) error
}

// Obstacles is the part of [Control] for what holds up an agent's input, even under a grant.
type Obstacles interface {
	// AskConfirmation asks the user about an input.
	AskConfirmation(now time.Time, c control.Confirmation) error
	// OccupyLine notes the text that the user has on the line, and what waits for it. VacateLine
	// notes that the line is free.
	OccupyLine(now time.Time, line, types string)
	VacateLine(now time.Time)
}

// Messages is the part of [Control] for messages between the user and agents.
type Messages interface {
	// OpenMessage opens a message of the user, if the menu is open; send gets its text.
	OpenMessage(
		now time.Time, heard control.SeenMessage, send func(to control.Agent, text string),
	) (took bool)
	// OpenReply opens one to an agent whose message is on the screen.
	OpenReply(
		now time.Time, heard control.SeenMessage, send func(to control.Agent, text string),
	) (took bool)
	// MessageRecipient returns the agent that the user would write to.
	MessageRecipient(heard control.SeenMessage) control.Agent
	// NoteAgent notes an agent that writes or asks in a conversation, and NoteReply how a person
	// answered. AskRefusal returns why the agent may not ask now.
	NoteAgent(a control.Agent)
	AskRefusal(now time.Time, a control.Agent) error
	NoteReply(now time.Time, a control.Agent, refused bool)
	// IsMuted reports whether the user has muted an agent.
	IsMuted(a control.Agent) bool
}

// Link sends messages to the gateway. Send queues and never blocks.
type Link interface{ Send(m protocol.Message) }

// Program answers questions about the program. Each takes system calls; all are safe for concurrent
// use.
type Program interface {
	// Line and Settings return the line settings; after an error they cannot be read again.
	Line() (child.Line, error)
	Settings() (child.Settings, error)
	// SettingsInSpell returns Settings, and the number of the present spell in which the kernel
	// collects lines, or 0.
	SettingsInSpell() (s child.Settings, spell uint64, err error)
	// Foreground returns the foreground program's name, and ForegroundGroup its process group; ""
	// and 0 if unknown.
	Foreground() string
	ForegroundGroup() int
	// GroupLeader returns the process that leads this group.
	GroupLeader() (l child.GroupLeader, ok bool)
	// BlockedOn returns what the foreground program waits for; known is false if the system cannot
	// tell.
	BlockedOn() (b child.Blocked, known bool)
	// Kill ends the program at once.
	Kill()
}

// Terminal answers the program's questions about its size. It is safe for concurrent use.
type Terminal interface {
	// CellSize returns the size of a cell in pixels, or 0 if unknown.
	CellSize() (width, height int)
}

// Status is the proxy's own line on the user's screen. It never blocks and is safe for concurrent
// use.
type Status interface {
	// NoteRequest notes a request of an agent.
	NoteRequest()
	// ShowControlChange shows a change of control; line is the text that the agent left on the
	// line, note its parting message, and did sums up its inputs if control ended by itself.
	ShowControlChange(e control.Event, line, note, did string)
	// FitsScreen reports whether the user can read all of the question about an input on a screen
	// of this size.
	FitsScreen(agent string, q control.Confirmation, cols, rows int) bool
	// ShowText shows a text for a moment.
	ShowText(text string)
	// QueueMessage shows the user a message. The error is a sentence for its sender.
	QueueMessage(n control.Note) error
	// WithdrawMessage drops a message that is not on the screen yet.
	WithdrawMessage(noteID string)
	// LastSeenMessage returns the agent's message that the user saw last, and whether it is on the
	// line.
	LastSeenMessage() (heard control.SeenMessage, onLine bool)
}

// Desk puts programs' questions for secrets to the user. Owned by the pump's goroutine.
type Desk interface {
	// Ask puts the question of an agent's program.
	Ask(now time.Time, m *protocol.SecretAsk, agent question.Agent)
	// Withdraw takes a question back, if there is one under this id.
	Withdraw(now time.Time, requestID string)
	// FindKey returns the public key of the asker of a question that waits, or nil.
	FindKey(requestID string) []byte
	// AnswerElsewhere answers a question for a person elsewhere, and reports whether it waited.
	AnswerElsewhere(now time.Time, requestID, by, verdict string, sealed []byte) (waited bool)
}

// Recorder records what agents do, if the session is recorded. It never blocks.
type Recorder interface {
	// RecordRequest records an agent's request for control and the error if it was refused at once.
	// RecordControl records a change of control, with the agent's parting note. Both run on the
	// pump's goroutine.
	RecordRequest(r control.Request, err error)
	RecordControl(e control.Event, note string)
	// RecordAgentMessage records an agent's message to the user, RecordUserMessage one to an agent:
	// by is "" for the user at this terminal.
	RecordAgentMessage(from control.Agent, text string)
	RecordUserMessage(to control.Agent, by, text string)
	// RecordPrompt records what is about to be said to a coding agent; the speaker is either from
	// or by. It runs on any goroutine.
	RecordPrompt(kind record.Kind, from control.Agent, by, request, text string)
	// StartInput begins to follow an input.
	StartInput(m *protocol.Input, epoch uint64) Record
}

// Record follows one input from its screen to its receipt.
type Record interface {
	// RecordScreen records the present screen, on the observer's goroutine. The others run on the
	// pump's.
	RecordScreen(now time.Time)
	// RecordWritten records what the program received, RecordReceipt the receipt: does describes
	// the act of the mouse, and allowed means that the user let the input through.
	RecordWritten(p []byte)
	RecordReceipt(receipt *protocol.InputResult, does string, allowed bool)
	// RecordFlush records that the last n of the written bytes were taken back unread.
	RecordFlush(written, n int, why protocol.Code)
}

// Conversation is that of the program, a coding agent. Its methods are safe for concurrent use and
// never wait for the agent, but for the disk: only the goroutine of [actionQueue] calls those that act or
// look at requests.
type Conversation interface {
	// Subscribe sends the gateway all records above a number until Unsubscribe.
	Subscribe(after uint64)
	Unsubscribe()
	// Send says something to the coding agent for the person by, and SendForAgent for another
	// agent. The error is [chat.ErrOver], or a sentence. mayAct is called when the action is in the
	// journal, and again by the driver; its error prevents the action.
	Send(by, text string) error
	SendForAgent(by, text string, mayAct chat.MayAct) error
	// WaitReason returns what a prompt would wait for now, or "".
	WaitReason() protocol.Waiting
	// Answer answers a request. The error is [chat.ErrNoRequest], a [chat.AnsweredError], or a
	// sentence about an invalid answer.
	Answer(id, by string, a protocol.ChatReply) error
	// Interrupt ends the turn and refuses open requests, for an agent only if mayAct allows it.
	Interrupt(by string) error
	InterruptForAgent(by string, mayAct chat.MayAct) error
	// OpenRequests returns the ids of the requests that wait for an answer.
	OpenRequests() []string
}

// OutsideRequests puts requests of agents other than the coding agent to the people of its conversation. It
// is safe for concurrent use. It may wait for the disk: only the goroutine of [actionQueue] calls it.
type OutsideRequests interface {
	// OpenRequest opens a request under a new id. done is called once when it closes, on any
	// goroutine; but not after an error, which is [chat.ErrOver] or a sentence.
	OpenRequest(q *protocol.ChatRequest, done func(protocol.ChatClosed)) error
	// CloseRequest closes a request that is still open.
	CloseRequest(id, why string)
}

// OwnTerminal replaces the user's terminal in a session that an agent started.
type OwnTerminal interface {
	// Agent started the session; its ID is "" if a person did.
	Agent() control.Agent
	// IsUnattended reports whether no person can be asked. It is safe for concurrent use.
	IsUnattended() bool
	// NoteActivity notes activity.
	NoteActivity()
	// Stop ends the session as a closing terminal would.
	Stop()
}

// RemoteKeyboard types for a person who is not at the session's terminal. Owned by the pump's
// goroutine.
type RemoteKeyboard interface {
	// PressKeys types whole keys, which makes the agent pause; at is when the person typed them.
	// The error is [ErrUnread], or a sentence for the person.
	PressKeys(now, at time.Time, by string, keys []byte) error
}

// Attached handles the people who attach to such a session.
type Attached interface {
	// Handle acts on a message from one of them; false means that the program has ended.
	Handle(m protocol.Message) bool
}
