// Package modes tracks which modes of the user's terminal a program has changed, so that they can
// be reset when the program or the proxy is killed, and set again after a suspension. It reads
// every byte that the terminal gets, in the goroutine that writes it, and so is never behind the
// terminal, as a model in another goroutine would be. Package vt finds the sequences; this one
// interprets them. It must not depend on cells or processes.
//
// The sequences are those of ECMA-48, DEC's VT510, xterm (ctlseqs) and the kitty keyboard protocol.
// Controls are read in their 7-bit forms: programs on a UTF-8 terminal send no others.
package modes

import "terminalproxy/proxy/terminal/vt"

// state holds the changes. The zero value is a terminal as a shell leaves it.
type state struct {
	private uint64 // bit i: private[i] is not what it was
	ansi    uint8  // bit i: ansi[i] is not what it was
	// DECSET 47, 1047 or 1049 that switched to the alternate screen, 0 on the main one
	alt      uint16
	kitty    [2]stack
	keypad   bool // DECKPAM
	modify   uint8
	format   uint8
	eightBit bool // S8C1T
	margins  [2]uint16
	sides    [2]uint16 // left and right margin (DECSLRM)
	shape    uint8     // DECSCUSR
	pen      uint8     // the attributes with which the next program would print
	saved    uint8     // the same, as DECSC saved it
	titles   uint8     // titles on the terminal's stack (XTWINOPS 22)
	palette  bool      // OSC 4
	colours  uint16    // bit n: OSC 10+n
}

// The attributes with which the next program would print.
const (
	penSGR   = 1 << iota // colours and the like
	penG0                // a set other than ASCII was designated as G0
	penG1                // as G1
	penOther             // as G2 or G3, or one of these was invoked
	penLink              // OSC 8
	origin               // origin mode, in state.saved only: DECSC saves it, too
)

// maxDepth bounds a stack of keyboard flags; the oldest entry falls out (kitty keyboard protocol).
const maxDepth = 16

// maxTitles bounds the titles on the stack, as xterm does.
const maxTitles = 10

// stack holds the kitty keyboard flags of one screen.
type stack struct {
	flags [maxDepth]uint8
	depth uint8
	base  uint8 // set without a push
}

// private holds the private modes (DECSET) that are reset, in that order, with their values in a
// fresh terminal. A mode that users can configure in their terminals is not among them unless R59
// of the safety requirements names it.
var private = [...]struct {
	n  uint16
	on bool
}{
	// synchronised output first: it holds everything back
	{2026, false},
	{9001, false}, // win32 input
	// mouse: X10, normal, highlight, buttons, any
	{9, false},
	{1000, false},
	{1001, false},
	{1002, false},
	{1003, false},
	// and its encodings
	{1005, false},
	{1006, false},
	{1015, false},
	{1016, false},
	{1004, false}, // focus
	{2004, false}, // bracketed paste
	{2027, false}, // grapheme clusters
	{2031, false}, // reports of light and dark
	{2048, false}, // reports of the size
	{1007, false}, // alternate scroll
	{1, false},    // cursor keys
	{66, false},   // keypad
	{67, false},   // backarrow
	{5, false},    // reverse screen
	{8, true},     // auto-repeat
	{12, false},   // blinking cursor
	{45, false},   // reverse wrap-around
	{6, false},    // origin
	{7, true},     // wrap-around
	{69, false},   // left and right margins
	{25, true},    // the cursor, last
}

// ansi holds the modes of SM, with their values in a fresh terminal: keyboard lock, insert, no
// local echo, new line.
var ansi = [...]struct {
	n  uint16
	on bool
}{{2, false}, {4, false}, {12, true}, {20, false}}

// Indices in private of the modes that need special treatment.
const (
	atSizes       = 15
	atKeys        = 17
	atKeypad      = 18
	atBlink       = 22
	atReverseWrap = 23
	atOrigin      = 24
	atWrap        = 25
	atSides       = 26
	atCursor      = 27
)

// Modes tracks a terminal. One goroutine owns it. The zero value is ready.
type Modes struct {
	now    state
	marked state // at the last call of CheckChanged
	scan   vt.Scanner
	asked  int // for the cursor, since TakeAsked
}

// TakeAsked returns how often the terminal was asked for its cursor (DSR 6) since the last call.
func (m *Modes) TakeAsked() int {
	n := m.asked
	m.asked = 0
	return n
}

