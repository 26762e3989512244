package hub

// Stats counts the hub's state at one moment, and its traffic so far.
type Stats struct {
	Sessions     map[string]int // by state, see package protocol
	Participants map[string]int // by role
	// Waiting counts the requests that proxies have not answered yet.
	Waiting int
	// Views counts viewers, Unacknowledged those that have not acknowledged their last frame, and
	// Frames the frames sent to viewers.
	Views, Unacknowledged int
	Frames                uint64
	// Dropped counts what slow readers were not sent because newer data replaced it: a viewer's
	// "frame", a subscriber's "snapshot", and live "output". "participant" counts those that were
	// cut off because they did not read.
	Dropped map[string]uint64
}

// Stats counts across all namespaces.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := &h.counters
	out := Stats{
		Sessions: make(map[string]int), Participants: make(map[string]int), Frames: n.frames.Load(),
		Dropped: map[string]uint64{
			"frame": n.droppedFrames.Load(), "snapshot": n.droppedSnapshots.Load(),
			"output": n.droppedOutput.Load(), "participant": n.cut.Load(),
		},
	}
	for _, s := range h.sessions {
		out.Sessions[s.info.State]++
		out.Views += len(s.rowStream.followers)
		for _, v := range s.rowStream.followers {
			if !v.ready {
				out.Unacknowledged++
			}
		}
	}
	for p := range h.peers {
		if !p.member.Remote { // its own gateway counts it
			out.Participants[string(p.member.Role)]++
		}
		out.Waiting += len(p.unanswered)
	}
	return out
}
