package observer

import "time"

// Sizes and times of the spool.
const (
	// spoolMax is how much output may wait for the model before the copier reads no more of it, in bytes, and wakeAt is how much
	// has the model woken. The model is faster than a PTY, so the spool is only ever full for a moment. Where it is not, the
	// program waits as for a slow terminal, and the user has all that was read.
	spoolMax = 1 << 20
	wakeAt   = 32 << 10
	// While nobody looks, that much may wait, and for so long: then it is the user alone who waits for output, and the model takes
	// no processor from the program and the terminal.
	unseenMost = 8 << 20
	unseenFor  = 500 * time.Millisecond
	// blockSize is the size of a piece of the spool, and sparesMost how many are kept for what comes next.
	blockSize  = 32 << 10
	sparesMost = 8
	spentFrom  = 1 << 20 // what was fed at once from which on the memory is worth giving back
)

// spool is output that waits for the model, in pieces: a large one would have to be copied as it grows. It belongs to the
// observer's lock.
type spool struct {
	blocks [][]byte
	off    int    // of the first block that was taken already
	size   int    // of what waits, and of what was taken and not fed yet
	added  uint64 // since the start
	began  time.Time
	spares [][]byte
}

// add appends a copy of p.
func (s *spool) add(p []byte) {
	if len(s.blocks) == 0 {
		s.began = time.Now()
	}
	s.size += len(p)
	s.added += uint64(len(p))
	for len(p) > 0 {
		last := len(s.blocks) - 1
		if last < 0 || len(s.blocks[last]) == cap(s.blocks[last]) {
			s.blocks = append(s.blocks, s.block())
			last++
		}
		b := s.blocks[last]
		n := min(len(p), cap(b)-len(b))
		s.blocks[last], p = append(b, p[:n]...), p[n:]
	}
}

func (s *spool) block() []byte {
	last := len(s.spares) - 1
	if last < 0 {
		return make([]byte, 0, blockSize)
	}
	b := s.spares[last]
	s.spares = s.spares[:last]
	return b
}

// take returns the first piece of what waits, at most limit bytes of it and nil if limit is 0. It comes back with fed.
func (s *spool) take(limit uint64) []byte {
	if len(s.blocks) == 0 || limit == 0 {
		return nil
	}
	b := s.blocks[0][s.off:]
	if uint64(len(b)) > limit {
		s.off += int(limit) //nolint:gosec // less than the length of b
		return b[:limit]
	}
	s.off = 0
	s.blocks[0] = nil
	if s.blocks = s.blocks[1:]; len(s.blocks) == 0 {
		s.blocks = nil
	}
	return b
}

// fed takes back a piece that the model was fed.
func (s *spool) fed(b []byte) {
	s.size -= len(b)
	if cap(b) == blockSize && len(s.spares) < sparesMost {
		s.spares = append(s.spares, b[:0])
	}
}

// Feed queues output for the model; Wake makes it be taken. It does not wait, and takes any amount: while full, the model is behind
// by too much, and whoever feeds waits until HasRoom. due says that the model is to be woken now, and unseen that nobody looks:
// unless it is due, the model may be left alone until the output rests.
func (o *Observer) Feed(p []byte) (due, unseen, full bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spool.add(p)
	if !o.leisure() {
		return o.spool.size >= wakeAt, false, o.spool.size > spoolMax
	}
	return o.spool.size >= unseenMost || time.Since(o.spool.began) >= unseenFor, true, o.spool.size > unseenMost+spoolMax
}

// HasRoom reports whether the model has caught up so far that it may be fed more.
func (o *Observer) HasRoom() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.spool.size <= spoolMax || o.leisure() && o.spool.size <= unseenMost+spoolMax || o.stopped
}

// leisure reports whether the model may be behind: nobody looked when the observer last had something to do, and nobody has typed
// since.
func (o *Observer) leisure() bool {
	begun, _ := o.program.Writes()
	return o.alone && begun == o.aloneAt
}

// Subscribed says whether anybody gets the snapshots that are published; at first nobody does. It may be called from any
// goroutine.
func (o *Observer) Subscribed(yes bool) {
	o.subscribed.Store(yes)
	o.Wake()
}

// relax notes whether anybody looks, for whom the model follows at once. So it does for a recording, which has the time of each
// piece of output, and as long as something is kept from agents.
func (o *Observer) relax() {
	alone := o.agents != nil && !o.subscribed.Load() && o.conf.Recorder == nil && o.viewing.rhythm == nil &&
		o.waits.Len() == 0 && len(o.asking) == 0 && o.heldUntil.IsZero() && o.exit == nil &&
		!o.agents.Session.Driven() && o.privacy.rests()
	begun, _ := o.program.Writes()
	o.mu.Lock()
	o.alone, o.aloneAt = alone, begun
	o.mu.Unlock()
}

// late is when what waits is fed though the output does not rest, while nobody looks.
func (o *Observer) late() (at time.Time, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.spool.blocks) == 0 || !o.leisure() {
		return time.Time{}, false
	}
	return o.spool.began.Add(unseenFor), true
}
