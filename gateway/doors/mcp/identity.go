package mcp

import "sync"

// identity is the gateway's name for this agent.
type identity struct {
	mu      sync.Mutex
	agentID string
}

// ownID returns this agent's id, "" before its first grant.
func (i *identity) ownID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.agentID
}

// learnID notes the id that a grant names. "" changes nothing.
func (i *identity) learnID(agentID string) {
	if agentID == "" {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.agentID = agentID
}
