package protocol

// Waiting says what a message to the user, or a prompt, waits for.
type Waiting string

// What a message can wait for.
const (
	WaitsForPerson Waiting = "nobody"   // no person is in front of the session
	WaitsForAnswer Waiting = "question" // the user is asked something, or writes
	WaitsForSecret Waiting = "password" // the program asks the user for a password
	WaitsForTurn   Waiting = "turn"     // something else is shown
	// WaitsForTitle: the user wants no line over the program, so the window's title tells.
	WaitsForTitle   Waiting = "title"
	WaitsForProgram Waiting = "program" // the program is in the middle of drawing
)

// What only a prompt can wait for.
const (
	// WaitsForDialog: something is asked at the coding agent's terminal, or stands there.
	WaitsForDialog Waiting = "dialog"
	WaitsForLine   Waiting = "line"  // an unsent line at the coding agent's terminal
	WaitsForStart  Waiting = "start" // the coding agent has yet to come to its prompt
)
