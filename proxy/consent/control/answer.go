package control

import "time"

// Times until the grant key counts as the answer to a question.
const (
	// Drawn is how long a question must have been on the screen: keys pressed before it appeared
	// were meant for something else.
	Drawn = 300 * time.Millisecond
	// DrawnUnawares is the same for a question that the user does not expect: they pressed a key
	// within TypingFor before it came, or since, or another question was there within AnotherFor.
	// Their Ctrl+G may be meant for the program, or for the other question.
	DrawnUnawares = 1500 * time.Millisecond
	// TypingFor is described at DrawnUnawares.
	TypingFor = 5 * time.Second
	// AnotherFor is described at DrawnUnawares.
	AnotherFor = 10 * time.Second
)

// past is the last question that ended, or the end of a grant.
type past struct {
	at       time.Time
	agent    string // id of its agent; "" for the menu and for prompts
	answered bool   // the user gave control or let the input through
}

// startQuestion begins a new question to the user, or ends the last one. It is not drawn yet; the
// drawing of an earlier question does not count.
func (m *Machine) startQuestion(now time.Time) {
	m.question++
	m.shown, m.begun = time.Time{}, now
	m.unawares = m.isUnexpected(now)
	m.another = m.phase == Asked && isWithin(now, m.past.at, AnotherFor) && m.past.agent != "" &&
		m.past.agent != m.agent.ID
}

// isUnexpected reports whether the question that begins now is unexpected. The menu never is. A
// confirmation that follows one which the user allowed belongs to the rhythm of working together:
// the next Ctrl+G is meant for it.
func (m *Machine) isUnexpected(now time.Time) bool {
	switch {
	case !m.menu.IsZero():
		return false
	case isWithin(now, m.typed, TypingFor):
		return true
	}
	rhythm := m.isConfirming() && m.past.answered
	return isWithin(now, m.past.at, AnotherFor) && !rhythm
}

// endQuestion notes that a question is over.
func (m *Machine) endQuestion(now time.Time, agentID string, answered bool) {
	m.past = past{at: now, agent: agentID, answered: answered}
}

func (m *Machine) closeMenu(now time.Time) {
	if !m.menu.IsZero() {
		m.menu, m.shown = time.Time{}, time.Time{}
		m.endQuestion(now, "", false)
	}
}

// NoteShown notes that the present question (request, menu or confirmation) is on the user's screen
// from now on. The caller compares the numbers of the questions: one that was drawn before may be
// over.
func (m *Machine) NoteShown(now time.Time) {
	if m.shown.IsZero() && !m.message.Open &&
		(m.phase == Asked || !m.menu.IsZero() || m.isConfirming() || m.occupied ||
			m.isDismissible()) {
		m.shown = now
	}
}

// NoteUnshown notes that the present question can no longer be read: the window became too small
// for it.
func (m *Machine) NoteUnshown() { m.shown = time.Time{} }

// Question returns the number of the newest question.
func (m *Machine) Question() uint64 { return m.question }

// isAnswerable reports whether the question has been readable long enough for a key to be meant as
// its answer.
func (m *Machine) isAnswerable(now time.Time) bool {
	minShown := Drawn
	if m.unawares || m.menu.IsZero() && m.typed.After(m.begun) {
		minShown = DrawnUnawares
	}
	return !m.shown.IsZero() && now.Sub(m.shown) >= minShown
}

// isWithin reports whether now is less than d after t; the zero time is long ago.
func isWithin(now, t time.Time, d time.Duration) bool { return !t.IsZero() && now.Sub(t) < d }
