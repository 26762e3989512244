package protocol

import (
	"slices"
	"sync"
	"sync/atomic"
)

// frame is the frame of a message with several receivers.
type frame struct {
	once  sync.Once
	bytes []byte
	err   error
}

// sharing is what a snapshot that many get was made into: its frame, and what of it is news to
// those who have another one.
type sharing struct {
	frame
	of   *Snapshot // a copy of it is another message
	rows uint64    // snapshots with the same number have the same rows
	mu   sync.Mutex
	news map[sharedNews]*Snapshot
	// briefs are what [Snapshot.Brief] makes for those who have another one, nil for nothing.
	briefs map[*Snapshot]*Snapshot
}

// sharedNews says to whom something is news: to who has these rows, and knows of rows that moved.
type sharedNews struct {
	rows  uint64
	moves bool
}

// shares numbers the rows of shared snapshots. 0 means unshared.
var shares atomic.Uint64

// Share returns s for many peers: its frame is made once, and so are the differences for peers that
// have the same snapshot. rows is a shared snapshot with the same rows, or nil. s must not change
// afterwards.
func (s *Snapshot) Share(rows *Snapshot) *Snapshot {
	n := rows.sharedRows()
	if n == 0 {
		n = shares.Add(1)
	}
	s.shared = &sharing{of: s, rows: n}
	return s
}

// WithRows is s where it is shared and has the revision and the rows of another one, else nil.
func (s *Snapshot) WithRows(of *Snapshot) *Snapshot {
	if s.sharedRows() == 0 || s.Seq != of.Seq || of.Screen == nil ||
		!slices.Equal(s.Screen.Lines, of.Screen.Lines) {
		return nil
	}
	return s
}

// sharedRows numbers the rows of a shared snapshot, 0 for any other one.
func (s *Snapshot) sharedRows() uint64 {
	if s == nil || s.shared == nil || s.shared.of != s {
		return 0
	}
	return s.shared.rows
}

// NewsOrBrief is [Snapshot.News] for a peer that takes what [Snapshot.Brief] makes.
func (s *Snapshot) NewsOrBrief(last *Snapshot, moves bool) *Snapshot {
	if brief := s.sharedBrief(last); brief != nil {
		return brief
	}
	return s.News(last, moves)
}

// sharedBrief is [Snapshot.Brief], made once for all who have the same.
func (s *Snapshot) sharedBrief(last *Snapshot) *Snapshot {
	if s.sharedRows() == 0 || !s.Settled || last.sharedRows() != s.shared.rows {
		return nil
	}
	h := s.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	brief, known := h.briefs[last]
	if !known {
		if brief = s.Brief(last); brief != nil {
			brief.Share(nil)
		}
		if h.briefs == nil {
			h.briefs = make(map[*Snapshot]*Snapshot)
		}
		h.briefs[last] = brief
	}
	return brief
}

// sharedNews is [Snapshot.News] of a shared snapshot to who has another one, or nothing.
func (s *Snapshot) sharedNews(last *Snapshot, moves bool) *Snapshot {
	k := sharedNews{last.sharedRows(), moves}
	h := s.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	part := h.news[k]
	if part == nil {
		if h.news == nil {
			h.news = make(map[sharedNews]*Snapshot)
		}
		part = s.ownNews(last, moves).Share(nil)
		h.news[k] = part
	}
	return part
}
