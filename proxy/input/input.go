// Package input is the pump: the only code that writes to the program. One goroutine polls the user's keyboard, reads it
// and writes, so that "no agent byte after the reclaim key was read" is the order of its statements and not a race. It
// knows no screens and no sockets.
package input

import (
	"syscall"
	"time"
)

// ErrAgain is what a Keyboard or Program returns when it would have had to wait (read(2), write(2)).
var ErrAgain error = syscall.EAGAIN

// PieceMax is the largest piece of agent input that is written between two looks at the keyboard, in bytes.
const PieceMax = 64

// LineEnds is how many characters may end a line: LF, CR, VEOF, VEOL, VEOL2, VKILL, VINTR, VQUIT and VSUSP.
const LineEnds = 9

// Bounds and times of the pump.
const (
	readSize = 4096
	// userHold is how much of the user's input is kept for a program that does not read before the keyboard is left
	// unread, as a plain terminal would.
	userHold = 64 << 10
	// userMax is the same while an agent has control or asks: then the keyboard is read on, for the reclaim key's sake,
	// and past this the agent's control ends.
	userMax = 1 << 20
	// pasteMax and pasteWait bound the paste that is held back while an agent has control, to look for the key first.
	pasteMax  = 1 << 20
	pasteWait = time.Second
	// escWait is when a lone ESC is the Escape key; seqWait when any other unfinished sequence is what it is.
	escWait = 50 * time.Millisecond
	seqWait = time.Second
	// pressGap is how long before the key that gives control no other is pressed: a person takes
	// longer, a text that comes in several reads does not.
	pressGap = 20 * time.Millisecond
	// stuckAfter is how long a program may not read before agent input fails.
	stuckAfter = 2 * time.Second
	// lookEvery is how often it is looked which program has the terminal, while input waits for another one.
	lookEvery = 100 * time.Millisecond
	// queueMax bounds the inputs that wait.
	queueMax = 64
)

// Kind classifies a unit of keyboard input.
type Kind uint8

// The kinds.
const (
	Key     Kind = iota // something the user did: a key, text, a click
	Reclaim             // the reclaim key
	Release             // the reclaim key let go
	Confirm             // the key that gives control
	Report              // what the terminal said by itself: answers, focus, bare mouse motion
	PasteStart
	Paste
	PasteEnd
)

// Unit is one key, sequence or run of text. Bytes are valid during the callback only.
type Unit struct {
	Kind  Kind
	Bytes []byte
	// Idle: the terminal tells of a key that is let go, or of a modifier alone.
	Idle bool
}

// Keyboard is the user's input, non-blocking: 0, nil at its end.
type Keyboard interface {
	Read(p []byte) (int, error)
}

