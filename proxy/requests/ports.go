package requests

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/mouse"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/snapshot"
)

// Observer owns the terminal model. Post may be called from any goroutine, everything else only in a function given to it.
type Observer interface {
	// Post has do run on the observer's goroutine; false says that this has ended.
	Post(do func(now time.Time)) bool
	Model() *screen.Screen
	// Redact is text as agents may see it. The program is printing before its last ahead bytes, or elsewhere if that is -1.
	Redact(text string, ahead int) string
	// Settles is when the screen counts as settled unless something changes before, and LastChange when it changed last.
	Settles() time.Time
	LastChange() time.Time
	// CaughtUp reports whether the program has read all that was typed, and the model was fed all that the program printed.
	CaughtUp() bool
	// Blank reports whether the program has shown nothing yet, and began a moment ago.
	Blank(now time.Time) bool
	// RunsCommand reports whether the shell that has the terminal said that it runs a command.
	RunsCommand() bool
	// Subscribed says whether anybody gets the snapshots.
	Subscribed(yes bool)

	// Bars says why an agent's input is not to be typed now, nil if it may be: [control.ErrHidden] or [control.ErrSecret].
	Bars(now time.Time) error
	// Expect says why what an input expects of the screen does not hold, nil if it does. The error is for the agent.
	Expect(e *protocol.Expect) error
	// Locate finds a text on the screen, and WordAt names what stands in a cell.
	Locate(text string) (mouse.Cell, error)
	WordAt(c mouse.Cell) string

	// Answer is the screen for an answer. AnswerRead and AnswerWait fill in answers; the error is about the line asked for.
	Answer(now time.Time) *protocol.Frame
	AnswerRead(now time.Time, m *protocol.Read, r *protocol.ReadResult) error
	AnswerWait(now time.Time, m *protocol.Wait, out *protocol.WaitResult)
	// View says that somebody looks at the screen from elsewhere, or that nobody does any more.
	View(now time.Time, on bool)
	// AgentTyped tells those who look what an agent typed, as it may be shown.
	AgentTyped(now time.Time, agent, text string)
	// Wait opens a wait; looking says that it is for the program to wait for input. refused is called in place of w.Done where
	// there are too many, or it is open already: [snapshot.ErrWaitOpen].
	Wait(now time.Time, looking bool, w snapshot.Wait, refused func(error))
	// CancelWait ends a wait without an answer, false where there is none.
	CancelWait(id string) bool
	// DecideWaits ends those waits for a decision about control that match accepts; word says how it was decided.
	DecideWaits(match func(id string) bool, word string)
}

// Pump is alone in writing to the program. Any goroutine may call it.
type Pump interface {
	// Post has do run on the pump's goroutine; false says that the program has ended.
	Post(do func(now time.Time)) bool
	// Offer has an input typed when its turn comes.
	Offer(j input.Job)
	// Withdraw gives an input up that waits or is held, and where begun says so one that is being written.
	Withdraw(id string, begun bool)
}

// Control decides who may type, see [control.Machine]. It belongs to the pump's goroutine, but for Newest.
type Control interface {
	// Newest is the state after the pump's last turn. Any goroutine may ask.
	Newest() control.State
	State(now time.Time) control.State
	// Allowed reports whether the user lets an agent answer the present prompt for a secret.
	Allowed() bool
	// LastEnd is how control ended last.
	LastEnd() control.Event

	Grants
	Obstacles
	Messages
}

// Grants are what agents, and owners elsewhere, ask for and give back.
type Grants interface {
	Request(now time.Time, r control.Request) error
	// Own gives an agent the keyboard of its own terminal.
	Own(now time.Time, r control.Request)
	Release(now time.Time, agentID string, why protocol.Reason) bool
	// Withdraw takes a request back whose asker gave it up, or is gone.
	Withdraw(now time.Time, requestID string)
	Connected(now time.Time, agentID string, yes bool)
	// Give, Reclaim and Hide do what an owner decided.
	Give(now time.Time, g control.RemoteGrant) error
	Reclaim(now time.Time, by string) bool
	Hide(now time.Time, on bool) bool
	Refuse(now time.Time, agent, by string) error
	// Hush mutes an agent, and Unhush lets it speak again, "" for all.
	Hush(now time.Time, agent, by string) error
	Unhush(now time.Time, agent, by string, epoch uint64) error
}

// Obstacles are what an agent's input waits for, grant or no grant.
type Obstacles interface {
	// AskConfirmation puts an input to the user.
	AskConfirmation(now time.Time, c control.Confirmation) error
	// Occupy says what of the user's stands on the line, Vacate that nothing does.
	Occupy(now time.Time, line string)
	Vacate(now time.Time)
}

// Messages are what the user and agents write to one another.
type Messages interface {
	// Compose begins a message of the user's; Message is the one that is open, nil for none, and TakeMessage closes it.
	Compose(now time.Time, heard control.Heard) (took bool)
	Message() *control.Message
	TakeMessage(now time.Time) control.Message
	// Correspondent is whom the user would write to.
	Correspondent(heard control.Heard) control.Agent
	// Meet notes an agent that writes, or asks in a conversation, and Replied how a person answered that; MayAsk says why it may not ask now.
	Meet(a control.Agent)
	MayAsk(now time.Time, a control.Agent) error
	Replied(now time.Time, a control.Agent, refused bool)
	// Muted reports whether the user wants to hear nothing of an agent.
	Muted(a control.Agent) bool
}

// Link is the way to the agents. It never waits.
type Link interface{ Send(m protocol.Message) }

