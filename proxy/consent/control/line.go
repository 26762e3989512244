package control

import "time"

// Occupy notes that the agent's input waits because the user has something unsubmitted on the line,
// which line quotes. While it is there, the grant key lets the agent type all the same.
func (m *Machine) Occupy(now time.Time, line string) {
	m.Tick(now)
	if m.phase != Granted {
		return
	}
	if !m.occupied {
		m.startQuestion(now)
	}
	m.occupied, m.line = true, line
}

// Vacate notes that the line is free again, or that no input waits for it.
func (m *Machine) Vacate(now time.Time) {
	m.Tick(now)
	if m.occupied {
		m.occupied, m.line = false, ""
		m.startQuestion(now) // this question is over
	}
}

// Occupied reports whether the agent's input waits for the user's line.
func (m *Machine) Occupied() bool { return m.occupied }
