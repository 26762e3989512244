package hub

import "sync/atomic"

// Stats counts what is in the switchboard at one moment, and what has gone through it.
type Stats struct {
	Sessions     map[string]int // by state, see package protocol
	Participants map[string]int // by role
	// Waiting is how many requests a proxy has not answered yet.
	Waiting int
	// Views are the screens that somebody looks at, each as often as somebody does; Unacknowledged are those of them whose viewer has a
	// frame that it did not acknowledge. Frames is how many were sent to viewers.
	Views, Unacknowledged int
	Frames                uint64
	// Dropped is what slow readers were not sent, since newer came in its place: "frame" of a viewer, "snapshot" of a subscriber, and
	// "output" of who watches live output. "participant" are those that were cut off, because they did not read at all.
	Dropped map[string]uint64
}

// counters is what Stats counts over time.
type counters struct {
	frames                                              atomic.Uint64
	droppedFrames, droppedSnapshots, droppedOutput, cut atomic.Uint64
}

// Stats counts everything, of all namespaces.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := &h.counters
	out := Stats{
		Sessions: make(map[string]int), Participants: make(map[string]int), Frames: n.frames.Load(),
		Dropped: map[string]uint64{
			"frame": n.droppedFrames.Load(), "snapshot": n.droppedSnapshots.Load(), "output": n.droppedOutput.Load(), "participant": n.cut.Load(),
		},
	}
	for _, s := range h.sessions {
		out.Sessions[s.info.State]++
		out.Views += len(s.gallery.viewers)
		for _, v := range s.gallery.viewers {
			if !v.ready {
				out.Unacknowledged++
			}
		}
	}
	for p := range h.peers {
		if !p.member.Remote { // it is counted where it is
			out.Participants[string(p.member.Role)]++
		}
		out.Waiting += len(p.asked)
	}
	return out
}
