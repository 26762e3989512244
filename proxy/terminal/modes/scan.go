package modes

import (
	"bytes"

	"terminalproxy/proxy/terminal/vt"
)

// FollowChunk is FollowBytes for a chunk whose cuts are known. Calls of both may be mixed.
func (m *Modes) FollowChunk(c vt.Chunk) {
	if !m.scan.IsAtGround() {
		m.FollowBytes(c.Bytes[:c.PartEnd(-1)])
	}
	for i := range c.Cuts {
		switch cut := &c.Cuts[i]; {
		case cut.Size == 0 || !m.scan.IsAtGround():
			m.FollowBytes(c.Bytes[cut.At:c.PartEnd(i)])
		case cut.Final == 'm' && (cut.First <= ';' || cut.Size == 3): // the most frequent by far
			m.obeySGR(cut.Size == 3 || cut.Size == 4 && cut.First == '0')
		case followedFinals[cut.Final&0x7f]:
			m.obeyControl(c.Params(*cut), cut.Final)
		}
	}
}

// FollowBytes notes the changes by bytes that are sent to the terminal, cut anywhere. It does not
// allocate.
func (m *Modes) FollowBytes(p []byte) {
	for len(p) > 0 {
		q, n := m.scan.Next(p)
		switch q.Kind {
		case vt.None:
		case vt.Control:
			m.obeyControl(q.Text, q.Final)
		case vt.Escape:
			m.obeyEscape(q.Inter, q.Final)
		case vt.Command:
			m.obeyOSC(q.Text)
		}
		p = p[n:]
	}
}

// obeyEscape obeys ESC with an intermediate (or 0) and a final byte.
func (m *Modes) obeyEscape(inter, final byte) {
	now := &m.now
	switch inter {
	case 0:
		switch final {
		case 'c': // RIS
			*now = state{}
		case '=':
			now.keypad = true
		case '>':
			now.keypad = false
		case '7':
			now.saveCursor(true)
		case '8':
			now.saveCursor(false)
		case 'n', 'o': // LS2, LS3
			now.pen |= penOther
		}
	case ' ':
		if final == 'F' || final == 'G' {
			now.eightBit = final == 'G'
		}
	case '(':
		now.designateSet(penG0, final)
	case ')', '-':
		now.designateSet(penG1, final)
	case '*', '+', '.', '/':
		now.designateSet(penOther, final)
	}
}

// designateSet obeys SCS of one slot.
func (s *state) designateSet(slot uint8, final byte) {
	s.pen &^= slot
	if final != 'B' {
		s.pen |= slot
	}
}

// followedFinals has the final bytes of all control sequences that change a followed mode, or are
// counted.
var followedFinals = func() (t [128]bool) {
	for _, c := range "mhlrsunfpqt}" {
		t[c] = true
	}
	return t
}()

// obeyControl obeys a control sequence. p is all between CSI and the final byte.
func (m *Modes) obeyControl(p []byte, final byte) {
	if final == 'm' && (len(p) == 0 || p[0] <= ';') {
		m.obeySGR(len(p) == 0 || len(p) == 1 && p[0] == '0')
		return
	}
	marker, inter := byte(0), byte(0)
	if len(p) > 0 && p[0] >= '<' && p[0] <= '?' {
		marker, p = p[0], p[1:]
	}
	if n := len(p); n > 0 && p[n-1] >= 0x20 && p[n-1] < 0x30 {
		inter, p = p[n-1], p[:n-1]
	}
	if inter != 0 {
		m.obeyIntermediate(p, marker, inter, final)
		return
	}
	now := &m.now
	switch marker {
	case 0:
		m.obeyStandard(p, final)
	case '?':
		switch final {
		case 'h', 'l':
			eachParam(p, func(n uint16) { now.setPrivate(n, final == 'h') })
		case 'r': // XTRESTORE: to what it may have been when it was saved
			eachParam(p, func(n uint16) { now.restorePrivate(n) })
		}
	case '>':
		m.obeyKeys(p, final)
	case '<':
		if final == 'u' {
			now.keyboardStack().popFlags(max(firstParam(p, 1), 1))
		}
	case '=':
		if final == 'u' {
			now.keyboardStack().setFlags(uint8(firstParam(p, 0)&0x1f), secondParam(p, 1))
		}
	}
}

