// Package pump is the only code that writes to the program. One goroutine polls and reads the
// user's keyboard and writes, so that "no agent byte after the reclaim key was read" is the order
// of its statements and not a race. It uses no screens and no sockets.
package pump

import (
	"syscall"
	"time"
)

// ErrAgain is returned by a Keyboard or Program that would have to wait (read(2), write(2)).
var ErrAgain error = syscall.EAGAIN

// MaxPiece bounds the agent input that is written between two reads of the keyboard, in bytes.
const MaxPiece = 64

// LineEnds is the number of characters that may end a line: LF, CR, VEOF, VEOL, VEOL2, VKILL,
// VINTR, VQUIT and VSUSP.
const LineEnds = 9

// Bounds and times of the pump.
const (
	readSize = 4096
	// userInputHold bounds the user's input for a program that does not read, in bytes. Beyond it
	// the keyboard is left unread, as without the proxy.
	userInputHold = 64 << 10
	// maxUserInput is the bound while an agent has control or asks: then the keyboard is still
	// read, for the reclaim key, and beyond this the agent's control ends.
	maxUserInput = 1 << 20
	// maxHeldPaste and pasteWait bound a paste that is held back while an agent has control, to
	// look for the reclaim key first.
	maxHeldPaste = 1 << 20
	pasteWait    = time.Second
	// escWait is when a lone ESC counts as the Escape key; seqWait is when any other unfinished
	// sequence counts as complete.
	escWait = 50 * time.Millisecond
	seqWait = time.Second
	// pressGap is the time before the grant key in which no other key may come: a person takes
	// longer, but the next read of a pasted text comes sooner.
	pressGap = 20 * time.Millisecond
	// stuckAfter is how long a program may not read before agent input fails.
	stuckAfter = 2 * time.Second
	// lookEvery is how often the foreground program is checked while input waits for another one.
	lookEvery = 100 * time.Millisecond
	// maxQueue bounds the number of waiting inputs.
	maxQueue = 64
)

// Kind classifies a unit of keyboard input.
type Kind uint8

// The kinds.
const (
	Key           Kind = iota // an act of the user: a key, text, a click
	Reclaim                   // the reclaim key
	Release                   // the reclaim key let go
	Confirm                   // the grant key
	ConfirmRepeat             // the grant key still held
	// Report is the terminal's own: answers, focus, bare mouse motion, a key let go, and a key that
	// is only held with others, such as Ctrl.
	Report
	PasteStart
	Paste
	PasteEnd
)

// Unit is one key, sequence or run of text. Bytes are valid only during the callback.
type Unit struct {
	Kind  Kind
	Bytes []byte
}

// Keyboard is the user's input, non-blocking; it returns 0, nil at its end.
type Keyboard interface {
	Read(p []byte) (int, error)
}

// Program is the program's terminal, non-blocking.
type Program interface {
	Write(p []byte) (int, error)
	// FlushInput drops what was written and not read, and returns its size without an unfinished
	// line in canonical mode.
	FlushInput() (unread int, err error)
	// CountUnread returns how many bytes the program could read now.
	CountUnread() int
	// ForegroundGroup returns the process group that has the terminal, 0 if unknown.
	ForegroundGroup() int
	// CanonicalSpell numbers the spell in which the kernel collects written bytes to lines
	// (termios(3), ICANON); it is 0 outside of one. Two calls with one number had no raw mode
	// between them. ends are the characters that end a line; 0 fills the rest.
	CanonicalSpell() (spell uint64, ends [LineEnds]byte)
}

// Events are what a Poller waits for.
type Events uint8

// The events.
const (
	Readable Events = 1 << iota // the keyboard
	Writable                    // the program
	Woken
)

// Poller waits for the keyboard, the program and Wake together.
type Poller interface {
	Wait(want Events, timeout time.Duration) (Events, error)
	Wake()
}

// Scanner cuts the keyboard's bytes into units, independent of the reads.
type Scanner interface {
	Scan(p []byte, emit func(Unit))
	Flush(emit func(Unit))
	HeldBytes() []byte
	HasLoneEsc() bool
	IsInPaste() bool
	EndPaste()
}

