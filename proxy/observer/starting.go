package observer

import "time"

// startsFor is how long a program may take until its blank screen counts as what it shows.
const startsFor = 2 * time.Second

// starting reports whether the program has shown nothing since it began a moment ago. An editor that reads its plugins is
// silent, and polls its terminal as one that waits for keys does.
func (o *Observer) starting(now time.Time) bool { return now.Before(o.blankUntil) }

// begins says when the program began; the zero time, that it has shown something, or is gone.
func (o *Observer) begins(at time.Time) {
	o.blankUntil = at
	if !at.IsZero() {
		o.blankUntil = at.Add(startsFor)
	}
	o.throttle.Starting(o.blankUntil)
}

// isBlank reports whether no character stands on the screen or above it.
func (o *Observer) isBlank() bool {
	_, rows := o.model.Size()
	for row := range rows {
		if o.model.RowText(row) != "" {
			return false
		}
	}
	return o.model.HistoryLen() == 0
}
