package observer

import "time"

// Sizes and times of the spool.
const (
	// spoolMax is how much output may wait for the model before the copier waits for it, in bytes, and wakeAt is how much has the
	// model woken. The model is faster than a PTY, so the spool is only ever full for a moment.
	spoolMax = 256 << 10
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
	size   int // of what waits, and of what was taken and not fed yet
	began  time.Time
	spares [][]byte
}

// add appends a copy of p.
func (s *spool) add(p []byte) {
	if len(s.blocks) == 0 {
		s.began = time.Now()
	}
	s.size += len(p)
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

// take returns all that waits. Each piece comes back with fed.
func (s *spool) take() [][]byte {
	blocks := s.blocks
	s.blocks = nil
	return blocks
}

func (s *spool) fed(b []byte) {
	s.size -= len(b)
	if len(s.spares) < sparesMost {
		s.spares = append(s.spares, b[:0])
	}
}

// Feed hands output to the model; Wake makes it be taken. It waits only while the model is behind by too much, and never on
// anything but it. due says that the model is to be woken now, and unseen that nobody looks: unless it is due, the model may be
// left alone until the output rests.
func (o *Observer) Feed(p []byte) (due, unseen bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.spool.size > o.spoolMost() && !o.stopped {
		o.Wake()
		o.room.Wait()
	}
	o.spool.add(p)
	if !o.leisure() {
		return o.spool.size >= wakeAt, false
	}
	return o.spool.size >= unseenMost || time.Since(o.spool.began) >= unseenFor, true
}

func (o *Observer) spoolMost() int {
	if o.leisure() {
		return unseenMost + spoolMax
	}
	return spoolMax
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