// Control is the state machine that the pump asks and informs, on the pump's goroutine. Whenever
// Epoch has changed after a call, control changed hands, and the pump drops an agent's queue before
// it does anything else.
type Control interface {
	// ReclaimKey and NoteGrantKey report whether the key was for the proxy; otherwise it is the
	// program's.
	ReclaimKey(now time.Time) (took bool)
	// inText means that the key's bytes came inside a text, as in a paste: they are no press.
	NoteGrantKey(now time.Time, inText bool) (took bool)
	NoteKey(now time.Time)
	Tick(now time.Time)
	NextTick(now time.Time) (time.Time, bool)
	Epoch() uint64
	// KeepsTypedInput reports whether the input of the last grant stays typed: its agent lost the
	// connection, and no one took it back.
	KeepsTypedInput() bool
	// IsDriven reports whether an agent has control, and IsSought whether one has it or asks for
	// it.
	IsDriven() bool
	IsSought() bool
	PausedUntil() time.Time
	// IsPausedByProgram reports whether input waits because the program that has the terminal is
	// not the one that the grant is for.
	IsPausedByProgram() bool
	// DependsOnProgram reports whether it matters which program has the terminal: then agents do
	// not type ahead.
	DependsOnProgram() bool
	// OccupyLine notes that the user has unsubmitted text on the line, quoted by line: input waits
	// while IsLineOccupied is true. A caller outside the pump ends that. types describes the input.
	OccupyLine(now time.Time, line, types string)
	IsLineOccupied() bool
	// VacateLine notes that no input waits for the line any longer.
	VacateLine(now time.Time)
	CheckInput(now time.Time, agent string, epoch uint64) error
	// TakeDecision returns, once, the decision about the input that a Job's Hold showed to the
	// user: they let it through, or it expired. A refusal ends control, and with that the input.
	// WithdrawConfirmation takes the question back.
	TakeDecision() (decided, let bool)
	WithdrawConfirmation()
	// EndByOverrun ends control because the user's own input can no longer be held.
	EndByOverrun(now time.Time)
	// PublishChanges is called after the queue is clean, to announce a change. dropped counts
	// accepted bytes that did not reach the program, and unsubmitted those written since the last
	// Enter, under the grant that ended.
	PublishChanges(now time.Time, dropped, unsubmitted int)
}

// KeyObserver sees all keys right before the program gets them, on the pump's goroutine.
type KeyObserver interface {
	NoteUserKeys(keys []byte)
	NoteAgentKeys(keys []byte)
}

// OccupiedError is the error of a Job's Prepare if the user has unsubmitted text on the line: the
// job waits.
type OccupiedError struct {
	// Line quotes the user's line, as agents may read it.
	Line string
	// Types describes to the user what the job would type.
	Types string
}

// Error implements error.
func (o *OccupiedError) Error() string { return "the user has not submitted the line: " + o.Line }

// Fate says how a job ended.
type Fate uint8

// The fates.
const (
	Written      Fate = iota // all bytes
	Refused                  // no byte, or no further step, for the reason in Err
	Dropped                  // control ended midway
	NotReading               // the program did not read
	UserTyping               // the user did not stop typing, or submit the line, in time
	ProgramEnded             // the program ended
	OtherProgram             // another program had the terminal until the time limit
	Busy                     // the program did not ask for more until the time limit
	Withdrawn                // its agent abandoned it
)

// Receipt reports the end of a job and counts its bytes.
type Receipt struct {
	Fate    Fate
	Err     error
	Written int // bytes that the program has read, or can
	Dropped int // bytes never written, or taken back unread
	// Held means that the input waited for the user's confirmation when it ended.
	Held bool
	// Unsubmitted counts the bytes that the program was given since the last Enter under the grant
	// that ended.
	Unsubmitted int
}

// Piece is written in one step and stays whole: it ends at the boundary of a key.
type Piece struct {
	Bytes []byte
	// Gap is how long the program gets to see the piece alone.
	Gap time.Duration
	// Acts means that the program may act on the piece: an Enter, or any key but text.
	Acts bool
	// Step is not 0 at the start of a separately prepared step: before the piece is written, the
	// rest of the job is prepared again. Its value is for Prepare.
	Step int
	// Description describes a piece that types nothing, such as a mouse action. It leaves no text
	// on the program's line.
	Description string
}

// Job is one input of an agent. Its functions are called on the pump's goroutine and must not
// block.
type Job struct {
	// Life has the state of the input. nil: the pump makes one.
	Life  *Life
	ID    string // for WithdrawInput
	Agent string
	Epoch uint64
	// Size is the job's size before it is prepared, in bytes, for the queue's limit.
	Size int
	// Wait bounds the pause for a user who types and for another program; 0 waits as long as the
	// grant.
	Wait time.Duration
	// Excuse, if not nil, reports whether an error of [Control.CheckInput] does not count for this
	// job: it may be written all the same, because another authority admits it.
	Excuse func(error) bool
	// Prepare is called when the first byte would be written. It checks the conditions, encodes the
	// keys, and answers through its function, on any goroutine, at once or later. It is called
	// again with the unwritten rest if the user typed after a part of the job, and before a piece
	// that begins a step. It returns that rest unchanged if it may still be written.
	Prepare func(left []Piece, answer func([]Piece, error))
	// Wrote is called with every piece right after the program took it, in order; p is valid during
	// the call. It may be nil.
	Wrote func(p []byte)
	// Hold, if not nil, is called with the pieces each time Prepare has returned them. held means
	// that the user is asked to confirm them first; an error refuses them. It is called again after
	// the confirmation.
	Hold func(now time.Time, pieces []Piece, line Line) (held bool, err error)
	// Holds, if not nil, reports right before a piece is written whether the facts that Prepare
	// found are still true. If not, the rest is prepared again.
	Holds func() bool
	// Done is called once.
	Done func(Receipt)
	// Flushed is called once, after Done, if bytes that the receipt counts as written were taken
	// back unread. It may be nil.
	Flushed func(n int)
}
