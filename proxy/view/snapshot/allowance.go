package snapshot

import "time"

// Limits on the time that regular expressions of waits take from the observer's goroutine, which
// also processes the program's output. A usual expression takes 20 ns a byte.
const (
	searchBurst   = 300 * time.Millisecond // at once
	searchPerByte = 200 * time.Nanosecond  // for each byte searched
	searchShare   = 10                     // one part in searchShare of the time that passes
)

// allowance counts the search time of a session's waits.
type allowance struct {
	spent      time.Duration // search time beyond what has been given since
	givenUntil time.Time     // the time up to which the share was given
}

// spendTime notes that searching some bytes took that long, and reports whether it is still
// allowed.
func (a *allowance) spendTime(bytes int, took time.Duration, now time.Time) bool {
	if !a.givenUntil.IsZero() {
		a.spent -= now.Sub(a.givenUntil) / searchShare
	}
	a.givenUntil = now
	a.spent = max(0, a.spent-time.Duration(bytes)*searchPerByte) + took
	return a.spent <= searchBurst
}

// findText searches a line or a title for the text of o. If searching takes too long, the wait that
// has taken most of the time is given up.
func (w *Waits) findText(o *waiter, line string) (matched string, ok bool) {
	if o.Condition.regex == nil {
		return o.Condition.matchLine(line)
	}
	if o.costly {
		return "", false
	}
	began := time.Now()
	matched, ok = o.Condition.matchLine(line)
	w.countSearch(o, len(line), began)
	return matched, ok
}

// countSearch counts the time since began, in which a regular expression searched some bytes.
func (w *Waits) countSearch(o *waiter, bytes int, began time.Time) {
	now := time.Now()
	took := now.Sub(began)
	o.searchTime += took
	if !w.allowed.spendTime(bytes, took, now) {
		costliest := o
		for _, other := range w.open {
			if !other.costly && other.searchTime > costliest.searchTime {
				costliest = other
			}
		}
		costliest.costly = true
		w.allowed.spent = 0 // the other waits start with a full allowance
	}
}
