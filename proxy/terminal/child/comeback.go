package child

import "time"

// Times of a [Comeback].
const (
	// quietWaiting is how long nothing of the foreground may have run for a wait for input to count
	// where another thread than the one that waits could still act on what was typed.
	quietWaiting = 20 * time.Millisecond
	// restlessWaiting is how long every look has to find it waiting where something always runs: an
	// animation.
	restlessWaiting = 200 * time.Millisecond
	// quietUnseen is how long nothing may have run where the kernel does not tell what the program
	// waits for.
	quietUnseen = 300 * time.Millisecond
)

// Comeback tells when the program is back for more: it has read all that it was given and waits for
// input, and nothing in the foreground still acts on what was read. It belongs to one goroutine;
// between two waits call Reset.
type Comeback struct {
	child interface {
		CountUnread() int
		BlockedOn() (Blocked, bool)
	}
	since time.Time // since when every look found it waiting
	quiet time.Time // since when nothing of it has run
	last  Blocked
}

// Comeback begins to watch.
func (c *Child) Comeback() *Comeback { return &Comeback{child: c} }

// Reset forgets what the looks before found.
func (b *Comeback) Reset() { b.since = time.Time{} }

// IsBack looks once; it reports whether the program is back.
func (b *Comeback) IsBack(now time.Time) bool {
	// In this order: a program found waiting after its input was found empty has dealt with that
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
