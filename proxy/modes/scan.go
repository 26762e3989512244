package modes

import "bytes"

// Where the scanner stands between two bytes.
const (
	ground = iota
	escape
	designate // ESC and an intermediate
	sequence  // CSI
	command   // OSC
	text      // DCS, SOS, PM, APC: nothing in them changes a mode
)

// maxParams bounds what is kept of a control sequence or command, in bytes; the rest is read and ignored, as terminals do
// with what is longer.
const maxParams = 128

// scanner reads sequences whatever the cuts between two calls.
type scanner struct {
	at    uint8
	inter byte // last intermediate of ESC
	n     int
	b     [maxParams]byte
}

// Scan follows what the terminal is sent. It takes any bytes, cut anywhere, and does not allocate.
func (m *Modes) Scan(p []byte) {
	for len(p) > 0 {
		if m.scan.at == ground {
			i := bytes.IndexByte(p, 0x1b)
			if i < 0 {
				return
			}
			if n := whole(p[i:]); n > 0 {
				m.control(p[i+2:i+n-1], p[i+n-1])
				p = p[i+n:]
				continue
			}
			m.scan.at, m.scan.inter = escape, 0
			p = p[i+1:]
			continue
		}
		p = p[m.sequence(p):]
	}
}

// whole is the length of the control sequence that p begins with, 0 if it does not begin with one that is whole and plain:
// nearly all sequences of all programs are.
func whole(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	for i, c := range p[2:min(len(p), maxParams)] {
		switch {
		case c-0x20 < 0x20: // parameters and intermediates
		case c-0x40 < 0x3f:
			return i + 3
		default:
			return 0
		}
	}
	return 0
}

// sequence reads on within a sequence and returns how many bytes it took.
func (m *Modes) sequence(p []byte) int {
	s := &m.scan
	for i, c := range p {
		switch {
		case c == 0x18 || c == 0x1a: // CAN and SUB end everything
			s.at = ground
		case c == 0x1b:
			if s.at == command {
				m.command(s.b[:s.n]) // ST is on its way; a terminal that drops the command instead loses nothing by a reset
			}
			s.at, s.inter = escape, 0
			continue
		case s.at == text:
			continue
		case s.at == command:
			m.within(c)
		case s.at == sequence:
			m.parameter(c)
		default:
			m.escaped(c)
		}
		if s.at == ground {
			return i + 1
		}
	}
	return len(p)
}

// within takes a byte of an OSC.
func (m *Modes) within(c byte) {
	s := &m.scan
	switch {
	case c == '\a':
		m.command(s.b[:s.n])
		s.at = ground
	case c >= 0x20 && s.n < len(s.b):
		s.b[s.n] = c
		s.n++
	}
}

// parameter takes a byte of a control sequence.
func (m *Modes) parameter(c byte) {
	s := &m.scan
	switch {
	case c < 0x20 || c == 0x7f: // obeyed or ignored, and the sequence goes on
	case c >= 0x80:
		s.at = ground
	case c >= 0x40:
		s.at = ground
		if s.n < len(s.b) {
			m.control(s.b[:s.n], c)
		}
	case s.n < len(s.b):
		s.b[s.n] = c
		s.n++
	}
}

// escaped takes a byte after ESC.
func (m *Modes) escaped(c byte) {
	s := &m.scan
	switch {
	case c < 0x20 || c == 0x7f:
		return
	case c < 0x30:
		s.at, s.inter = designate, c
		return
	}
	begins := uint8(ground)
	if s.at == escape {
		switch c {
		case '[':
			begins = sequence
		case ']':
			begins = command
		case 'P', 'X', '^', '_':
			begins = text
		}
	}
	s.at, s.n = begins, 0
	if begins == ground {
		m.escapeSequence(s.inter, c)
	}
}

// escapeSequence obeys ESC, an intermediate or none, and a final byte.
func (m *Modes) escapeSequence(inter, final byte) {
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
			now.save(true)
		case '8':
			now.save(false)
		case 'n', 'o': // LS2, LS3
			now.pen |= penOther
		}
	case ' ':
		if final == 'F' || final == 'G' {
			now.eightBit = final == 'G'
		}
	case '(':
		now.designated(penG0, final)
	case ')', '-':
		now.designated(penG1, final)
	case '*', '+', '.', '/':
		now.designated(penOther, final)
	}
}

// designated is SCS of one slot.
func (s *state) designated(slot uint8, final byte) {
	s.pen &^= slot
	if final != 'B' {
		s.pen |= slot
	}
}