// Program is the program's terminal, non-blocking.
type Program interface {
	Write(p []byte) (int, error)
	// FlushInput drops what was written and not read, and says how much that was: without what a line in the making has,
	// in canonical mode.
	FlushInput() (unread int, err error)
	// Collects numbers the spell for which the kernel has collected what is written to lines (termios(3), ICANON), 0 while it does
	// not. Two looks with one number found no raw mode between them. ends are the characters that end a line, 0 for none.
	Collects() (spell uint64, ends [LineEnds]byte)
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

// Scanner cuts the keyboard's bytes into units, whatever the reads.
type Scanner interface {
	Scan(p []byte, emit func(Unit))
	Flush(emit func(Unit))
	Held() []byte
	LoneEsc() bool
	InPaste() bool
	EndPaste()
}

// Control is the state machine that the pump asks and tells. All calls come from the pump's goroutine. Whenever Epoch has
// changed after a call, control changed hands, and the pump drops what an agent had queued before it does anything else.
type Control interface {
	// ReclaimKey and Confirm report whether the key was for the proxy; else it is the program's.
	ReclaimKey(now time.Time) (took bool)
	Confirm(now time.Time) (took bool)
	// ConfirmInText is Confirm for bytes of that key that are no press: they stand in a text, as
	// in one that is pasted.
	ConfirmInText(now time.Time) (took bool)
	Key(now time.Time)
	Tick(now time.Time)
	Next(now time.Time) (time.Time, bool)
	Epoch() uint64
	// Kept reports whether what was typed under the grant that ended last stays typed: nobody took it back, the way to the agent was lost.
	Kept() bool
	// Driven reports whether an agent has control, Sought whether one has it or asks for it.
	Driven() bool
	Sought() bool
	PausedUntil() time.Time
	// Away reports whether input waits because another program has the terminal than the grant is for.
	Away() bool
	// Guarded reports whether it matters which program has the terminal: agents type nothing ahead then.
	Guarded() bool
	// Occupy says that the user has something unsubmitted on the line, which line quotes: input waits while Occupied says so.
	// What ends that comes from outside of the pump.
	Occupy(now time.Time, line string)
	Occupied() bool
	// Vacate says that no input waits any more.
	Vacate(now time.Time)
	Admit(now time.Time, agent string, epoch uint64) error
	// Decision is what was decided about the input that a Job's Hold put to the user, once: they let it through, or nobody
	// decided in time. A refusal ends control, and with that the input. WithdrawConfirmation takes the question back.
	Decision() (decided, let bool)
	WithdrawConfirmation()
	// Overrun ends control because the user's own input can no longer be held.
	Overrun(now time.Time)
	// Settle is called after the queue is clean: whoever wants to know of a change is told now. dropped is what was
	// accepted and did not reach the program, unsubmitted what was written since the last Enter, under the grant that ended.
	Settle(now time.Time, dropped, unsubmitted int)
}

// Watch is told of everybody's keys right before the program has them. Calls come from the pump's goroutine.
type Watch interface {
	User(keys []byte)
	Agent(keys []byte)
}

// Occupied is the error of a Job's Prepare when the user has something unsubmitted on the line: the job waits.
type Occupied struct {
	// Line quotes what stands there, as agents may read it.
	Line string
}

// Error implements error.
func (o *Occupied) Error() string { return "the user has not submitted the line: " + o.Line }

// Fate is what became of a job.
type Fate uint8

// The fates.
const (
	Written    Fate = iota // every byte
	Refused                // not one, or none of the steps that are left, for the reason in Err
	Dropped                // control ended midway
	NotReading             // the program did not read
	UserTyping             // the user did not stop typing, or did not submit the line, in time
	Gone                   // the program ended
	Elsewhere              // another program had the terminal until the time was over
	Busy                   // the program did not ask for more until the time was over
	Withdrawn              // its agent gave it up
)

// Receipt says what became of a job's bytes.
type Receipt struct {
	Fate    Fate
	Err     error
	Written int // the program has read them, or can
	Dropped int // never written, or taken back unread
	// Held says that the input waited for the user's word when it ended.
	Held bool
	// Unsubmitted is what the program was given since the last Enter under the grant that ended, in bytes.
	Unsubmitted int
}

// Piece is written in one step and stands whole: it ends at the boundary of a key.
type Piece struct {
	Bytes []byte
	// Gap is how long the program gets to see the piece alone.
	Gap time.Duration
	// Acts says that the program may act on the piece: an Enter, any other key than text.
	Acts bool
	// Step is not 0 where something begins that is prepared by itself: before the piece is written, what is left of the job is
	// prepared anew. What it says beyond that is for who prepares.
	Step int
	// Say is what a piece does that types nothing, in words: the mouse's. It leaves nothing on the program's line.
	Say string
}

// Job is one input of an agent's. Its functions are called on the pump's goroutine and must not block.
type Job struct {
	ID    string // for Withdraw
	Agent string
	Epoch uint64
	// Size is what the job counts for before it is prepared, in bytes.
	Size int
	// Wait bounds the pause for a user who types and for another program; 0 waits as long as the grant.
	Wait time.Duration
	// Excuse, if not nil, reports whether an error of [Control.Admit] does not count for this job: it may be written all the
	// same, for whoever else admits it.
	Excuse func(error) bool
	// Prepare is called when the first byte would be written. It has the conditions checked and the keys encoded, and
	// answers through the function it is given, from any goroutine, at once or later. When the user typed after some of the
	// job was written, and before a piece that begins a step, it is called again with what is left, which it returns as it is if
	// that may still go.
	Prepare func(left []Piece, answer func([]Piece, error))
	// Wrote is called with every piece that the program took, in order, right after it did; p is valid during the call. It
	// may be nil.
	Wrote func(p []byte)
	// Hold, if not nil, is asked about the pieces each time that Prepare returned them. It reports whether the user has been
	// asked to let them through first; an error refuses them. It is asked again after the user did.
	Hold func(now time.Time, pieces []Piece, line Line) (held bool, err error)
	// Holds, if not nil, reports right before a piece is written whether what Prepare found still
	// is so. If it is not, what is left is prepared anew.
	Holds func() bool
	// Done is called once.
	Done func(Receipt)
	// Flushed is called after Done, once, when bytes that the receipt counts as written were taken back unread. It may be nil.
	Flushed func(n int)
}
