package chat

// Driver speaks to one agent. Its methods may be called from any goroutine and never wait for the
// agent, but for Close.
type Driver interface {
	// Start starts the agent. From then on everything that comes from it is reported, in its order,
	// by one goroutine of the driver's, and never from within a method. The last event is [Gone];
	// it comes exactly once. If Start fails, no event follows.
	Start(report func(Event)) error
	// Send gives the agent a prompt, also while a turn runs.
	Send(p Prompt) error
	// Interrupt ends the turn that runs, and drops the prompts that wait for its end.
	Interrupt() error
	// Answer answers the request of that id, once.
	Answer(id string, a Answer) error
	// Close ends the agent and returns when it is gone. A turn that runs is not waited for.
	Close() error
}

// Setter is a driver whose agent lets a person set something while it runs.
type Setter interface {
	// Set sets something of what [Sets] reported, to one of its choices. It does not wait for the
	// agent; what comes of it is reported: a [Sets], or why not.
	Set(name, value string) error
}

// Prompt is what a person says to the agent.
type Prompt struct {
	ID   string // unique in the session
	Text string
	// Person: a person says it, and no agent.
	Person bool
	// Images go with it. Only a driver that is an [ImageDriver] and does not refuse them gets any.
	Images []Image
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
	// Said is a new item. Its author may be left out: then it is the agent.
	Said struct{ Item Item }
	// Wrote is a part of an unfinished text.
	Wrote struct{ Piece Piece }
	// Began says that a turn runs. An agent may begin one by itself.
	Began struct{}
	// Took says that the agent works on a prompt now.
	Took struct{ Prompt string }
	// Dropped says that the agent will never work on a prompt.
	Dropped struct{ Prompt string }
	// Asked is a new request.
	Asked struct{ Request Request }
	// Withdrawn says that the agent took a request back.
	Withdrawn struct{ ID, Why string }
	// Sets lists all settings with their values, after any change by the person or the agent.
	Sets struct{ Settings []Setting }
	// Finished says that a turn ended.
	Finished struct{ Turn Turn }
	// Gone says that the agent ended, and why in a sentence; "" when it ended as it should.
	Gone struct{ Why string }
)

func (Ready) event()     {}
func (Said) event()      {}
func (Wrote) event()     {}
func (Began) event()     {}
func (Took) event()      {}
func (Dropped) event()   {}
func (Asked) event()     {}
func (Withdrawn) event() {}
func (Sets) event()      {}
func (Finished) event()  {}
func (Gone) event()      {}
