package vt

// Kind is the kind of a sequence.
type Kind uint8

// Kinds of sequences.
const (
	None    Kind = iota // no sequence
	Control             // a control sequence: CSI
	Escape              // ESC, intermediates, a final byte
	Command             // an OSC that was not cancelled
)

// Sequence is a sequence that has ended.
type Sequence struct {
	Kind  Kind
	Inter byte // the last intermediate of an Escape, 0 without one
	Final byte // of a Control or an Escape
	// Text holds the bytes between CSI and the final byte, or the first MaxParams bytes of a
	// Command. It is valid until the next call.
	Text []byte
}

// The states of the scanner between two bytes.
const (
	ground = iota
	escape
	designate // ESC and an intermediate
	control
	command
	text // DCS, SOS, PM, APC
)

// Scanner reads a stream whose pieces begin and end anywhere. One goroutine owns it. The zero value
// is ready. It holds no pointers: a copy reads on independently.
type Scanner struct {
	at    uint8
	inter byte // last intermediate of ESC
	n     uint8
	b     [MaxParams]byte
}

// IsAtGround reports whether the stream is in text, outside of any sequence.
func (s *Scanner) IsAtGround() bool { return s.at == ground }

// Next reads p up to the end of the first sequence that ends there, or all of p. It returns that
// sequence and the number of bytes read. It does not allocate. The sequence is of kind None if it
// was cancelled, or is too long.
func (s *Scanner) Next(p []byte) (q Sequence, n int) {
	if s.at == ground {
		if n = nextEscape(p, 0); n == len(p) {
			return Sequence{}, n
		}
		if size := plainLen(p, n); size > 0 {
			return Sequence{Kind: Control, Text: p[n+2 : n+size-1], Final: p[n+size-1]}, n + size
		}
		s.at, s.inter = escape, 0
		n++
	}
	for ; n < len(p); n++ {
		if s.at == command || s.at == text {
			if n += s.readText(p[n:]); n == len(p) {
				break
			}
		}
		if kind, ended := s.readByte(p[n]); ended {
			return s.endedSequence(kind, p[n]), n + 1
		}
	}
	return Sequence{}, n
}

// endedSequence returns the sequence that c has ended.
func (s *Scanner) endedSequence(kind Kind, c byte) Sequence {
	switch kind {
	case Control:
		return Sequence{Kind: kind, Text: s.b[:s.n], Final: c}
	case Escape:
		return Sequence{Kind: kind, Inter: s.inter, Final: c}
	case Command:
		return Sequence{Kind: kind, Text: s.b[:s.n]}
	case None:
	}
	return Sequence{}
}

// readText reads the text of a string up to the next control, and returns its length.
func (s *Scanner) readText(p []byte) (n int) {
	n = nextControl(p)
	if s.at == command {
		s.n += uint8(copy(s.b[s.n:], p[:n]))
	}
	return n
}

// readByte reads a byte of a sequence, or a control within a string. It reports whether a sequence
// ended, and its kind.
func (s *Scanner) readByte(c byte) (kind Kind, ended bool) {
	before := s.at
	switch {
	case c == can || c == sub: // they end everything
		s.at = ground
		return None, true
	case c == esc:
		// Of ST, if it ends a string; a terminal that drops the command instead is left with less
		// set.
		s.at, s.inter = escape, 0
		return Command, before == command
	case c == '\a' && before == command:
		s.at = ground
		return Command, true
	case before == control:
		return s.readParameter(c)
	case before == escape || before == designate:
		return s.readEscape(c)
	}
	return None, false
}

// readParameter reads a byte of a control sequence.
func (s *Scanner) readParameter(c byte) (kind Kind, ended bool) {
	switch {
	case c < ' ' || c == del: // obeyed or ignored, and the sequence goes on
		return None, false
	case c < '@':
		if s.n < MaxParams {
			s.b[s.n] = c
			s.n++
		}
		return None, false
	}
	s.at = ground
	if c < del && s.n < MaxParams {
		return Control, true
	}
	return None, true
}

// readEscape reads a byte after ESC.
func (s *Scanner) readEscape(c byte) (kind Kind, ended bool) {
	switch {
	case c < ' ' || c == del:
		return None, false
	case c < '0':
		s.at, s.inter = designate, c
		return None, false
	}
	begins := uint8(ground)
	if s.at == escape {
		switch c {
		case '[':
			begins = control
		case ']':
			begins = command
		case 'P', 'X', '^', '_':
			begins = text
		}
	}
	s.at, s.n = begins, 0
	return Escape, begins == ground
}
