package protocol

// Limits of a [Note].
const (
	MaxText  = 4096 // a message between user and agent
	MaxShown = 300  // characters of an agent's message to the user, on one line
)

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
	// By names the person elsewhere who writes to the agent on the user's behalf; "" is the user at
	// the session's own terminal.
	By   string `json:"by,omitempty"`
	Text string `json:"text"`
}

// The senders of a [Note].
const (
	FromUser  = "user"
	FromAgent = "agent"
)

// Waiting is what a message to the user, or a prompt, waits for.
type Waiting string

// The reasons why a message waits.
const (
	WaitsForPerson Waiting = "nobody"   // no person is at the session
	WaitsForAnswer Waiting = "question" // the user is asked something, or writes
	WaitsForSecret Waiting = "password" // the program asks the user for a password
	WaitsForTurn   Waiting = "turn"     // something else is shown
	// WaitsForTitle: the user wants no line over the program, so the message is only announced in
	// the window's title.
	WaitsForTitle   Waiting = "title"
	WaitsForProgram Waiting = "program" // the program is in the middle of drawing
)

// The reasons why only a prompt waits.
const (
	// WaitsForDialog: the coding agent's terminal shows a dialog or a question.
	WaitsForDialog Waiting = "dialog"
	WaitsForLine   Waiting = "line"  // an unsent line at the coding agent's terminal
	WaitsForStart  Waiting = "start" // the coding agent has not reached its prompt yet
)

func (m *Note) check() error {
	return new(checks).optionalID("id", m.ID).optionalID("requestId", m.RequestID).
		id("sessionId", m.SessionID).
		oneOf("from", m.From, FromUser, FromAgent).optionalID("agentId", m.AgentID).
		optionalID("tokenId", m.TokenID).text("agentName", m.AgentName, MaxName).
		text("by", m.By, MaxName).required("text", m.Text, MaxText).done()
}

// checkNotes checks the user's messages that an answer carries.
func (c *checks) checkNotes(notes []string) *checks {
	for _, n := range notes {
		c.required("notes", n, MaxText)
	}
	return c
}
