package observer

import "time"

// startsFor is how long a program may take until its blank screen counts as what it shows.
const startsFor = 2 * time.Second

// isSilentStart reports whether the program began a moment ago and has shown nothing yet. An editor
// that reads its plugins is silent, and polls its terminal like one that waits for keys.
func (o *Observer) isSilentStart(now time.Time) bool { return now.Before(o.blankUntil) }

// setStartTime notes when the program began. The zero time means that it has shown something, or is
// gone.
func (o *Observer) setStartTime(at time.Time) {
	o.blankUntil = at
	if !at.IsZero() {
		o.blankUntil = at.Add(startsFor)
	}
	o.throttle.SetBlankUntil(o.blankUntil)
}

// isBlank reports whether the screen and the history have no character.
func (o *Observer) isBlank() bool {
	_, rows := o.model.Size()
	for row := range rows {
		if o.model.RowText(row) != "" {
			return false
		}
	}
	return o.model.HistoryLen() == 0
}
