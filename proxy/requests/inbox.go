package requests

import (
	"slices"
	"sync"
)

// notesKept bounds what is kept for agents that do not ask.
const notesKept = 16

// inbox keeps what the user wrote to agents until they come for it. It may be used from any goroutine.
type inbox struct {
	mu    sync.Mutex
	notes []note
}

type note struct {
	to   string // id of the agent, "" for the first that comes
	text string
}

func (b *inbox) put(to, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, note{to, text})
	if len(b.notes) > notesKept {
		b.notes = b.notes[1:]
	}
}

// waits reports whether there is something for an agent.
func (b *inbox) waits(agentID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.notes, func(n note) bool { return n.isFor(agentID) })
}

// take is what an agent has not had yet, oldest first. One agent gets a note, once.
func (b *inbox) take(agentID string) (texts []string) {
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

// isFor reports whether an agent gets the note: who has no id gets none.
func (n note) isFor(agentID string) bool {
	return agentID != "" && (n.to == "" || n.to == agentID)
}
