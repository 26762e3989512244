package protocol

import (
	"cmp"
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
	of     *Snapshot // a copy of it is another message
	number uint64    // of the snapshot
	rows   uint64    // snapshots with the same number have the same rows
	mu     sync.Mutex
	news   map[sharedNews]*Snapshot
	// deltas are what [Snapshot.Delta] makes without content for those who have the snapshot with a
	// number. By a pointer, each snapshot would hold on to all those before it.
	deltas map[uint64]*SnapshotDelta
}

// sharedNews says to whom something is news: to who has these rows, and knows of rows that moved.
type sharedNews struct {
	rows  uint64
	moves bool
}

// shares numbers shared snapshots and their rows. 0 means unshared.
var shares atomic.Uint64

// Share returns s for many peers: its frame is made once, and so are the differences for peers that
// have the same snapshot. rows is a shared snapshot with the same rows, or nil. s must not change
// afterwards.
func (s *Snapshot) Share(rows *Snapshot) *Snapshot {
	number := shares.Add(1)
	s.shared = &sharing{of: s, number: number, rows: cmp.Or(rows.sharedRows(), number)}
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

// DeltaOrNews is [Snapshot.Delta] without content, or else [Snapshot.News].
func (s *Snapshot) DeltaOrNews(last *Snapshot, moves bool) Message {
	var d *SnapshotDelta
	if s.sharedRows() != 0 && last.sharedRows() != 0 {
		d = s.sharedDelta(last)
	} else {
		d = s.Delta(last, false)
	}
	if d == nil {
		return s.News(last, moves)
	}
	return d
}

// sharedDelta is [Snapshot.Delta] without content, made once for all who have the same.
func (s *Snapshot) sharedDelta(last *Snapshot) *SnapshotDelta {
	h := s.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	d, known := h.deltas[last.shared.number]
	if !known {
		if d = s.Delta(last, false); d != nil {
			d.shared = new(frame)
		}
		if h.deltas == nil {
			h.deltas = make(map[uint64]*SnapshotDelta)
		}
		h.deltas[last.shared.number] = d
	}
	return d
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
