package control

import "time"

// Times of a confirmation.
const (
	// ConfirmFor is how long input waits for the user's word when its agent sets no limit of its own.
	ConfirmFor = 30 * time.Second
	// A further press of the key that gave control or let input through is taken for the same wish for again, and as long
	// as presses follow one another within repeat: a held key repeats after 650 ms at the latest, and then every 40 ms. It
	// must not answer the next question, and is nothing that the user types.
	again  = 700 * time.Millisecond
	repeat = 150 * time.Millisecond
)

// Confirmation is the pending confirmation: input of the agent that has control, which the user has to let through. Its texts are what the user reads.
type Confirmation struct {
	// Keys is everything that would be sent, never empty.
	Keys string
	// Mouse says that Keys are what the mouse would do, in words.
	Mouse bool
	// Line is what the agent typed before, since the program's line was last submitted; "" for nothing.
	Line string
	// Until is when the input is given up.
	Until time.Time
}

// AskConfirmation puts input to the user: the grant does not cover it. There is one at a time; Decision says what became of it, and when
// control ends it is over as well. The error says that nobody can be asked.
func (m *Machine) AskConfirmation(now time.Time, c Confirmation) error {
	m.Tick(now)
	switch {
	case m.phase != Granted:
		return ErrNoGrant
	case !m.conf.Keyboard:
		return ErrNobody
	}
	m.pending, m.decided, m.let = c, false, false
	m.ask(now)
	return nil
}

// Decision is what became of the pending confirmation, once: the user let it through, or nobody decided in time. That the user refused is
// no decision: the reclaim key says so, and takes the keyboard back with it.
func (m *Machine) Decision() (decided, let bool) {
	decided, let = m.decided, m.let
	m.decided, m.let = false, false
	return decided, let
}

// WithdrawConfirmation takes the question back: the input is gone.
func (m *Machine) WithdrawConfirmation() {
	if m.confirming() {
		m.pending, m.shown = Confirmation{}, time.Time{}
		m.over(m.latest, m.agent.ID, false)
	}
	m.decided, m.let = false, false
}

func (m *Machine) confirming() bool { return m.pending.Keys != "" }

// decide ends the wait for the confirmation.
func (m *Machine) decide(now time.Time, let bool) {
	m.pending, m.decided, m.let, m.shown = Confirmation{}, true, let, time.Time{}
	m.over(now, m.agent.ID, let)
}

// answered notes that the user answered by the key that gives control.
func (m *Machine) answered(now time.Time) { m.agreed, m.pressed, m.ignored = now, now, 0 }

// repeats reports whether a press of that key belongs to the answer before.
func (m *Machine) repeats(now time.Time) bool {
	if m.agreed.IsZero() || !now.Before(m.agreed.Add(again)) && !now.Before(m.pressed.Add(repeat)) {
		return false
	}
	m.pressed = now
	return true
}
