package question

import "time"

// Times of the two keys.
const (
	// SwallowFor is how long the reclaim key is swallowed after a question, or an agent's control,
	// has ended: people press twice and keys repeat, and a stray press would kill a program with
	// SIGQUIT.
	SwallowFor = 1500 * time.Millisecond
	// SwallowMore is how much each swallowed key prolongs that: a held key repeats every 40 ms,
	// after 650 ms at first.
	SwallowMore = 700 * time.Millisecond
	// Further presses of a key count as the same press for repeatFor, and as long as they follow
	// one another within repeatGap. They must not answer the next question, and the program does
	// not get them.
	repeatFor = 700 * time.Millisecond
	repeatGap = 150 * time.Millisecond
	// strayFor is how long typed keys are dropped after a press of the grant key that was meant for
	// a password, and after each dropped key: a person who has not noticed types the password.
	strayFor = 2 * time.Second
)

// NoteGrantKey notes that the user pressed the grant key; inText means that its bytes came as part
// of a text, as in a paste, where they answer nothing. If it does not take the key, the key is the
// program's.
func (q *Queue) NoteGrantKey(now time.Time, inText bool) (took bool) {
	c := q.Current()
	inText = inText || q.followed
	switch {
	case q.agreed.isRepeated(now):
		q.ignored = c != nil && !c.Typing
	case c == nil, c.Kind == Prompt && q.shown.IsZero():
		// A prompt that the user was not told of is not a question.
		q.ignored = !inText && q.isForVanished(now, MinShownUnexpected)
		return q.ignored
	case c.Typing:
	case inText || !q.IsAnswerable(now):
		// Pressed before the question could be read: it is neither an answer nor, most likely, the
		// program's.
		q.ignored = true
	default:
		q.agreed, q.stray = press{now, now}, time.Time{}
		if c.Kind.IsTyped() {
			q.openLine(c)
			break
		}
		q.countEnding(now, c, Answered)
		q.remove(now, 0, false)
		c.Answer(now, true)
	}
	return true
}

// NoteReplyKey notes that the user pressed the grant key while they could read an agent's message,
// since shown. answers means that the key is meant for that, by the times that hold for a question.
// NoteReplyKey takes a key that comes too early, and the queue drops what is typed after it.
func (q *Queue) NoteReplyKey(now, shown time.Time) (took, answers bool) {
	least := MinShown
	if q.isUnexpected(shown) || q.typed.After(shown) {
		least = MinShownUnexpected
	}
	switch {
	case q.Current() != nil, q.followed, q.agreed.isRepeated(now),
		q.isForVanished(now, MinShownUnexpected):
		return false, false
	case now.Sub(shown) < least:
		q.stray, q.ignored = now.Add(strayFor), true
		return true, false
	}
	q.agreed, q.stray = press{now, now}, time.Time{}
	return true, true
}

// press is a press of a key that may be held.
type press struct{ began, last time.Time }

// isRepeated reports whether the key, pressed now, is still the same press.
func (p *press) isRepeated(now time.Time) bool {
	if !isWithin(now, p.began, repeatFor) && !isWithin(now, p.last, repeatGap) {
		return false
	}
	p.last = now
	return true
}

// isForVanished reports whether a press of the grant key, and what is typed after it, may be meant
// for a question that vanished less than d ago and whose answer is typed.
func (q *Queue) isForVanished(now time.Time, d time.Duration) bool {
	return q.last.vanished && q.last.kind.IsTyped() && isWithin(now, q.last.at, d)
}

// NoteReclaimKey notes that the user pressed the reclaim key, which refuses the present question.
// stopped means that the press has just stopped an agent: then a question that the user could not
// read before stays. If it does not take the key, the key is the program's; free means that no
// question had a use for it.
func (q *Queue) NoteReclaimKey(now time.Time, stopped bool) (took, free bool) {
	repeated := q.reclaimed.isRepeated(now)
	if !repeated {
		q.reclaimed = press{now, now}
	}
	q.typed, q.stray = now, time.Time{}
	c := q.Current()
	isMeant := c != nil && (c.Unasked || q.isReadableFor(now, MinShown) && !repeated)
	switch {
	case c != nil && c.Typing:
		q.refuseCurrent(now)
	case !isMeant && (stopped || now.Before(q.swallowed)):
		if until := now.Add(SwallowMore); q.swallowed.Before(until) {
			q.swallowed = until
		}
	case c == nil, c.Kind == Prompt:
		return true, true
	case c.Kind != Menu:
		q.refuseCurrent(now)
	case q.IsAnswerable(now):
		q.CloseMenu(now)
		return false, false
	}
	return true, false
}

func (q *Queue) refuseCurrent(now time.Time) {
	c := q.Current()
	q.wipe()
	gone := c.Closed != ""
	if !gone {
		q.countEnding(now, c, Refused)
	}
	q.remove(now, 0, false)
	if !gone {
		c.Answer(now, false)
		q.RefuseAll(now, c.Agent)
	}
}

// NoteTyped notes that the user typed something: a question that comes now is unexpected, and the
// next press of the grant key is a new one.
func (q *Queue) NoteTyped(now time.Time) {
	q.typed, q.agreed = now, press{}
	q.ignored = q.ignored && q.Current() != nil
}
