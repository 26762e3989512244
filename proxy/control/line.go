package control

import "time"

// Occupy tells the machine that the agent's input waits because the user has something unsubmitted on the line. line quotes
// it. While it stands, the key that gives control lets the agent type all the same.
func (m *Machine) Occupy(now time.Time, line string) {
	m.Tick(now)
	if m.phase != Granted {
		return
	}
	if !m.occupied {
		m.ask(now)
	}
	m.occupied, m.line = true, line
}

// Vacate tells the machine that the line is free again, or that no input waits for it.
func (m *Machine) Vacate(now time.Time) {
	m.Tick(now)
	if m.occupied {
		m.occupied, m.line = false, ""
		m.ask(now) // or none, but not this one any more
	}
}

// Occupied reports whether the agent's input waits for the user's line.
func (m *Machine) Occupied() bool { return m.occupied }