// CheckChanged reports whether the modes to reset differ from those at its last call.
func (m *Modes) CheckChanged() bool {
	if m.now == m.marked {
		return false
	}
	m.marked = m.now
	return true
}

// Alt reports whether the alternate screen is shown.
func (m *Modes) Alt() bool { return m.now.alt != 0 }

// MergeChanges adds the changes of other: m then resets those of both.
func (m *Modes) MergeChanges(other *Modes) {
	s, o := &m.now, &other.now
	s.private |= o.private
	s.ansi |= o.ansi
	s.alt = max(s.alt, o.alt)
	for i := range s.kitty {
		if k := o.kitty[i]; k.depth > s.kitty[i].depth || k.depth == s.kitty[i].depth && k.base != 0 {
			s.kitty[i] = k
		}
	}
	s.keypad = s.keypad || o.keypad
	s.modify, s.format = max(s.modify, o.modify), max(s.format, o.format)
	s.eightBit = s.eightBit || o.eightBit
	s.palette = s.palette || o.palette
	s.shape, s.titles = max(s.shape, o.shape), max(s.titles, o.titles)
	s.pen |= o.pen
	s.saved |= o.saved
	s.colours |= o.colours
	if s.margins == [2]uint16{} {
		s.margins = o.margins
	}
	if m.scan.IsAtGround() {
		m.scan = other.scan
	}
}

// keyboardStack returns the stack of the screen that is shown.
func (s *state) keyboardStack() *stack {
	if s.alt != 0 {
		return &s.kitty[1]
	}
	return &s.kitty[0]
}

// setPrivate obeys DECSET and DECRST of one mode.
func (s *state) setPrivate(n uint16, on bool) {
	switch n {
	case 47, 1047, 1049:
		s.setAlt(n, on)
		return
	case 1048:
		s.saveCursor(on)
		return
	}
	i := privateIndex(n)
	if i < 0 {
		return
	}
	s.private &^= 1 << i
	if on != private[i].on {
		s.private |= 1 << i
	}
	if i == atSides {
		s.sides = [2]uint16{}
	}
}

// privateIndex returns the index of a mode in private, or -1.
func privateIndex(n uint16) int {
	for i := range private {
		if private[i].n == n {
			return i
		}
	}
	return -1
}

func (s *state) setAlt(n uint16, on bool) {
	if n == 1049 {
		s.saveCursor(on)
	}
	s.alt = 0
	if on {
		s.alt = n
	}
}

// saveCursor obeys DECSC, or DECRC, after which the pen may be the saved one.
func (s *state) saveCursor(on bool) {
	if on {
		s.saved |= s.pen
		if s.private&(1<<atOrigin) != 0 {
			s.saved |= origin
		}
		return
	}
	s.pen |= s.saved &^ origin
	if s.saved&origin != 0 {
		s.private |= 1 << atOrigin
	}
}

func (s *state) setANSI(n uint16, on bool) {
	for i := range ansi {
		if ansi[i].n == n {
			s.ansi &^= 1 << i
			if on != ansi[i].on {
				s.ansi |= 1 << i
			}
		}
	}
}

// softReset obeys DECSTR (VT510): it leaves the mouse, the paste and the screen as they are.
func (s *state) softReset() {
	for _, i := range [...]int{atKeys, atKeypad, atReverseWrap, atOrigin, atWrap, atSides, atCursor} {
		s.private &^= 1 << i
	}
	s.ansi &^= 1<<0 | 1<<1
	s.keypad, s.margins, s.sides, s.pen = false, [2]uint16{}, [2]uint16{}, 0
}

func (k *stack) pushFlags(flags uint8) {
	if k.depth == maxDepth {
		copy(k.flags[:], k.flags[1:])
		k.depth--
	}
	k.flags[k.depth] = flags
	k.depth++
}

// popFlags removes entries; removing the last one ends all flags.
func (k *stack) popFlags(n uint16) {
	if n >= uint16(k.depth) {
		*k = stack{}
		return
	}
	k.depth -= uint8(n)
	clear(k.flags[k.depth:])
}

func (k *stack) setFlags(flags uint8, how uint16) {
	now := &k.base
	if k.depth > 0 {
		now = &k.flags[k.depth-1]
	}
	switch how {
	case 1:
		*now = flags
	case 2:
		*now |= flags
	case 3:
		*now &^= flags
	}
}
