package control

import "time"

// Times of a confirmation.
const (
	// ConfirmFor is how long input waits for a confirmation if its agent sets no limit of its own.
	ConfirmFor = 30 * time.Second
	// Further presses of the key that gave control or let input through count as the same press for
	// repeatFor, and as long as they follow one another within repeatGap: a held key repeats after
	// at most 650 ms, and then every 40 ms. They must not answer the next question, and the program
	// does not get them.
	repeatFor = 700 * time.Millisecond
	repeatGap = 150 * time.Millisecond
)

// Confirmation is input of the driving agent that waits for the user's consent. The user reads its
// texts.
type Confirmation struct {
	// Keys is everything that would be sent; it is never empty.
	Keys string
	// Mouse means that Keys describes in words what the mouse would do.
	Mouse bool
	// Line is the agent's text since the program's line was last submitted.
	Line string
	// Until is when the input expires.
	Until time.Time
}

// AskConfirmation asks the user about input that the grant does not cover. Only one question can be
// open. TakeDecision returns the answer; the end of control also ends the question. It fails if no
// person can be asked.
func (m *Machine) AskConfirmation(now time.Time, c Confirmation) error {
	m.Tick(now)
	switch {
	case m.phase != Granted:
		return ErrNoGrant
	case !m.conf.Keyboard:
		return ErrNobody
	}
	m.pending, m.decided, m.letThrough = c, false, false
	m.startQuestion(now)
	return nil
}

// TakeDecision returns, once, how the pending confirmation ended: the user let the input through,
// or it expired. A refusal is not a decision: the user refuses with the reclaim key, which ends
// control.
func (q *question) TakeDecision() (decided, let bool) {
	decided, let = q.decided, q.letThrough
	q.decided, q.letThrough = false, false
	return decided, let
}

// WithdrawConfirmation closes the question because the input is gone.
func (g *grant) WithdrawConfirmation() {
	if g.isConfirming() {
		g.pending, g.shown = Confirmation{}, time.Time{}
		g.endQuestion(g.latest, g.agent.ID, false)
	}
	g.decided, g.letThrough = false, false
}

func (q *question) isConfirming() bool { return q.pending.Keys != "" }

func (g *grant) endConfirmation(now time.Time, let bool) {
	g.pending, g.decided, g.letThrough, g.shown = Confirmation{}, true, let, time.Time{}
	g.endQuestion(now, g.agent.ID, let)
}

// noteAnswer notes that the user answered by the grant key.
func (q *question) noteAnswer(now time.Time) { q.agreed, q.pressed, q.ignored = now, now, 0 }

// isRepeatedPress reports whether a press of the grant key belongs to the answer before.
func (q *question) isRepeatedPress(now time.Time) bool {
	if q.agreed.IsZero() ||
		!now.Before(q.agreed.Add(repeatFor)) && !now.Before(q.pressed.Add(repeatGap)) {
		return false
	}
	q.pressed = now
	return true
}
