package control

import "time"

// OccupyLine notes that the agent's input waits, because the user has unsubmitted text on the line,
// quoted by line. Meanwhile the grant key lets the agent type anyway.
func (m *Machine) OccupyLine(now time.Time, line string) {
	m.Tick(now)
	if m.phase != Granted {
		return
	}
	if !m.occupied {
		m.startQuestion(now)
	}
	m.occupied, m.line = true, line
}

// VacateLine notes that the line is free again, or that no input waits for it.
func (m *Machine) VacateLine(now time.Time) {
	m.Tick(now)
	if m.occupied {
		m.occupied, m.line = false, ""
		m.startQuestion(now) // ends this question
	}
}

// IsLineOccupied reports whether the agent's input waits for the user's line.
func (q *question) IsLineOccupied() bool { return q.occupied }
