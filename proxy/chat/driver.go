package chat

// Driver speaks to one agent. Its methods may be called from any goroutine and never wait for the
// agent, but for Close.
type Driver interface {
	// Start starts the agent. From then on everything that comes from it is reported, in its order,
	// by one goroutine of the driver's, and never from within a method. The last event is
	// [AgentExited]; it comes exactly once. If Start fails, no event follows.
	Start(report func(Event)) error
	// Send gives the agent a prompt, also while a turn runs.
	Send(p Prompt) error
	// Interrupt ends the turn that runs, and drops the prompts that wait for its end. If that
	// itself waits, mayAct is asked then.
	Interrupt(mayAct MayAct) error
	// Answer answers the request of that id, once.
	Answer(id string, a Answer) error
	// Close ends the agent and returns when it is gone. A turn that runs is not waited for.
	Close() error
}

// SettingsDriver is a driver whose agent lets a person set something while it runs.
type SettingsDriver interface {
	// SetOption sets an option that [SettingsChanged] reported to one of its choices. It does not
	// wait for the agent; the driver reports the outcome: a [SettingsChanged], or why not.
	SetOption(name, value string) error
}

// Prompt is what a person says to the agent.
type Prompt struct {
	ID   string // unique in the session
	Text string
	// Person: a person says it, and no agent.
	Person bool
	// MayAct is asked again where the prompt leaves the driver. If it may not, the driver reports
	// [PromptDropped].
	MayAct MayAct
	// Images go with it. Only a driver that is an [ImageDriver] and does not refuse them gets any.
	Images []Image
}

// MayAct returns why the agent that speaks may no longer do so, or nil. It is safe for concurrent
// use, and exact on the goroutine that writes to the program. nil is a person's: always.
type MayAct func() error

// Refusal returns the answer of m.
func (m MayAct) Refusal() error {
	if m == nil {
		return nil
	}
	return m()
}

// Waits says what a prompt waits for, "" where it goes to the agent at once.
type Waits string

// What a prompt waits for.
const (
	WaitsForDialog Waits = "dialog" // something is asked at the agent's terminal, or stands there
	WaitsForLine   Waits = "line"   // an unsent line at the agent's terminal
	WaitsForStart  Waits = "start"  // the agent has yet to come to its prompt
)

// Waiter is a driver whose prompts may wait.
type Waiter interface {
	// WaitReason says what for, now.
	WaitReason() Waits
}

// Event is what a driver reports: one of the types below.
type Event interface{ event() }

type (
	// Ready says that the agent takes prompts, and the id of the conversation, with which it can be
	// resumed. It comes again with another conversation.
	Ready struct{ Conversation string }
	// ItemAdded is a new item. Its author may be left out: then it is the agent.
	ItemAdded struct{ Item Item }
	// TextAppended is a part of an unfinished text.
	TextAppended struct{ Piece Piece }
	// TurnStarted says that a turn runs. An agent may begin one by itself.
	TurnStarted struct{}
	// PromptAccepted says that the agent works on a prompt now.
	PromptAccepted struct{ Prompt string }
	// PromptDropped says that the agent will never work on a prompt.
	PromptDropped struct{ Prompt string }
	// RequestOpened is a new request.
	RequestOpened struct{ Request Request }
	// Withdrawn says that the agent took a request back.
	Withdrawn struct{ ID, Why string }
	// SettingsChanged lists all settings with their values, after any change by the person or the
	// agent.
	SettingsChanged struct{ Settings []Setting }
	// Finished says that a turn ended.
	Finished struct{ Turn Turn }
	// AgentExited says that the agent ended, and why in a sentence; "" when it ended as it should.
	AgentExited struct{ Why string }
)

func (Ready) event()           {}
func (ItemAdded) event()       {}
func (TextAppended) event()    {}
func (TurnStarted) event()     {}
func (PromptAccepted) event()  {}
func (PromptDropped) event()   {}
func (RequestOpened) event()   {}
func (Withdrawn) event()       {}
func (SettingsChanged) event() {}
func (Finished) event()        {}
func (AgentExited) event()     {}
