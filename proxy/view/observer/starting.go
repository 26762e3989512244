package observer

import "time"

// startsFor is how long a program may take until its blank screen counts as its output.
const startsFor = 2 * time.Second

// isSilentStart reports whether the program began a moment ago and has shown nothing yet. An editor
// that reads its plugins is silent, and polls its terminal like one that waits for keys.
func (r *rhythm) isSilentStart(now time.Time) bool { return now.Before(r.blankUntil) }

// setStartTime notes when the program began. The zero time means that it has shown something, or is
// gone.
func (r *rhythm) setStartTime(at time.Time) {
	r.blankUntil = at
	if !at.IsZero() {
		r.blankUntil = at.Add(startsFor)
	}
	r.throttle.SetBlankUntil(r.blankUntil)
}

// isBlank reports whether the screen and the history have no character.
func (v *shownScreen) isBlank() bool {
	_, rows := v.model.Size()
	for row := range rows {
		if v.model.RowText(row) != "" {
			return false
		}
	}
	return v.model.HistoryLen() == 0
}