// ours are the final bytes of the control sequences that change what is followed, whatever stands before them.
var ours = func() (t [128]bool) {
	for _, c := range "mhlrsunfpqt}" {
		t[c] = true
	}
	return t
}()

// control obeys a control sequence, of which p is all between CSI and the final byte.
func (m *Modes) control(p []byte, final byte) {
	if final == 'm' && (len(p) == 0 || p[0] <= ';') { // the most frequent by far
		m.sgr(p)
		return
	}
	if !ours[final&0x7f] {
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
		m.intermediate(p, marker, inter, final)
		return
	}
	now := &m.now
	switch marker {
	case 0:
		m.standard(p, final)
	case '?':
		switch final {
		case 'h', 'l':
			each(p, func(n uint16) { now.setPrivate(n, final == 'h') })
		case 'r': // XTRESTORE: to what it may have been when it was saved
			each(p, func(n uint16) { now.restored(n) })
		}
	case '>':
		m.keys(p, final)
	case '<':
		if final == 'u' {
			now.screen().pop(max(first(p, 1), 1))
		}
	case '=':
		if final == 'u' {
			now.screen().set(uint8(first(p, 0)&0x1f), second(p, 1))
		}
	}
}

// standard obeys a control sequence without a private marker.
func (m *Modes) standard(p []byte, final byte) {
	now := &m.now
	switch final {
	case 'h', 'l':
		each(p, func(n uint16) { now.setANSI(n, final == 'h') })
	case 'r':
		now.margins = [2]uint16{first(p, 0), second(p, 0)}
		if now.margins[0] <= 1 && now.margins[1] == 0 {
			now.margins = [2]uint16{}
		}
	case 's':
		if now.private&(1<<atSides) != 0 {
			now.sides = [2]uint16{first(p, 0), second(p, 0)}
		} else {
			now.save(true)
		}
	case 'u':
		now.save(false)
	case 't':
		switch n := first(p, 0); {
		case n == 22 && now.titles < maxTitles:
			now.titles++
		case n == 23 && now.titles > 0:
			now.titles--
		}
	}
}

// intermediate obeys the few control sequences with an intermediate byte.
func (m *Modes) intermediate(p []byte, marker, inter, final byte) {
	now := &m.now
	if marker != 0 {
		return
	}
	switch {
	case inter == ' ' && final == 'q':
		now.shape = uint8(min(first(p, 0), 255))
		now.private &^= 1 << atBlink // the shape says whether it blinks
	case inter == '!' && final == 'p':
		now.softReset()
	case inter == '#' && (final == '}' || final == 'q'): // XTPOPSGR
		now.pen |= penSGR
	}
}

// keys obeys what changes how keys are sent: the kitty protocol, XTMODKEYS and XTFMTKEYS.
func (m *Modes) keys(p []byte, final byte) {
	now := &m.now
	switch final {
	case 'u':
		now.screen().push(uint8(first(p, 0) & 0x1f))
	case 'm':
		switch {
		case len(p) == 0:
			now.modify = 0
		case first(p, 0) == 4:
			now.modify = uint8(min(second(p, 0), 255))
		}
	case 'n':
		if first(p, 4) == 4 {
			now.modify = 0
		}
	case 'f':
		if first(p, 4) == 4 {
			now.format = uint8(min(second(p, 0), 255))
		}
	}
}

// sgr obeys SGR. What is not a plain reset leaves something on, as far as the end of a session is concerned.
func (m *Modes) sgr(p []byte) {
	m.now.pen |= penSGR
	if len(p) == 0 || len(p) == 1 && p[0] == '0' {
		m.now.pen &^= penSGR
	}
}

// restored is XTRESTORE of one mode.
func (s *state) restored(n uint16) {
	for i := range private {
		if private[i].n == n {
			s.private |= 1 << i
		}
	}
}

// command obeys an OSC: the colours of the terminal and hyperlinks.
func (m *Modes) command(p []byte) {
	now := &m.now
	number, rest, _ := bytes.Cut(p, []byte{';'})
	query := bytes.HasSuffix(rest, []byte{'?'})
	switch n := first(number, 0); {
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

// each calls do with every parameter that is given.
func each(p []byte, do func(n uint16)) {
	for part := range bytes.SplitSeq(p, []byte{';'}) {
		if len(part) > 0 {
			do(first(part, 0))
		}
	}
}

// first is the first parameter, or what it is by default.
func first(p []byte, def uint16) uint16 {
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

// second is the second parameter, or what it is by default.
func second(p []byte, def uint16) uint16 {
	_, rest, ok := bytes.Cut(p, []byte{';'})
	if !ok {
		return def
	}
	return first(rest, def)
}
