package tty

import "sync/atomic"

// absentTerminal replaces the user's terminal in a [Terminal] that a person may watch from
// elsewhere.
type absentTerminal struct {
	sink    func([]byte)
	watched atomic.Bool
	size    cells
}

// cells is a size in cells, safe for concurrent use: columns, then rows in the low half.
type cells struct{ both atomic.Uint64 }

func (c *cells) setSize(cols, rows int) { c.both.Store(uint64(cols)<<32 | uint64(uint32(rows))) }

func (c *cells) size() (cols, rows int) {
	both := c.both.Load()
	return int(both >> 32), int(uint32(both))
}

// NewAbsent returns a terminal for a session without a user's terminal: it has no keyboard, and
// output goes to sink while a person watches (see [Terminal.SetWatched]). sink is called from the
// goroutine that writes, must not block, and must not keep the slice.
func NewAbsent(cols, rows int, sink func([]byte)) *Terminal {
	t := &Terminal{in: -1, out: -1, absent: &absentTerminal{sink: sink}}
	t.SetSize(cols, rows)
	return t
}

// SetWatched sets whether a person watches an absent terminal: only then it has a screen. It may be
// called on any goroutine.
func (t *Terminal) SetWatched(yes bool) { t.absent.watched.Store(yes) }

// SetSize gives an absent terminal its size in cells. It may be called from any goroutine.
func (t *Terminal) SetSize(cols, rows int) { t.absent.size.setSize(cols, rows) }

// sendOutput passes p to the sink if a person watches. It always accepts all of p.
func (a *absentTerminal) sendOutput(p []byte) (int, error) {
	if a.watched.Load() {
		a.sink(p)
	}
	return len(p), nil
}
