// Package filter removes the sequences from a program's output that must not reach the user's
// terminal. It is pure, streaming and bounded: bytes in, bytes out, cut anywhere.
//
// KAM (ECMA-48 7.2.7, mode 2 of SM) is always removed: a terminal that obeys it, as xterm and st
// do, sends nothing for any key, so that the user could not take the keyboard back. From a list of
// modes only that one is removed: CSI 4;2 h becomes CSI 4 h.
//
// While an agent drives, these are removed as well, since the agent's typing decides what is
// printed:
//
//   - the clipboard, files and processes: OSC 52 and its kin, OSC 1337 of iTerm2, OSC 9 of ConEmu,
//     the graphics of kitty where they name a file. A picture (a file that is shown and not kept,
//     inline=1) passes
//   - titles. The user of the package sets the title, cleaned and behind a word of its own
//   - what reconfigures the terminal or its window: its size and place, fonts, profile, log file,
//     the bell, function keys, soft fonts, macros, control modes
//   - printing, and requests whose answer is more than a fact about the terminal: ENQ too
//
// driven.go has these in tables, and files.go the keys of OSC 1337.
//
// Everything else passes unchanged, byte by byte, with three exceptions that no program intends. A
// control sequence of more than [Longest] bytes is dropped, since it cannot be judged in bounded
// memory. If a removed sequence had cut off another one, CAN and ST replace it, so that the cut-off
// part does not join the text that follows. And a number of five digits or more counts as a
// filtered one: some terminals take it modulo 2^32.
//
// Terminals disagree about which characters a sequence may contain, and a sequence is removed if
// any of them would obey it. Measured: xterm reads U+00A0 to U+00FF within a sequence as the
// characters 128 below (CSI 2 è is KAM, and so is ESC Û 2 h), st takes the low byte of any other
// (CSI 串 h is KAM) and goes on with a control sequence after CAN and SUB, both skip C0, DEL and
// most of C1 in it, and st blanks and plus signs. All read a plain control sequence in the same
// way, and package vt finds those; this package reads any other one as each terminal would.
//
// A sequence that the end of a read cuts is held back until it is complete: a terminal shows
// nothing for half of one. A lone ESC is held until the program writes more, or [Filter.Flush] is
// called at the end. No timer is needed, because nothing visible is held.
//
// A session that no agent observes has no filter: there is no reclaim to protect, and every byte
// passes untouched.
package filter

import (
	"bytes"

	"terminalproxy/proxy/terminal/vt"
)

// Longest is the length of the longest sequence that is held back, in bytes.
const Longest = 512

const (
	enq = 0x05
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
	csi = 0x9b
	dcs = 0x90
	osc = 0x9d
	apc = 0x9f
	st  = 0x9c
)

// cancelSequence ends any sequence that a terminal is in, and has no effect outside one: CAN for
// strings (ECMA-48 8.3.6), ST for st, which goes on with a control sequence after CAN.
const cancelSequence = "\x18\x1b\\"

// Filter is the state between two reads. One goroutine owns it. The zero value is ready.
type Filter struct {
	held  []byte   // the beginning of a sequence that has not ended
	last  [3]byte  // what came before held, to know whether a byte belongs to a character
	open  open     // whether the last sequence that passed has ended
	skip  skipping // the sequence being dropped
	in    []byte   // held and what follows it
	plain []byte   // see withoutENQ
	out   []byte
	cut   vt.Cutter

	chunks bool // of a command of kitty's graphics that goes, more has to come
	parts  bool // of a picture for iTerm2 that passes, more may come

	keep  bool // commands that set colours are kept back
	kept  []setting
	catch catching
}

// open says whether a sequence that passed has ended, in every terminal's eyes.
type open uint8

const (
	closed  open = iota
	title        // an OSC, which BEL ends
	unended      // anything else
)

// skipping names the kind of sequence that is dropped; its end depends on that.
type skipping uint8

const (
	nothing     skipping = iota
	oscString            // to BEL or ST
	otherString          // to ST
	tooLong              // to its final byte
)

// FilterOutput returns the bytes of p, the program's output, that the user's terminal gets. driven
// means that an agent has control. The result is valid until the next call; it is p itself, or a
// part of it, if nothing had to be removed. It includes its cuts, so that the next reader need not
// look for sequences again.
func (f *Filter) FilterOutput(p []byte, driven bool) vt.Chunk {
	if len(p) == 0 {
		return vt.Chunk{}
	}
	if !driven {
		f.chunks, f.parts = false, false // outside a drive, begins and ends are not tracked
	}
	if driven && bytes.IndexByte(p, enq) >= 0 {
		if p = f.withoutENQ(p); len(p) == 0 {
			return vt.Chunk{}
		}
	}
	in := p
	if len(f.held) > 0 {
		f.in = append(append(f.in[:0], f.held...), p...)
		in = f.in
	}
	cut := f.cut.Cut(in)
	if len(f.held) == 0 && f.skip == nothing && !f.mayHoldSequence(cut, driven) {
		f.closeTitleAtBEL(p)
		f.rememberLast(p)
		return cut
	}
	s := scan{
		f:      f,
		in:     in,
		cuts:   cut.Cuts,
		driven: driven,
		next:   [7]int{-1, -1, -1, -1, -1, -1, -1},
		c1:     -1,
	}
	return s.run()
}

