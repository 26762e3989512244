package modes

import "strconv"

// AppendReset appends what gives the terminal back as it was: each mode that was changed with its own sequence, and never
// RIS, which would clear what the user can scroll back to. Nothing is appended when nothing was changed. Modes stays as it
// is; feed it the result to have it follow.
func (m *Modes) AppendReset(dst []byte) []byte {
	s := &m.now
	if !m.scan.Ground() {
		dst = append(dst, 0x18) // CAN: what the program began and did not end must not swallow the rest
	}
	dst = s.resetPrivate(dst, 0, 1)
	dst = s.screen().reset(dst)
	if s.modify != 0 {
		dst = append(dst, "\x1b[>4;0m"...)
	}
	if s.format != 0 {
		dst = append(dst, "\x1b[>4;0f"...)
	}
	for i, mode := range ansi {
		if s.ansi&(1<<i) != 0 {
			dst = set(append(dst, "\x1b["...), mode.n, mode.on)
		}
	}
	dst = s.resetPrivate(dst, 1, atOrigin)
	if s.keypad {
		dst = append(dst, "\x1b>"...)
	}
	if s.eightBit {
		dst = append(dst, "\x1b F"...)
	}
	dst = s.resetMargins(dst)
	if s.shape != 0 {
		dst = append(dst, "\x1b[0 q"...)
	}
	dst = s.resetColours(dst)
	for range s.titles {
		dst = append(dst, "\x1b[23;0t"...)
	}
	if s.alt != 0 {
		dst = set(append(dst, "\x1b[?"...), s.alt, false)
		if s.alt == 1049 && s.saved&origin != 0 {
			dst = append(dst, "\x1b[?6l"...)
		}
		dst = s.kitty[0].reset(dst)
	}
	dst = s.resetPen(dst)
	return s.resetPrivate(dst, atCursor, len(private))
}

// AppendSet appends what brings the program's modes back after AppendReset: the alternate screen, empty, then the rest. The
// pen and the colours are the program's to set again with what it draws.
func (m *Modes) AppendSet(dst []byte) []byte {
	s := &m.now
	dst = s.kitty[0].appendTo(dst)
	if s.alt != 0 {
		dst = set(append(dst, "\x1b[?"...), s.alt, true)
		dst = s.kitty[1].appendTo(dst)
	}
	if s.modify != 0 {
		dst = number(dst, "\x1b[>4;", s.modify, "m")
	}
	if s.format != 0 {
		dst = number(dst, "\x1b[>4;", s.format, "f")
	}
	for i, mode := range ansi {
		if s.ansi&(1<<i) != 0 {
			dst = set(append(dst, "\x1b["...), mode.n, !mode.on)
		}
	}
	for i, mode := range private[1:] { // a pause for drawing is over
		if s.private&(1<<(i+1)) != 0 {
			dst = set(append(dst, "\x1b[?"...), mode.n, !mode.on)
		}
	}
	if s.keypad {
		dst = append(dst, "\x1b="...)
	}
	if s.eightBit {
		dst = append(dst, "\x1b G"...)
	}
	if s.shape != 0 {
		dst = number(dst, "\x1b[", s.shape, " q")
	}
	return s.setMargins(dst)
}

// AppendAround appends picture, which shows a screen with the modes that its model knows on a terminal that has just been reset, with
// what is the program's besides: the flags of the keyboard that were put on a stack, titles on another, reports of the size.
func (m *Modes) AppendAround(dst, picture []byte) []byte {
	s := &m.now
	for range s.titles {
		dst = append(dst, "\x1b[22;0t"...)
	}
	dst = s.kitty[0].appendTo(dst)
	dst = append(dst, picture...)
	if alt := s.kitty[1]; s.alt != 0 && (alt.depth > 0 || alt.base != 0) {
		dst = alt.appendTo(append(dst, "\x1b[=0u"...)) // in place of the flags in force, which the picture set
	}
	if s.private&(1<<atSizes) != 0 {
		dst = set(append(dst, "\x1b[?"...), private[atSizes].n, !private[atSizes].on)
	}
	if s.eightBit {
		dst = append(dst, "\x1b G"...)
	}
	return dst
}

