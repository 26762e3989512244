package control

import "time"

// Times after which the grant key counts as the answer to a question.
const (
	// MinShown is how long a question must have been on the screen: keys pressed before that were
	// meant for something else.
	MinShown = 300 * time.Millisecond
	// MinShownUnexpected is the same for a question that the user does not expect: they pressed a
	// key within TypingFor before it came, or since, or another question was there within
	// AnotherFor. Their Ctrl+G may be meant for the program, or for the other question.
	MinShownUnexpected = 1500 * time.Millisecond
	// TypingFor is described at MinShownUnexpected.
	TypingFor = 5 * time.Second
	// AnotherFor is described at MinShownUnexpected.
	AnotherFor = 10 * time.Second
)

// endedQuestion is a question, or a grant, that has ended.
type endedQuestion struct {
	at       time.Time
	agent    string // id of its agent; "" for the menu and for prompts
	answered bool   // the user gave control or let the input through
}

// startQuestion begins a new question to the user, or ends the last one. It counts as not drawn
// until NoteShown: only the drawing of an earlier question may be on the screen.
func (g *grant) startQuestion(now time.Time) {
	g.number++
	g.shown, g.begun = time.Time{}, now
	g.unexpected = g.isUnexpected(now)
	g.another = g.phase == Asked && isWithin(now, g.lastQuestion.at, AnotherFor) && g.lastQuestion.agent != "" &&
		g.lastQuestion.agent != g.agent.ID
}

// isUnexpected reports whether the question that begins now is unexpected. The menu never is. A
// confirmation that follows one which the user allowed belongs to the rhythm of working together:
// the next Ctrl+G is meant for it.
func (q *question) isUnexpected(now time.Time) bool {
	switch {
	case !q.menu.IsZero():
		return false
	case isWithin(now, q.typed, TypingFor):
		return true
	}
	rhythm := q.isConfirming() && q.lastQuestion.answered
	return isWithin(now, q.lastQuestion.at, AnotherFor) && !rhythm
}

// endQuestion notes that a question is over.
func (q *question) endQuestion(now time.Time, agentID string, answered bool) {
	q.lastQuestion = endedQuestion{at: now, agent: agentID, answered: answered}
}

func (q *question) closeMenu(now time.Time) {
	if !q.menu.IsZero() {
		q.menu, q.shown = time.Time{}, time.Time{}
		q.endQuestion(now, "", false)
	}
}

// NoteShown notes that the present question (request, menu or confirmation) is on the user's screen
// from now on. The caller compares the numbers of the questions: one that was drawn before may be
// over.
func (g *grant) NoteShown(now time.Time) {
	if g.shown.IsZero() && !g.message.Open &&
		(g.phase == Asked || !g.menu.IsZero() || g.isConfirming() || g.occupied ||
			g.isDismissible()) {
		g.shown = now
	}
}

// NoteUnshown notes that the present question can no longer be read: the window became too small
// for it.
func (q *question) NoteUnshown() { q.shown = time.Time{} }

// Question returns the number of the newest question.
func (q *question) Question() uint64 { return q.number }

// isAnswerable reports whether the question has been readable long enough for a key to be meant as
// its answer.
func (q *question) isAnswerable(now time.Time) bool {
	minShown := MinShown
	if q.unexpected || q.menu.IsZero() && q.typed.After(q.begun) {
		minShown = MinShownUnexpected
	}
	return !q.shown.IsZero() && now.Sub(q.shown) >= minShown
}

// isWithin reports whether now is less than d after t; the zero time is long ago.
func isWithin(now, t time.Time, d time.Duration) bool { return !t.IsZero() && now.Sub(t) < d }