// Program is what is asked about the program. Each answer takes system calls; any goroutine may ask.
type Program interface {
	// Line and Settings are the line settings; an error says that nobody can read them any more.
	Line() (child.Line, error)
	Settings() (child.Settings, error)
	// Collects numbers the spell for which the kernel has collected lines, 0 while it does not.
	Collects() (spell uint64, ends [input.LineEnds]byte)
	// Foreground names the program in the foreground, ForegroundGroup is its process group; "" and 0 when nobody knows.
	Foreground() string
	ForegroundGroup() int
	// GroupLeader is the process that leads this group.
	GroupLeader() (l child.GroupLeader, ok bool)
	// BlockedOn says what the foreground waits for; known is false where the system does not tell.
	BlockedOn() (b child.Blocked, known bool)
	// Kill ends the program at once.
	Kill()
}

// Terminal is what answers the program's questions about its size. Any goroutine may ask.
type Terminal interface {
	// CellSize is the size of a cell in pixels, 0 where nobody knows.
	CellSize() (width, height int)
}

// Status is the proxy's own line on the user's screen. It never waits, and may be called from any goroutine.
type Status interface {
	// Attended notes that an agent asked for something, and Rival that one asked for the keyboard that another one has.
	Attended()
	Rival(agentID string)
	// Controlled says what became of control; line is what the agent left on the line, and note its own word.
	Controlled(e control.Event, line, note string)
	// Fits reports whether the user can read all of the question about an input on a screen of this size.
	Fits(agent string, q control.Confirmation, cols, rows int) bool
	// Tell says something for a moment.
	Tell(text string)
	// Hear takes a message for the user. The error is a sentence for its sender.
	Hear(n control.Note) error
	// Withdraw drops a message that does not stand on the screen yet.
	Withdraw(noteID string)
	// Heard is the agent's message that the user saw last.
	Heard() control.Heard
}

// Recorder takes down what agents do, if the session is recorded. It never waits.
type Recorder interface {
	// Requested is an agent's question, with the error if it was refused at once; Changed a change of control, note being the
	// agent's own word as it gives the keyboard back. Both belong to the pump's goroutine.
	Requested(r control.Request, err error)
	Changed(e control.Event, note string)
	// Said is what an agent wrote to the user, and Told what it was told: by "" for the user at the session's own terminal.
	Said(from control.Agent, text string)
	Told(to control.Agent, by, text string)
	// Talked is what somebody says to a coding agent, before it is said: of from and by one says who. It belongs to the pump's goroutine.
	Talked(what record.Kind, from control.Agent, by, request, text string)
	// Input begins to follow an input.
	Input(m *protocol.Input, epoch uint64) Record
}

// Record follows one input from its screen to its receipt.
type Record interface {
	// Look keeps the screen as it is now. It runs on the observer's goroutine, the others on the pump's.
	Look(now time.Time)
	// Wrote takes what the program took, Done the receipt: does says what the mouse did or was to do, and allowed that the user let the
	// input through.
	Wrote(p []byte)
	Done(receipt *protocol.InputResult, does string, allowed bool)
	// Flushed says that of the written bytes the last n were taken back from the program unread.
	Flushed(written, n int, why protocol.Code)
}

// Conversation is the one of the coding agent that is the program. Its methods may be called from any goroutine, and never wait for the agent.
type Conversation interface {
	// Subscribe begins to send the records with higher numbers than that to the gateway, and Unsubscribe ends it.
	Subscribe(after uint64)
	Unsubscribe()
	// Send says something to the agent for a person, whom by names, and Pass for another agent. The error is [chat.ErrOver], or a sentence.
	Send(by, text string, images []chat.Image) error
	ImageRefusal() error
	Pass(by, text string) error
	// Waits is what a prompt would wait for now, "" for nothing.
	Waits() protocol.Waiting
	// Answer answers a request. The error is [chat.ErrNoRequest], a [chat.AnsweredError], or a sentence about an answer that does not fit.
	Answer(id, by string, a protocol.ChatReply) error
	// Interrupt ends the turn and refuses what is open.
	Interrupt(by string) error
	// Open are the ids of the requests that wait for an answer.
	Open() []string
}

// Outside is where others than a coding agent put requests to the people of its conversation. Its methods may be called from any goroutine.
type Outside interface {
	// Ask opens a request under an id that is new. done is told once how it was closed, on any goroutine. The error is [chat.ErrOver], or
	// a sentence; then done is told nothing.
	Ask(q *protocol.ChatRequest, done func(protocol.ChatClosed)) error
	// Withdraw closes one, if it is still open.
	Withdraw(id, why string)
}

// Own is what a session has that an agent started, in place of a user's terminal.
type Own interface {
	// Agent started the session; its ID is "" where a person did.
	Agent() control.Agent
	// Unattended reports whether nobody is there to be asked. Any goroutine may ask.
	Unattended() bool
	// Touch notes that somebody did something.
	Touch()
	// Stop ends the session as a closing terminal would.
	Stop()
}

// Elsewhere takes what a person types who does not sit at the session's terminal. It belongs to the pump's goroutine.
type Elsewhere interface {
	// Press has whole keys typed, whose agent pauses; at is when the person typed them. The error is [ErrUnread], or a sentence for the
	// person.
	Press(now, at time.Time, by string, keys []byte) error
}

// Attached are the people who attach to such a session.
type Attached interface {
	// Handle does what a message of theirs says; false says that the program has ended.
	Handle(m protocol.Message) bool
}
