package hub

// Stats counts what is in the switchboard at one moment.
type Stats struct {
	Sessions     map[string]int // by state, see package protocol
	Participants map[string]int // by role
	// Waiting is how many requests a proxy has not answered yet.
	Waiting int
}

// Stats counts everything, of all namespaces.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := Stats{Sessions: make(map[string]int), Participants: make(map[string]int)}
	for _, s := range h.sessions {
		out.Sessions[s.info.State]++
	}
	for p := range h.peers {
		out.Participants[string(p.member.Role)]++
		out.Waiting += len(p.asked)
	}
	return out
}