// setMargins brings the margins back. As in resetMargins the main screen keeps its cursor, which the shell has left where
// the program goes on: vim leaves its margins on when it stops, and enters the alternate screen from there.
func (s *state) setMargins(dst []byte) []byte {
	keep := s.alt == 0 && s.private&(1<<atOrigin) == 0 && (s.margins != [2]uint16{} || s.sides != [2]uint16{})
	if keep {
		dst = append(dst, "\x1b7"...)
	}
	dst = region(dst, s.margins, 'r')
	dst = region(dst, s.sides, 's')
	if keep {
		dst = append(dst, "\x1b8"...)
	}
	return dst
}

// resetPrivate takes back the private modes from one index up to another.
func (s *state) resetPrivate(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if s.private&(1<<i) != 0 {
			dst = set(append(dst, "\x1b[?"...), private[i].n, private[i].on)
		}
	}
	return dst
}

// resetMargins frees the whole screen. That moves the cursor to its corner: on the alternate screen nobody minds, on the
// main one it is kept by DECSC, whose one slot the program needs no more. DECRC would bring origin mode back.
func (s *state) resetMargins(dst []byte) []byte {
	moved := s.margins != [2]uint16{} || s.private&(1<<atOrigin|1<<atSides) != 0
	keep := moved && s.alt == 0 && s.private&(1<<atOrigin) == 0
	if keep {
		dst = append(dst, "\x1b7"...)
	}
	dst = s.resetPrivate(dst, atOrigin, atOrigin+1)
	if s.margins != [2]uint16{} {
		dst = append(dst, "\x1b[r"...)
	}
	dst = s.resetPrivate(dst, atSides, atSides+1)
	if keep {
		dst = append(dst, "\x1b8"...)
	}
	return s.resetPrivate(dst, atWrap, atWrap+1) // DECRC brings this one back, too
}

func (s *state) resetPen(dst []byte) []byte {
	pen := s.pen
	if s.alt == 1049 {
		pen |= s.saved // leaving brought that back
	}
	if pen&penLink != 0 {
		dst = append(dst, "\x1b]8;;\x1b\\"...)
	}
	if pen&penOther != 0 {
		dst = append(dst, "\x1b*B\x1b+B"...)
	}
	if pen&(penG0|penG1|penOther) != 0 {
		dst = append(dst, "\x1b(B\x1b)B\x0f"...)
	}
	if pen&penSGR != 0 {
		dst = append(dst, "\x1b[0m"...)
	}
	return dst
}

func (s *state) resetColours(dst []byte) []byte {
	if s.palette {
		dst = append(dst, "\x1b]104\x1b\\"...)
	}
	for n := range uint8(10) {
		if s.colours&(1<<n) != 0 {
			dst = number(dst, "\x1b]", 110+n, "\x1b\\")
		}
	}
	return dst
}

// reset empties the stack: only what was pushed, since below it may be the shell's.
func (k *stack) reset(dst []byte) []byte {
	if k.depth > 0 {
		dst = number(dst, "\x1b[<", k.depth, "u")
	}
	if k.base != 0 {
		dst = append(dst, "\x1b[=0u"...)
	}
	return dst
}

func (k *stack) appendTo(dst []byte) []byte {
	if k.base != 0 {
		dst = number(dst, "\x1b[=", k.base, "u")
	}
	for _, flags := range k.flags[:k.depth] {
		dst = number(dst, "\x1b[>", flags, "u")
	}
	return dst
}

// number appends a sequence with one parameter.
func number(dst []byte, begin string, n uint8, end string) []byte {
	return append(strconv.AppendUint(append(dst, begin...), uint64(n), 10), end...)
}

// set appends a mode's number and SM or RM.
func set(dst []byte, n uint16, on bool) []byte {
	dst = strconv.AppendUint(dst, uint64(n), 10)
	if on {
		return append(dst, 'h')
	}
	return append(dst, 'l')
}

// region appends margins, if there are any; 0 is the edge.
func region(dst []byte, edges [2]uint16, final byte) []byte {
	if edges == [2]uint16{} {
		return dst
	}
	dst = strconv.AppendUint(append(dst, "\x1b["...), uint64(max(edges[0], 1)), 10)
	dst = append(dst, ';')
	if edges[1] != 0 {
		dst = strconv.AppendUint(dst, uint64(edges[1]), 10)
	}
	return append(dst, final)
}
