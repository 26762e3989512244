package requests

import (
	"slices"
	"sync"
)

// lettersKept bounds what is kept for agents that do not ask.
const lettersKept = 16

// inbox keeps what the user wrote to agents until they come for it. It may be used from any goroutine.
type inbox struct {
	mu      sync.Mutex
	letters []letter
}

type letter struct {
	to   string // id of the agent, "" for the first that comes
	text string
}

func (b *inbox) put(to, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = append(b.letters, letter{to, text})
	if len(b.letters) > lettersKept {
		b.letters = b.letters[1:]
	}
}

// waits reports whether there is something for an agent.
func (b *inbox) waits(agentID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.letters, func(l letter) bool { return l.isFor(agentID) })
}

// take is what an agent has not had yet, oldest first. One agent gets a letter, once.
func (b *inbox) take(agentID string) (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = slices.DeleteFunc(b.letters, func(l letter) bool {
		if l.isFor(agentID) {
			texts = append(texts, l.text)
			return true
		}
		return false
	})
	return texts
}

// isFor reports whether an agent gets the letter: who has no id gets none.
func (l letter) isFor(agentID string) bool {
	return agentID != "" && (l.to == "" || l.to == agentID)
}
