package observer

import "time"

// Sizes and times of the spool.
const (
	// spoolMax bounds the output that waits for the model, in bytes: over it the copier stops
	// reading. wakeAt is how much wakes the model. The model is faster than a PTY, so the spool
	// fills only for a moment. If it stays full, the program waits as for a slow terminal, and the
	// user's screen shows all that was read.
	spoolMax = 1 << 20
	wakeAt   = 32 << 10
	// While no one looks, this much may wait, and for this long: then only the user waits for
	// output, and the model takes no processor from the program and the terminal.
	maxUnseen = 8 << 20
	unseenFor = 500 * time.Millisecond
	// blockSize is the size of a piece of the spool in bytes, and maxSpares how many of them are
	// kept for reuse.
	blockSize = 32 << 10
	maxSpares = 8
	spentFrom = 1 << 20 // bytes fed at once that make it worth giving memory back
)

// spool holds the output that waits for the model, in pieces: one large buffer would have to be
// copied as it grows. Guarded by Observer.mu.
type spool struct {
	blocks [][]byte
	off    int    // bytes of the first block that were taken already
	size   int    // bytes that wait, or were taken and are not fed yet
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
			s.blocks = append(s.blocks, s.newBlock())
			last++
		}
		b := s.blocks[last]
		n := min(len(p), cap(b)-len(b))
		s.blocks[last], p = append(b, p[:n]...), p[n:]
	}
}

func (s *spool) newBlock() []byte {
	last := len(s.spares) - 1
	if last < 0 {
		return make([]byte, 0, blockSize)
	}
	b := s.spares[last]
	s.spares = s.spares[:last]
	return b
}

// takePiece removes and returns the first piece of the waiting output, at most limit bytes, and nil
// if limit is 0. The caller returns it by recycle.
func (s *spool) takePiece(limit uint64) []byte {
	if len(s.blocks) == 0 || limit == 0 {
		return nil
	}
	b := s.blocks[0][s.off:]
	if uint64(len(b)) > limit {
		s.off += int(limit)    //nolint:gosec // less than the length of b
		return b[:limit:limit] // without the capacity of the block, which still waits
	}
	s.off = 0
	s.blocks[0] = nil
	if s.blocks = s.blocks[1:]; len(s.blocks) == 0 {
		s.blocks = nil
	}
	return b
}

// recycle gets back a piece that was fed to the model.
func (s *spool) recycle(b []byte) {
	s.size -= len(b)
	if cap(b) == blockSize && len(s.spares) < maxSpares {
		s.spares = append(s.spares, b[:0])
	}
}

// Feed queues output for the model; Wake makes the model take it. Feed takes any amount and never
// waits. full means that the model is too far behind: the caller must wait until HasRoom. due means
// that the model must be woken now. unseen means that no one looks: unless due, the model may be
// left alone until the output pauses.
func (i *inlet) Feed(p []byte) (due, unseen, full bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.spool.add(p)
	if !i.mayLagLocked() {
		return i.spool.size >= wakeAt, false, i.spool.size > spoolMax
	}
	return i.spool.size >= maxUnseen ||
		time.Since(i.spool.began) >= unseenFor, true, i.spool.size > maxUnseen+spoolMax
}

// HasRoom reports whether the model has caught up enough to be fed more.
func (i *inlet) HasRoom() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.spool.size <= spoolMax || i.mayLagLocked() && i.spool.size <= maxUnseen+spoolMax ||
		i.stopped
}

// mayLagLocked reports whether the model may be behind: no one looked when the observer last had
// something to do, and there was no typing since.
func (i *inlet) mayLagLocked() bool {
	begun, _ := i.program.CountWrites()
	return i.unwatched && begun == i.writesWhenUnwatched
}

// SetSubscribed notes whether anyone gets the published snapshots; at first no one does. It may be
// called on any goroutine.
func (o *Observer) SetSubscribed(yes bool) {
	o.subscribed.Store(yes)
	o.Wake()
}

// updateLag notes whether the model may lag behind the output. It must follow at once while anyone
// looks, for a recording, which has the time of each piece of output, and while something is kept
// from agents.
func (o *Observer) updateLag() {
	unwatched := o.agents != nil && !o.subscribed.Load() && o.conf.Recorder == nil &&
		o.viewing.rhythm == nil && o.waits.Len() == 0 && len(o.asking) == 0 && o.heldUntil.IsZero() && o.exit == nil &&
		!o.agents.Session.IsDriven() && o.privacy.showsAll()
	begun, _ := o.program.CountWrites()
	o.mu.Lock()
	o.unwatched, o.writesWhenUnwatched = unwatched, begun
	o.mu.Unlock()
}

// feedDeadline returns when waiting output is fed although more arrives, while no one looks.
func (i *inlet) feedDeadline() (at time.Time, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.spool.blocks) == 0 || !i.mayLagLocked() {
		return time.Time{}, false
	}
	return i.spool.began.Add(unseenFor), true
}
