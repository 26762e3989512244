package modes

import "strconv"

// AppendReset appends the sequences that restore the terminal: one for each changed mode, and never
// RIS, which would clear the user's scrollback. It appends nothing if no mode was changed. It does
// not change m; to note the reset, feed the result to m.
func (m *Modes) AppendReset(dst []byte) []byte {
	s := &m.now
	if !m.scan.IsAtGround() {
		// CAN: an unfinished sequence of the program must not swallow the rest
		dst = append(dst, 0x18)
	}
	dst = s.resetPrivate(dst, 0, 1)
	dst = s.keyboardStack().appendReset(dst)
	if s.modify != 0 {
		dst = append(dst, "\x1b[>4;0m"...)
	}
	if s.format != 0 {
		dst = append(dst, "\x1b[>4;0f"...)
	}
	for i, mode := range ansi {
		if s.ansi&(1<<i) != 0 {
			dst = appendMode(append(dst, "\x1b["...), mode.n, mode.on)
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
		dst = appendMode(append(dst, "\x1b[?"...), s.alt, false)
		if s.alt == 1049 && s.saved&origin != 0 {
			dst = append(dst, "\x1b[?6l"...)
		}
		dst = s.kitty[0].appendReset(dst)
	} else {
		dst = appendOnAlternate(dst, s.kitty[1].appendReset(nil))
	}
	dst = s.resetPen(dst)
	return s.resetPrivate(dst, atCursor, len(private))
}

// AppendSet appends the sequences that set the program's modes again after AppendReset: the
// alternate screen, empty, then the rest. The program itself sets the pen and the colours again
// when it draws.
func (m *Modes) AppendSet(dst []byte) []byte {
	s := &m.now
	dst = s.kitty[0].appendTo(dst)
	if s.alt != 0 {
		dst = appendMode(append(dst, "\x1b[?"...), s.alt, true)
		dst = s.kitty[1].appendTo(dst)
	} else {
		dst = appendOnAlternate(dst, s.kitty[1].appendTo(nil))
	}
	if s.modify != 0 {
		dst = appendParam(dst, "\x1b[>4;", s.modify, "m")
	}
	if s.format != 0 {
		dst = appendParam(dst, "\x1b[>4;", s.format, "f")
	}
	for i, mode := range ansi {
		if s.ansi&(1<<i) != 0 {
			dst = appendMode(append(dst, "\x1b["...), mode.n, !mode.on)
		}
	}
	for i, mode := range private[1:] { // a pause for drawing is over
		if s.private&(1<<(i+1)) != 0 {
			dst = appendMode(append(dst, "\x1b[?"...), mode.n, !mode.on)
		}
	}
	if s.keypad {
		dst = append(dst, "\x1b="...)
	}
	if s.eightBit {
		dst = append(dst, "\x1b G"...)
	}
	if s.shape != 0 {
		dst = appendParam(dst, "\x1b[", s.shape, " q")
	}
	return s.setMargins(dst)
}

// appendOnAlternate appends sequences for the alternate screen while the main one is shown. Mode 47
// neither erases nor moves the cursor (xterm ctlseqs).
func appendOnAlternate(dst, sequences []byte) []byte {
	if len(sequences) == 0 {
		return dst
	}
	return append(append(append(dst, "\x1b[?47h"...), sequences...), "\x1b[?47l"...)
}

// AppendAround appends picture, which draws a screen on a terminal that has just been reset, and
// the program's modes that the picture's model does not track: the stack of keyboard flags, the
// stack of titles, and reports of the size.
func (m *Modes) AppendAround(dst, picture []byte) []byte {
	s := &m.now
	for range s.titles {
		dst = append(dst, "\x1b[22;0t"...)
	}
	dst = s.kitty[0].appendTo(dst)
	dst = append(dst, picture...)
	if alt := s.kitty[1]; s.alt != 0 && (alt.depth > 0 || alt.base != 0) {
		// in place of the current flags, which the picture set
		dst = alt.appendTo(append(dst, "\x1b[=0u"...))
	}
	if s.private&(1<<atSizes) != 0 {
		dst = appendMode(append(dst, "\x1b[?"...), private[atSizes].n, !private[atSizes].on)
	}
	if s.eightBit {
		dst = append(dst, "\x1b G"...)
	}
	return dst
}

// setMargins sets the margins again. As in resetMargins the main screen keeps its cursor, which the
// shell has left where the program continues: vim leaves its margins on when it stops, and enters
// the alternate screen from there.
func (s *state) setMargins(dst []byte) []byte {
	keep := s.alt == 0 && s.private&(1<<atOrigin) == 0 && (s.margins != [2]uint16{} || s.sides != [2]uint16{})
	if keep {
		dst = append(dst, "\x1b7"...)
	}
	dst = appendMargins(dst, s.margins, 'r')
	dst = appendMargins(dst, s.sides, 's')
	if keep {
		dst = append(dst, "\x1b8"...)
	}
	return dst
}

// resetPrivate resets the changed private modes from one index up to another.
func (s *state) resetPrivate(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if s.private&(1<<i) != 0 {
			dst = appendMode(append(dst, "\x1b[?"...), private[i].n, private[i].on)
		}
	}
	return dst
}

// resetMargins removes all margins. That moves the cursor to the corner, which does no harm on the
// alternate screen. On the main one DECSC keeps the cursor: the program no longer needs that slot.
// DECRC would set origin mode again.
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
	return s.resetPrivate(dst, atWrap, atWrap+1) // DECRC restores this one, too
}

func (s *state) resetPen(dst []byte) []byte {
	pen := s.pen
	if s.alt == 1049 {
		pen |= s.saved // leaving the alternate screen restored it
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
			dst = appendParam(dst, "\x1b]", 110+n, "\x1b\\")
		}
	}
	return dst
}

// appendReset empties the stack, but only of pushed entries: the ones below may be the shell's.
func (k *stack) appendReset(dst []byte) []byte {
	if k.depth > 0 {
		dst = appendParam(dst, "\x1b[<", k.depth, "u")
	}
	if k.base != 0 {
		dst = append(dst, "\x1b[=0u"...)
	}
	return dst
}

func (k *stack) appendTo(dst []byte) []byte {
	if k.base != 0 {
		dst = appendParam(dst, "\x1b[=", k.base, "u")
	}
	for _, flags := range k.flags[:k.depth] {
		dst = appendParam(dst, "\x1b[>", flags, "u")
	}
	return dst
}

// appendParam appends a sequence with one parameter.
func appendParam(dst []byte, begin string, n uint8, end string) []byte {
	return append(strconv.AppendUint(append(dst, begin...), uint64(n), 10), end...)
}

// appendMode appends a mode's number and SM or RM.
func appendMode(dst []byte, n uint16, on bool) []byte {
	dst = strconv.AppendUint(dst, uint64(n), 10)
	if on {
		return append(dst, 'h')
	}
	return append(dst, 'l')
}

// appendMargins appends margins unless both are 0, the edge.
func appendMargins(dst []byte, edges [2]uint16, final byte) []byte {
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
