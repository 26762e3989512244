package cluster

import (
	"encoding/binary"
	"errors"
	"sync"
)

// A letter that is too large for one message of the bus is sent in parts. Each is answered before
// the next is sent.
const (
	whole    = 'W'
	part     = 'P'
	last     = 'L'
	partHead = 9       // the kind, and the 8 bytes of the letter's id
	maxParts = 4 << 20 // bytes of one letter
	maxOpen  = 64      // incomplete letters
)

var errParts = errors.New("parts of a letter are missing, or are too many")

// cut splits a letter into messages.
func cut(data []byte, id uint64, largest int) (out [][]byte) {
	if len(data) < largest {
		return [][]byte{append([]byte{whole}, data...)}
	}
	for room := largest - partHead; len(data) > 0; data = data[min(room, len(data)):] {
		kind := byte(part)
		if len(data) <= room {
			kind = last
		}
		head := binary.BigEndian.AppendUint64([]byte{kind}, id)
		out = append(out, append(head, data[:min(room, len(data))]...))
	}
	return out
}

// parts assembles letters. It is safe for concurrent use.
type parts struct {
	mu   sync.Mutex
	open map[uint64][]byte
}

// addPart takes a message; it returns a complete letter when done.
func (p *parts) addPart(data []byte) (letter []byte, done bool, err error) {
	switch {
	case len(data) > 0 && data[0] == whole:
		return data[1:], true, nil
	case len(data) < partHead || data[0] != part && data[0] != last:
		return nil, false, errWire
	}
	id := binary.BigEndian.Uint64(data[1:partHead])
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = make(map[uint64][]byte)
	}
	got := append(p.open[id], data[partHead:]...)
	delete(p.open, id)
	switch {
	case len(got) > maxParts:
		return nil, false, errParts
	case data[0] == last:
		return got, true, nil
	case len(p.open) >= maxOpen:
		clear(p.open) // their senders went away; the others get an error, and start again
		return nil, false, errParts
	}
	p.open[id] = got
	return nil, false, nil
}