// obeyStandard obeys a control sequence without a private marker.
func (m *Modes) obeyStandard(p []byte, final byte) {
	now := &m.now
	switch final {
	case 'h', 'l':
		eachParam(p, func(n uint16) { now.setANSI(n, final == 'h') })
	case 'r':
		now.margins = [2]uint16{firstParam(p, 0), secondParam(p, 0)}
		if now.margins[0] <= 1 && now.margins[1] == 0 {
			now.margins = [2]uint16{}
		}
	case 's':
		if now.private&(1<<atSides) != 0 {
			now.sides = [2]uint16{firstParam(p, 0), secondParam(p, 0)}
		} else {
			now.saveCursor(true)
		}
	case 'u':
		now.saveCursor(false)
	case 'n':
		if firstParam(p, 0) == 6 {
			m.asked++
		}
	case 't':
		switch n := firstParam(p, 0); {
		case n == 22 && now.titles < maxTitles:
			now.titles++
		case n == 23 && now.titles > 0:
			now.titles--
		}
	}
}

// obeyIntermediate obeys the few control sequences with an intermediate byte.
func (m *Modes) obeyIntermediate(p []byte, marker, inter, final byte) {
	now := &m.now
	if marker != 0 {
		return
	}
	switch {
	case inter == ' ' && final == 'q':
		now.shape = uint8(min(firstParam(p, 0), 255))
		now.private &^= 1 << atBlink // the shape says whether it blinks
	case inter == '!' && final == 'p':
		now.softReset()
	case inter == '#' && (final == '}' || final == 'q'): // XTPOPSGR
		now.pen |= penSGR
	}
}

// obeyKeys obeys the sequences that change how keys are sent: the kitty protocol, XTMODKEYS and
// XTFMTKEYS.
func (m *Modes) obeyKeys(p []byte, final byte) {
	now := &m.now
	switch final {
	case 'u':
		now.keyboardStack().pushFlags(uint8(firstParam(p, 0) & 0x1f))
	case 'm':
		switch {
		case len(p) == 0:
			now.modify = 0
		case firstParam(p, 0) == 4:
			now.modify = uint8(min(secondParam(p, 0), 255))
		}
	case 'n':
		if firstParam(p, 4) == 4 {
			now.modify = 0
		}
	case 'f':
		if firstParam(p, 4) == 4 {
			now.format = uint8(min(secondParam(p, 0), 255))
		}
	}
}

// obeySGR notes whether SGR leaves an attribute on, as all but a plain reset do. Nothing else
// matters at the end of a session.
func (m *Modes) obeySGR(reset bool) {
	m.now.pen |= penSGR
	if reset {
		m.now.pen &^= penSGR
	}
}

// restorePrivate obeys XTRESTORE of one mode.
func (s *state) restorePrivate(n uint16) {
	if i := privateIndex(n); i >= 0 {
		s.private |= 1 << i
	}
}

// obeyOSC obeys an OSC: the colours of the terminal and hyperlinks.
func (m *Modes) obeyOSC(p []byte) {
	now := &m.now
	number, rest, _ := bytes.Cut(p, []byte{';'})
	query := bytes.HasSuffix(rest, []byte{'?'})
	switch n := firstParam(number, 0); {
	case len(number) == 0:
	case n == 4 && !query:
		now.palette = true
	case n == 104 && len(rest) == 0:
		now.palette = false
	case n == 8:
		_, target, _ := bytes.Cut(rest, []byte{';'})
		now.pen &^= penLink
		if len(target) > 0 {
			now.pen |= penLink
		}
	case n >= 10 && n <= 19 && len(rest) > 0 && !query:
		now.colours |= 1 << (n - 10)
	case n >= 110 && n <= 119:
		now.colours &^= 1 << (n - 110)
	}
}

// eachParam calls do with every parameter that is not empty.
func eachParam(p []byte, do func(n uint16)) {
	for part := range bytes.SplitSeq(p, []byte{';'}) {
		if len(part) > 0 {
			do(firstParam(part, 0))
		}
	}
}

// firstParam returns the first parameter, or its default.
func firstParam(p []byte, def uint16) uint16 {
	n, digits := uint32(0), 0
	for _, c := range p {
		if c < '0' || c > '9' {
			break
		}
		n = min(n*10+uint32(c-'0'), 65535)
		digits++
	}
	if digits == 0 {
		return def
	}
	return uint16(n)
}

// secondParam returns the second parameter, or its default.
func secondParam(p []byte, def uint16) uint16 {
	_, rest, ok := bytes.Cut(p, []byte{';'})
	if !ok {
		return def
	}
	return firstParam(rest, def)
}
