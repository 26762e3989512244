package child

import "time"

// Times of a [Comeback].
const (
	// quietWaiting is how long no thread of the foreground may have run before a wait for input
	// counts, if a thread other than the waiting one could still act on the input.
	quietWaiting = 20 * time.Millisecond
	// restlessWaiting is how long every check has to find it waiting if some thread always runs, as
	// for an animation.
	restlessWaiting = 200 * time.Millisecond
	// quietUnseen is how long no thread may have run if the kernel does not tell what the program
	// waits for.
	quietUnseen = 300 * time.Millisecond
)

// Comeback detects that the program asks for more input: it has read all of its input and waits,
// and nothing in the foreground still acts on that input. One goroutine owns it. Call Reset between
// two waits.
type Comeback struct {
	child interface {
		CountUnread() int
		BlockedOn() (Blocked, bool)
	}
	since time.Time // since when every check found it waiting
	quiet time.Time // since when nothing of it has run
	last  Blocked
}

// Comeback returns a detector for this program.
func (c *Child) Comeback() *Comeback { return &Comeback{child: c} }

// Reset forgets the earlier checks.
func (b *Comeback) Reset() { b.since = time.Time{} }

// IsBack checks once, and reports whether the program asks for more input.
func (b *Comeback) IsBack(now time.Time) bool {
	// The order matters: a program found waiting after its input was found empty has processed that
	// input.
	if b.child.CountUnread() > 0 {
		b.Reset()
		return false
	}
	a, known := b.child.BlockedOn()
	waits := known && (a.Reads || a.PollsTerminal() || a.Relay != "" && a.Asleep)
	unseen := !known || a.Unclear && a.Asleep
	if !waits && !unseen {
		b.Reset()
		return false
	}
	if b.since.IsZero() {
		b.since, b.quiet = now, now
	}
	if a.Ran != b.last.Ran || a.Group != b.last.Group || known && !a.Reads && !a.Asleep {
		b.quiet = now
	}
	b.last = a
	switch still := now.Sub(b.quiet); {
	case waits && a.Relay == "" && a.Threads == 1:
		return true // no other thread can act
	case waits:
		return still >= quietWaiting || now.Sub(b.since) >= restlessWaiting
	default:
		return still >= quietUnseen
	}
}
