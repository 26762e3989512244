package snapshot

import "time"

// Limits on the time that regular expressions of waits take from the observer's goroutine, which
// also processes the program's output: at once, per byte searched, and of the time that passes. A
// usual expression takes 20 ns a byte.
const (
	dearAtOnce  = 300 * time.Millisecond
	dearPerByte = 200 * time.Nanosecond
	dearShare   = 10 // divides the time that passes
)

// allowance counts the search time of a session's waits.
type allowance struct {
	spent      time.Duration // search time beyond what has been given since
	givenUntil time.Time     // time was given until then
}

// spendTime notes that searching some bytes took that long, and reports whether it is still
// allowed.
func (a *allowance) spendTime(bytes int, took time.Duration, now time.Time) bool {
	if !a.givenUntil.IsZero() {
		a.spent -= now.Sub(a.givenUntil) / dearShare
	}
	a.givenUntil = now
	a.spent = max(0, a.spent-time.Duration(bytes)*dearPerByte) + took
	return a.spent <= dearAtOnce
}

// findText searches a line or a title for the text of o. If searching takes too long, the wait that
// has taken most of the time is given up.
func (w *Waits) findText(o *waiter, line string) (matched string, ok bool) {
	if o.Condition.regex == nil {
		return o.Condition.matchLine(line)
	}
	if o.dear {
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
		dearest := o
		for _, other := range w.open {
			if !other.dear && other.searchTime > dearest.searchTime {
				dearest = other
			}
		}
		dearest.dear = true
		w.allowed.spent = 0 // the others get what it had
	}
}
