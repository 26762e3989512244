package requests

import (
	"slices"
	"sync"
)

// notesKept bounds the messages kept for agents that do not fetch them.
const notesKept = 16

// inbox keeps the user's messages until the agents fetch them. It is safe for concurrent use.
type inbox struct {
	mu    sync.Mutex
	notes []note
}

type note struct {
	to   string // id of the agent, "" for the first to fetch it
	text string
}

func (b *inbox) addNote(to, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, note{to, text})
	if len(b.notes) > notesKept {
		b.notes = b.notes[1:]
	}
}

// hasNote reports whether a message waits for an agent.
func (b *inbox) hasNote(agentID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.notes, func(n note) bool { return n.isFor(agentID) })
}

// takeNotes removes and returns an agent's messages, oldest first. Each message goes to one agent.
func (b *inbox) takeNotes(agentID string) (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = slices.DeleteFunc(b.notes, func(n note) bool {
		if n.isFor(agentID) {
			texts = append(texts, n.text)
			return true
		}
		return false
	})
	return texts
}

// isFor reports whether an agent may have the note; one without an id may not.
func (n note) isFor(agentID string) bool {
	return agentID != "" && (n.to == "" || n.to == agentID)
}
