package snapshot

import "time"

// What a session's waits for regular expressions may take of the goroutine that follows the screen, for which what is printed waits:
// at once, for each byte that they look at, and of the time that passes. An ordinary expression takes 20 ns a byte.
const (
	dearAtOnce  = 300 * time.Millisecond
	dearPerByte = 200 * time.Nanosecond
	dearShare   = 10 // a tenth of the time
)

// allowance counts that.
type allowance struct {
	spent time.Duration // what was taken beyond what has been given since
	at    time.Time     // until when time was given
}

// take notes that looking at some bytes took so long, and reports whether that is still allowed.
func (a *allowance) take(bytes int, took time.Duration, now time.Time) bool {
	if !a.at.IsZero() {
		a.spent -= now.Sub(a.at) / dearShare
	}
	a.at = now
	a.spent = max(0, a.spent-time.Duration(bytes)*dearPerByte) + took
	return a.spent <= dearAtOnce
}

// find looks for what o waits for in a line or a title. The wait that has taken most is given up when they take too much.
func (w *Waits) find(o *waiting, line string) (matched string, ok bool) {
	if o.Condition.regex == nil {
		return o.Condition.find(line)
	}
	if o.dear {
		return "", false
	}
	began := time.Now()
	matched, ok = o.Condition.find(line)
	now := time.Now()
	took := now.Sub(began)
	o.took += took
	if !w.allowed.take(len(line), took, now) {
		dearest := o
		for _, other := range w.open {
			if !other.dear && other.took > dearest.took {
				dearest = other
			}
		}
		dearest.dear = true
		w.allowed.spent = 0 // the others get what it had
	}
	return matched, ok
}
