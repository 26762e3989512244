package control

import (
	"time"

	"terminalproxy/proxy/consent/question"
)

// ConfirmFor is how long input waits for a confirmation if its agent sets no limit of its own.
const ConfirmFor = 30 * time.Second

// held is input of the driving agent that waits for the user.
type held struct {
	pending    Confirmation // input that waits for consent, or zero
	decided    bool         // a confirmation has ended, and TakeDecision was not called yet
	letThrough bool         // the user let it through
	occupied   bool         // input waits for the user's line
	line       string       // the text of that line
	types      string       // what that input would type
	asks       *question.Question
}

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
	case !m.driven:
		return ErrNoGrant
	case !m.conf.Keyboard:
		return ErrNobody
	}
	m.endHeld(now)
	m.pending = c
	m.askAboutInput(now, question.Input, func(now time.Time) { m.endConfirmation(now, true) })
	return nil
}

// askAboutInput puts a question about held input to the user; yes is called if they let it through.
func (m *Machine) askAboutInput(now time.Time, kind question.Kind, yes func(now time.Time)) {
	m.asks = question.New(kind, m.agent, func(now time.Time, let bool) {
		if let { // otherwise the key ends control, and all its input
			yes(now)
		}
	})
	m.Add(now, m.asks)
}

// endHeld forgets the held input and its question.
func (m *Machine) endHeld(now time.Time) {
	m.Queue.End(now, m.asks, question.Withdrawn, "")
	m.held = held{}
}

// TakeDecision returns, once, how the pending confirmation ended: the user let the input through,
// or it expired. A refusal is not a decision: the user refuses with the reclaim key, which ends
// control.
func (h *held) TakeDecision() (decided, let bool) {
	decided, let = h.decided, h.letThrough
	h.decided, h.letThrough = false, false
	return decided, let
}

// WithdrawConfirmation closes the question because the input is gone.
func (m *Machine) WithdrawConfirmation() {
	if m.pending.Keys != "" {
		m.endHeld(m.latest)
	}
	m.decided, m.letThrough = false, false
}

func (m *Machine) endConfirmation(now time.Time, let bool) {
	m.endHeld(now)
	m.decided, m.letThrough = true, let
}

// OccupyLine notes that the agent's input, described by types, waits because the user has
// unsubmitted text on the line, quoted by line. Meanwhile the grant key lets the agent type anyway.
func (m *Machine) OccupyLine(now time.Time, line, types string) {
	m.Tick(now)
	if !m.driven {
		return
	}
	if !m.occupied {
		m.askAboutInput(now, question.Line, m.VacateLine)
	}
	m.occupied, m.line, m.types = true, line, types
}

// VacateLine notes that the line is free again, or that no input waits for it.
func (m *Machine) VacateLine(now time.Time) {
	m.Tick(now)
	if m.occupied {
		m.endHeld(now)
	}
}

// IsLineOccupied reports whether the agent's input waits for the user's line.
func (h *held) IsLineOccupied() bool { return h.occupied }
