package control

import "time"

// Times until the key that gives control counts as the answer to a question.
const (
	// Drawn is how long a question must have been on the screen: keys that were pressed before it appeared were meant for
	// something else.
	Drawn = 300 * time.Millisecond
	// DrawnUnawares is that for a question which the user does not expect: they pressed a key within TypingFor before it came,
	// or since, or another question stood there within AnotherFor. Their Ctrl+G may be meant for the program, or for that.
	DrawnUnawares = 1500 * time.Millisecond
	// TypingFor is described with DrawnUnawares.
	TypingFor = 5 * time.Second
	// AnotherFor is described with DrawnUnawares.
	AnotherFor = 10 * time.Second
)

// past is the newest question that is over, or the end of a grant.
type past struct {
	at       time.Time
	agent    string // id of the agent whose it was, "" for the menu and for prompts
	answered bool   // the user gave control or let the input through
}

// ask begins a new question to the user, or says that there is none any more: it has yet to be drawn, and what is drawn of an
// earlier one says nothing of it.
func (m *Machine) ask(now time.Time) {
	m.question++
	m.shown, m.begun = time.Time{}, now
	m.unawares = m.surprises(now)
	m.another = m.phase == Asked && within(now, m.past.at, AnotherFor) && m.past.agent != "" && m.past.agent != m.agent.ID
}

// surprises reports whether the question that begins now comes unawares. The menu never does. Input to confirm that follows on one
// which the user let through is the rhythm of working together: the next Ctrl+G is meant for it.
func (m *Machine) surprises(now time.Time) bool {
	switch {
	case !m.menu.IsZero():
		return false
	case within(now, m.typed, TypingFor):
		return true
	}
	rhythm := m.confirming() && m.past.answered
	return within(now, m.past.at, AnotherFor) && !rhythm
}

// over notes that a question is.
func (m *Machine) over(now time.Time, agentID string, answered bool) {
	m.past = past{at: now, agent: agentID, answered: answered}
}

// closeMenu closes the menu, if it is open.
func (m *Machine) closeMenu(now time.Time) {
	if !m.menu.IsZero() {
		m.menu, m.shown = time.Time{}, time.Time{}
		m.over(now, "", false)
	}
}

// Shown tells the machine that the present question (request, menu or confirmation) stands on the user's screen since now.
// Whoever draws compares the numbers of the questions: one that was drawn before may be over.
func (m *Machine) Shown(now time.Time) {
	if m.shown.IsZero() && !m.message.Open && (m.phase == Asked || !m.menu.IsZero() || m.confirming() || m.occupied || m.dismissible()) {
		m.shown = now
	}
}

// Unshown tells the machine that the present question can no longer be read: the window became too small for it.
func (m *Machine) Unshown() { m.shown = time.Time{} }

// Question is the number of the newest question.
func (m *Machine) Question() uint64 { return m.question }

// answerable reports whether the question has been readable long enough for a key to be meant as its answer.
func (m *Machine) answerable(now time.Time) bool {
	least := Drawn
	if m.unawares || m.menu.IsZero() && m.typed.After(m.begun) {
		least = DrawnUnawares
	}
	return !m.shown.IsZero() && now.Sub(m.shown) >= least
}

// within reports whether now is less than d after t; the zero time is long ago.
func within(now, t time.Time, d time.Duration) bool { return !t.IsZero() && now.Sub(t) < d }
