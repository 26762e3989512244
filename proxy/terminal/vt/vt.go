// Package vt cuts a program's output into text and sequences, as a UTF-8 terminal reads them
// (ECMA-48, 7-bit forms), so that each byte is scanned once for all packages that follow the
// output. A [Cutter] marks where the sequences of a chunk begin, and which are plain control
// sequences, as nearly all are. A [Scanner] reads the others, across the ends of chunks. Both are
// pure and allocate nothing in steady use. The package must not know what a sequence means.
package vt

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// MaxParams is how many bytes of the parameters of a control sequence, or of the text of an OSC,
// are kept. A control sequence with this many or more is ignored, as terminals do.
const MaxParams = 128

// Chunk holds a piece of a stream with its cuts. It is valid until its maker is called again.
type Chunk struct {
	Bytes []byte
	Cuts  []Cut // one for each ESC, in order
}

// Cut is an ESC in a chunk. A plain control sequence begins there, and text follows up to the next
// cut; or Size is 0, and a [Scanner] has to read what begins there.
type Cut struct {
	At    uint32 // index of the ESC
	Size  uint16 // length of the plain control sequence, 0 for anything else
	First byte   // its first byte after CSI
	Final byte   // its last byte
}

// PartEnd returns where the part that begins with cut i ends: at the next cut, or at the end of the
// chunk. PartEnd(-1) ends the part before the first cut.
func (c Chunk) PartEnd(i int) int {
	if i++; i < len(c.Cuts) {
		return int(c.Cuts[i].At)
	}
	return len(c.Bytes)
}

// Truncate drops everything from Bytes[n] on. n must not lie within a plain control sequence.
func (c *Chunk) Truncate(n int) {
	c.Bytes = c.Bytes[:n]
	for len(c.Cuts) > 0 && int(c.Cuts[len(c.Cuts)-1].At) >= n {
		c.Cuts = c.Cuts[:len(c.Cuts)-1]
	}
}

// Params returns the bytes between CSI and the final byte of a plain control sequence.
func (c Chunk) Params(cut Cut) []byte { return c.Bytes[cut.At+2 : cut.At+uint32(cut.Size)-1] }

// Cutter cuts chunks. One goroutine owns it. The zero value is ready.
type Cutter struct{ cuts []Cut }

// Cut cuts p, which may begin and end anywhere and is shorter than 4 GiB. It keeps p and does not
// change it.
func (c *Cutter) Cut(p []byte) Chunk {
	cuts := c.cuts[:0]
	for i := nextEscape(p, 0); i < len(p); i = nextEscape(p, i) {
		cut := Cut{At: uint32(i)}
		if n := plainLen(p, i); n > 0 {
			cut.Size, cut.First, cut.Final = uint16(n), p[i+2], p[i+n-1]
			i += n
		} else {
			i++
		}
		cuts = append(cuts, cut)
	}
	c.cuts = cuts
	return Chunk{Bytes: p, Cuts: cuts}
}

// plainLen returns the length of the plain control sequence that begins with the ESC p[at], or 0 if
// p[at] begins another sequence or an incomplete one.
func plainLen(p []byte, at int) int {
	i := at + 2
	if i >= len(p) || p[at+1] != '[' {
		return 0
	}
	for most := i + MaxParams; i+8 <= len(p); i += 8 {
		// Parameters and intermediates are 20 to 3f: their upper three bits are 001.
		differ := (binary.LittleEndian.Uint64(p[i:]) ^ 0x2020202020202020) & 0xe0e0e0e0e0e0e0e0
		if differ == 0 && i < most {
			continue
		}
		if i += bits.TrailingZeros64(differ) / 8; i < most && p[i]-'@' < del-'@' {
			return i + 1 - at
		}
		return 0
	}
	for most := min(at+2+MaxParams, len(p)); i < most; i++ {
		if p[i] >= '@' && p[i] < del {
			return i + 1 - at
		}
		if p[i]-' ' >= '@'-' ' {
			break
		}
	}
	return 0
}

// nextEscape returns the index of the next ESC from p[i] on, or the length of p. An ESC is usually
// near, and for a few bytes a call of IndexByte costs more than this loop.
func nextEscape(p []byte, i int) int {
	for range 4 {
		if i+8 > len(p) {
			break
		}
		// A byte of x is 0 where ESC is; the lowest one that borrows is the first.
		x := binary.LittleEndian.Uint64(p[i:]) ^ 0x1b1b1b1b1b1b1b1b
		if zero := (x - 0x0101010101010101) &^ x & 0x8080808080808080; zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
		i += 8
	}
	if n := bytes.IndexByte(p[i:], esc); n >= 0 {
		return i + n
	}
	return len(p)
}

// nextControl returns the index of the first C0 control of p, or the length of p.
func nextControl(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:]) // as in nextEscape, for bytes under 20
		if less := (x - 0x2020202020202020) &^ x & 0x8080808080808080; less != 0 {
			return i + bits.TrailingZeros64(less)/8
		}
	}
	for i < len(p) && p[i] >= ' ' {
		i++
	}
	return i
}
