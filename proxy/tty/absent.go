package tty

import "sync/atomic"

// absent is what a [Terminal] has in place of a user's: somebody may look from elsewhere.
type absent struct {
	sink   func([]byte)
	looked atomic.Bool
	size   cells
}

// cells is a size in cells, which any goroutine may ask for: columns, then rows in the low half.
type cells struct{ both atomic.Uint64 }

func (c *cells) set(cols, rows int) { c.both.Store(uint64(cols)<<32 | uint64(uint32(rows))) }

func (c *cells) get() (cols, rows int) {
	both := c.both.Load()
	return int(both >> 32), int(uint32(both))
}

// Absent is the terminal of a session that has none: there is no keyboard, and what is written goes to sink while
// somebody looks (see [Terminal.Look]). sink is called from the goroutine that writes, must not block, and must not keep
// the slice.
func Absent(cols, rows int, sink func([]byte)) *Terminal {
	t := &Terminal{in: -1, out: -1, absent: &absent{sink: sink}}
	t.SetSize(cols, rows)
	return t
}

// Look says whether somebody looks at an absent terminal: while nobody does there is no screen. It may be called from any
// goroutine.
func (t *Terminal) Look(yes bool) { t.absent.looked.Store(yes) }

// SetSize gives an absent terminal its size in cells. It may be called from any goroutine.
func (t *Terminal) SetSize(cols, rows int) { t.absent.size.set(cols, rows) }

// write hands p on if somebody looks. It takes everything.
func (a *absent) write(p []byte) (int, error) {
	if a.looked.Load() {
		a.sink(p)
	}
	return len(p), nil
}
