package chat

import "errors"

// Terminal is the agent's own terminal, for a driver beside whose conversation the agent's
// interface runs. Its methods may be called from any goroutine.
type Terminal interface {
	// ReadScreen returns the screen as it is now; ok is false after the terminal's end.
	ReadScreen() (s Screen, ok bool)
	// Type types for a person, soon, and answers through t. It never waits.
	Type(t TypeRequest)
	// StandingCheck returns a function that reports whether a prompt sent now may still be typed:
	// not after the user took the keyboard back, and, if an agent has control now, not under
	// another grant. The function may be called from any goroutine.
	StandingCheck() (still func() bool)
}

// Screen is what stands on a terminal.
type Screen struct {
	Rows   []Row
	Pastes bool // the program takes bracketed pastes
}

// Row is one row of a screen. Its texts have one character or cluster per cell, no blanks at their
// ends, and the same columns.
type Row struct {
	Text string
	// Plain is Text with blanks for what has a colour of its own.
	Plain string
	// Caret is the index in the runes of Text of the first cell in reverse video, or -1.
	Caret int
}

// TypeRequest is what to type. It waits, as agents' input does, while the user types, and ends when
// the keyboard changes hands.
type TypeRequest struct {
	// Pieces are written one by one, each whole.
	Pieces [][]byte
	// May is asked right before each piece, with the screen as it is. [ErrNotYet] has it asked
	// again soon; another error ends the typing. It is called on a goroutine of the terminal's and
	// must not block.
	May func(piece int, s Screen) error
	// Keys, if not 0, is the count of the user's keys at which this still may be typed, see
	// [TypeResult].
	Keys uint64
	// Still is asked before each piece, where the keyboard cannot change hands before it is
	// written; see [Terminal]. Once it is false the typing ends with [ErrTaken].
	Still func() bool
	// Done is called once, on a goroutine of the terminal's, and must not block.
	Done func(TypeResult)
}

// TypeResult is what became of a typing.
type TypeResult struct {
	Pieces int // that were written
	// Keys counts the keys of the user before the first piece. Between the pieces the user typed
	// nothing: else they end.
	Keys uint64
	Err  error // nil when all were written
}

// Errors of a typing.
var (
	ErrNotYet    = errors.New("not yet")
	ErrUserTyped = errors.New("the user typed meanwhile")
	ErrTaken     = errors.New("the keyboard changed hands")
)

// Beside is a driver whose agent runs in a terminal of the session's, with its own interface. Its
// methods may be called from any goroutine and do not block.
type Beside interface {
	Driver
	// Attach gives it the terminal, once, before Start.
	Attach(t Terminal)
	// NoteOutput says that the agent printed something.
	NoteOutput()
	// NoteKeys tells of keys of a person's at the terminal, before the agent has them. keys is
	// valid during the call.
	NoteKeys(keys []byte)
	// HasDialog reports whether something of the agent's may stand on the screen that only a person
	// may answer.
	HasDialog() bool
	// NoteReclaim says that the user took the keyboard back: prompts that are not typed yet are
	// dropped.
	NoteReclaim()
	// NoteExit says how the agent ended, in words to follow its name, "" as it should, and what
	// stood on its screen.
	NoteExit(why string, rows []string)
}