// Flush returns the held bytes and resets the filter, once the program has ended.
func (f *Filter) Flush() []byte {
	held := f.held
	*f = Filter{keep: f.keep, kept: f.kept}
	return held
}

// mayHoldSequence reports whether the chunk holds a byte that can begin or continue a sequence.
func (f *Filter) mayHoldSequence(c vt.Chunk, driven bool) bool {
	p := c.Bytes
	if len(c.Cuts) > 0 || bytes.IndexByte(p, csi) >= 0 || p[len(p)-1] == 0xc2 {
		return true
	}
	if f.open != closed && (bytes.IndexByte(p, can) >= 0 || bytes.IndexByte(p, sub) >= 0) {
		return true
	}
	if driven && bytes.IndexByte(p, apc) >= 0 {
		return true
	}
	return (driven || f.keep) && (bytes.IndexByte(p, osc) >= 0 || bytes.IndexByte(p, dcs) >= 0)
}

// closeTitleAtBEL notes that the open OSC ended if p holds a BEL.
func (f *Filter) closeTitleAtBEL(p []byte) {
	if f.open == title && bytes.IndexByte(p, bel) >= 0 {
		f.open = closed
	}
}

// rememberLast keeps the last bytes that were passed or dropped.
func (f *Filter) rememberLast(p []byte) {
	if n := len(p); n >= len(f.last) {
		copy(f.last[:], p[n-len(f.last):])
		return
	}
	n := copy(f.last[:], f.last[len(p):])
	copy(f.last[n:], p)
}

// scan is one call of FilterOutput.
type scan struct {
	f      *Filter
	in     []byte
	cuts   []vt.Cut // of in
	past   int      // cuts that are done with
	driven bool
	next   [7]int // the next place of each introducer but ESC, -1 if not searched yet
	c1     int    // the first of them
	clean  int    // in from here on passes and is not copied yet
	edited bool   // the result is out, not a part of in
}

// introducers begin a sequence; CAN and SUB continue one in st. The last ones matter only while an
// agent drives.
var introducers = [7]byte{esc, csi, can, sub, osc, dcs, apc}

func (s *scan) run() vt.Chunk {
	f := s.f
	f.out = f.out[:0]
	i := 0
	for i < len(s.in) {
		if f.skip != nothing {
			next, whole := s.skipDropped(i)
			if i = next; !whole {
				break
			}
			s.clean = i
			continue
		}
		at := s.findIntroducer(i)
		f.closeTitleAtBEL(s.in[i:at])
		if at == len(s.in) {
			i = at
			break
		}
		if end := s.skipHarmless(at); end > at {
			f.open = closed
			i = end
			continue
		}
		q := s.parseSequence(at)
		if q.fate == unknown {
			i = at
			break
		}
		i = s.applyFate(q)
	}
	return s.finishPass(i)
}

// finishPass returns the part of in[:done] that passes, and holds back the rest.
func (s *scan) finishPass(done int) vt.Chunk {
	f := s.f
	if n := len(s.in); done == n && f.skip == nothing && n > s.clean && s.in[n-1] == 0xc2 {
		done-- // the first byte of a C1 control, perhaps
	}
	passes := vt.Chunk{Bytes: s.in, Cuts: s.cuts}
	if s.edited {
		if f.skip == nothing {
			f.out = append(f.out, s.in[s.clean:max(done, s.clean)]...)
		}
		passes = f.cut.Cut(f.out)
	} else {
		passes.Truncate(done)
	}
	f.rememberLast(s.in[:done])
	f.held = append(f.held[:0], s.in[done:]...)
	return passes
}

// findIntroducer returns where the next introducer begins, or the length of in.
func (s *scan) findIntroducer(i int) int {
	kinds := 4
	switch {
	case s.driven:
		kinds = 7
	case s.f.keep:
		kinds = 6
	}
	for s.c1 < i {
		s.c1 = len(s.in)
		for k := 1; k < kinds; k++ {
			if s.next[k] < i {
				s.next[k] = s.indexIntroducer(k, i)
			}
			s.c1 = min(s.c1, s.next[k])
		}
	}
	for ; s.past < len(s.cuts); s.past++ {
		if at := int(s.cuts[s.past].At); at >= i {
			return min(at, s.c1)
		}
	}
	return s.c1
}

// indexIntroducer returns where introducer k comes next from i on. C1 controls are code points, c2
// and the byte (then that is where they begin), or bare bytes that belong to no character.
func (s *scan) indexIntroducer(k, i int) int {
	from := i
	for c := introducers[k]; ; i++ {
		n := bytes.IndexByte(s.in[i:], c)
		if n < 0 {
			return len(s.in)
		}
		i += n
		switch {
		case c < 0x80:
			return i
		case s.byteBefore(i, 1) == 0xc2:
			return max(i-1, from)
		case !s.isContinuation(i):
			return i
		}
	}
}

