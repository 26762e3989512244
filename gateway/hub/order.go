package hub

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Place is the position of a session in the lists.
type Place struct {
	StartedAt int64
	SessionID string
}

// beforeAll is before the place of any session.
var beforeAll = Place{StartedAt: math.MinInt64}

// comparePlaces orders sessions by their start.
func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), strings.Compare(a.SessionID, b.SessionID))
}

// chunkPlaces bounds the places that one change of an [Order] moves.
const chunkPlaces = 256

// Order keeps places in order, so that a list needs no sorting. A change costs little more with
// many places than with few. The zero value is empty; a nil Order is empty as well.
type Order struct {
	chunks [][]Place // in order, each with at least one place
	count  int
}

// findChunk returns the chunk in which a place is, or would be. There is at least one chunk.
func (o *Order) findChunk(p Place) int {
	i, found := slices.BinarySearchFunc(o.chunks, p, func(chunk []Place, p Place) int {
		return comparePlaces(chunk[0], p)
	})
	if found {
		return i
	}
	return max(i-1, 0)
}

// Insert adds a place.
func (o *Order) Insert(p Place) {
	if len(o.chunks) == 0 {
		o.chunks, o.count = [][]Place{{p}}, 1
		return
	}
	i := o.findChunk(p)
	at, found := slices.BinarySearchFunc(o.chunks[i], p, comparePlaces)
	if found {
		return
	}
	o.count++
	chunk := append(o.chunks[i], Place{})
	copy(chunk[at+1:], chunk[at:])
	chunk[at] = p
	if o.chunks[i] = chunk; len(chunk) > chunkPlaces {
		half := len(chunk) / 2
		o.chunks[i] = slices.Clone(chunk[:half])
		o.chunks = append(o.chunks, nil)
		copy(o.chunks[i+2:], o.chunks[i+1:])
		o.chunks[i+1] = slices.Clone(chunk[half:])
	}
}

// Remove removes a place, if it is there.
func (o *Order) Remove(p Place) {
	if o.Len() == 0 {
		return
	}
	i := o.findChunk(p)
	at, found := slices.BinarySearchFunc(o.chunks[i], p, comparePlaces)
	if !found {
		return
	}
	o.count--
	if o.chunks[i] = slices.Delete(o.chunks[i], at, at+1); len(o.chunks[i]) == 0 {
		o.chunks = slices.Delete(o.chunks, i, i+1)
	}
}

// Len returns the number of places.
func (o *Order) Len() int {
	if o == nil {
		return 0
	}
	return o.count
}

// After returns up to chunkPlaces places that follow the given one, in order. An empty list means
// the end. The places are valid until the next change.
func (o *Order) After(p Place) []Place {
	if o.Len() == 0 {
		return nil
	}
	i := o.findChunk(p)
	at, found := slices.BinarySearchFunc(o.chunks[i], p, comparePlaces)
	if found {
		at++
	}
	if rest := o.chunks[i][at:]; len(rest) > 0 {
		return rest
	}
	if i+1 < len(o.chunks) {
		return o.chunks[i+1]
	}
	return nil
}

// placeCursor reads places in order, some at a time.
type placeCursor struct {
	readAfter func(Place) []Place // returns the places that follow, an empty list at the end
	read      []Place
	last      Place // of all that were read
	ended     bool
}

// peekPlace returns the next place. ok is false at the end.
func (c *placeCursor) peekPlace() (p Place, ok bool) {
	if len(c.read) == 0 && !c.ended {
		if c.read = c.readAfter(c.last); len(c.read) > 0 {
			c.last = c.read[len(c.read)-1]
		}
		c.ended = len(c.read) == 0
	}
	if c.ended {
		return p, false
	}
	return c.read[0], true
}