// byteBefore returns the n-th byte before in[i].
func (s *scan) byteBefore(i, n int) byte {
	if i >= n {
		return s.in[i-n]
	}
	return s.f.last[len(s.f.last)+i-n]
}

// isContinuation reports whether the byte in[i], 80 to bf, continues a UTF-8 character.
func (s *scan) isContinuation(i int) bool {
	for n := 1; n <= 3; n++ {
		switch b := s.byteBefore(i, n); {
		case b >= 0xc2 && b <= 0xf4:
			return n == 1 || n == 2 && b >= 0xe0 || b >= 0xf0
		case b&0xc0 != 0x80:
			return false
		}
	}
	return false
}

// skipHarmless skips the plain control sequences from in[at] on that need no judging, which nearly
// all are, and the text between them. It returns the end of the last one, or at.
func (s *scan) skipHarmless(at int) int {
	end := at
	for ; s.past < len(s.cuts); s.past++ {
		c := &s.cuts[s.past]
		if c.Size == 0 || int(c.At) > s.c1 || s.needsJudging(c) {
			break
		}
		end = int(c.At) + int(c.Size)
	}
	return end
}

// needsJudging reports whether judgeControl may decide that a plain control sequence does not pass.
func (s *scan) needsJudging(c *vt.Cut) bool {
	switch c.Final {
	case 'h':
		return c.First != '?'
	case 't', 'T', 'i', 'y', 'z', '|', 'u':
		return s.driven
	case 'P', 'Q':
		return s.f.keep
	}
	return false
}

// applyFate passes, drops, trims or keeps a sequence, and returns where to continue.
func (s *scan) applyFate(q sequence) int {
	f := s.f
	switch q.fate {
	case pass:
		f.open = q.open
		return q.end
	case drop:
		s.beginCut(q.at)
		s.copyControls(q.at, q.end)
	case trim:
		s.copyTo(q.at)
		s.edited = true
		s.copyControls(q.at, q.end)
		s.writeTrimmedModes(q)
	case dropString:
		s.beginCut(q.at)
		s.copyControls(q.at, q.end)
		f.skip = q.skip
		f.catch = catching{on: q.catch, body: f.catch.body[:0]}
		if q.catch {
			for _, c := range s.in[q.body:q.end] {
				f.catch.addByte(c)
			}
		}
	case retain:
		s.beginCut(q.at)
		s.copyControls(q.at, q.end)
		f.keepSequence(s.in[q.at:q.end])
	case unknown: // never comes here
	}
	f.open = closed
	s.clean = q.end
	return q.end
}

// copyTo copies the passing bytes before in[at].
func (s *scan) copyTo(at int) { s.f.out = append(s.f.out, s.in[s.clean:at]...) }

// beginCut starts to leave out the bytes at in[at].
func (s *scan) beginCut(from int) {
	s.copyTo(from)
	s.edited = true
	if s.f.open != closed || s.byteBefore(from, 1) >= 0xc0 {
		s.f.out = append(s.f.out, cancelSequence...)
	}
}

// copyControls copies the C0 controls within a dropped sequence: terminals obey them as they come.
func (s *scan) copyControls(from, to int) {
	for _, c := range s.in[from:to] {
		if c < ' ' && c != esc {
			s.f.out = append(s.f.out, c)
		}
	}
}

// skipDropped drops bytes from in[i] to the end of the skipped sequence, and returns where to
// continue. whole is false if that depends on bytes to come.
func (s *scan) skipDropped(i int) (next int, whole bool) {
	f := s.f
	s.edited = true
	for ; i < len(s.in); i++ {
		c := s.in[i]
		switch {
		case c == esc && f.skip != tooLong && i+1 == len(s.in):
			return i, false
		case c == esc && f.skip != tooLong && s.in[i+1] == '\\':
			f.skip = nothing
			f.finishCaughtOSC("\x1b\\")
			return i + 2, true
		case c == esc:
			f.skip = nothing
			f.finishCaughtOSC("\x1b\\")
			return i, true
		case f.skip == tooLong && c < ' ':
			f.out = append(f.out, c)
		case f.skip == tooLong && c >= 0x80:
			f.skip = nothing
			return i, true
		case f.skip == tooLong && (c < '@' || c == del):
		case f.skip == tooLong, c == can, c == sub, c == bel && f.skip == oscString,
			c == st && (s.byteBefore(i, 1) == 0xc2 || !s.isContinuation(i)):
			f.skip = nothing
			switch c {
			case bel:
				f.finishCaughtOSC("\a")
			case st:
				f.catch.body = bytes.TrimSuffix(f.catch.body, []byte{0xc2})
				f.finishCaughtOSC("\x1b\\")
			default: // it was taken back
				f.catch.on = false
			}
			return i + 1, true
		default:
			f.catch.addByte(c)
		}
	}
	return i, false
}
