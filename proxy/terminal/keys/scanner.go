package keys

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	csi = 0x9b // CSI as one byte (S8C1T)
)

const (
	// MaxHeld bounds the bytes that a Scanner holds back. A longer string of the terminal is passed
	// on in Reply units of this size.
	MaxHeld = 1024

	// maxParams bounds the parameter bytes of a control sequence. No key and no reply is longer; a
	// longer sequence passes as Key units and has no meaning.
	maxParams = 64
)

// state is the state of the scanner between two bytes.
type state uint8

const (
	ground   state = iota
	inUTF8         // inside a character, perhaps after ESC
	afterESC       // ESC
	inCSI          // ESC [ or 0x9b, and parameters
	longCSI        // a control sequence with too many parameters: pass it on
	inSS3          // ESC O
	inX10          // ESC [ M and up to two of its three bytes
	strOpen        // ESC ] or ESC P or ESC _: a string, or Alt and that key
	inString       // the string's contents
	strESC         // ESC inside a string: half of ST, or a new sequence
)

// Scanner cuts keyboard input into units and classifies them. Everything that a decision needs
// survives between calls of Scan, so a match never depends on how reads cut the stream; and no
// input can bring a Scanner into a state in which it misses the reclaim key. All emitted bytes
// followed by HeldBytes are exactly the bytes scanned, in order.
//
// A Scanner is not safe for concurrent use and never allocates.
type Scanner struct {
	reclaim CtrlKey
	grant   CtrlKey
	state   state
	str     byte  // what opened the string: ] P or _
	need    uint8 // bytes that the character or mouse report still lacks
	// params counts the parameter bytes of the open control sequence; number holds while they are
	// all digits.
	params uint8
	number bool
	paste  bool
	x10    bool
	// lateBEL is set when an OSC string was given up: its BEL may still arrive, and it must not
	// pass for a Ctrl+G.
	lateBEL bool
	cpr     int
	// down and winDown are the key that was pressed as the reclaim key and not yet reported as
	// released, by its number in the kitty protocol and in win32-input-mode; 0 if it is up.
	down, winDown int32
	held          int
	buf           [MaxHeld + 8]byte
}

// NewScanner returns a Scanner that looks for the given keys. It must be fed every byte of its
// keyboard from the start.
func NewScanner(b Bindings) *Scanner {
	b = b.WithDefaults()
	return &Scanner{reclaim: b.Reclaim, grant: b.Grant}
}

// Reset forgets the scanned bytes, because the next ones come from another terminal.
func (s *Scanner) Reset() { *s = Scanner{reclaim: s.reclaim, grant: s.grant, x10: s.x10} }

// HeldBytes returns the bytes of the incomplete unit, nil without one. They are valid until the
// next call. An unfinished string of the terminal always has bytes here, so a caller that flushes
// bytes held too long never leaves the scanner inside one.
func (s *Scanner) HeldBytes() []byte {
	if s.held == 0 {
		return nil
	}
	return s.buf[:s.held]
}

// HasLoneEsc reports whether exactly one ESC is held. It is the Escape key unless more bytes follow
// at once (50 ms); other held bytes may take longer (1 s).
func (s *Scanner) HasLoneEsc() bool { return s.state == afterESC && s.held == 1 }

// IsInPaste reports whether a bracketed paste is open.
func (s *Scanner) IsInPaste() bool { return s.paste }

// EndPaste closes the paste without its end: the caller gave up waiting.
func (s *Scanner) EndPaste() { s.paste = false }

// SetX10Mouse sets whether mouse reports are CSI M and three bytes: the program has mode 9, 1000,
// 1002 or 1003 on without 1006, 1015 or 1016.
func (s *Scanner) SetX10Mouse(on bool) { s.x10 = on }

// ExpectCPR notes that n more cursor position reports (answers to CSI 6 n) are due. That many CSI r
// ; c R are replies; otherwise they are F3 with modifiers. A negative n takes back reports that
// will not come.
func (s *Scanner) ExpectCPR(n int) {
	const most = 1 << 16
	s.cpr = min(max(s.cpr+min(max(n, -most), most), 0), most)
}

// Flush ends the wait for the rest of a sequence: the held bytes are emitted as Key (as Paste
// inside a paste) and the scanner returns to ground. The paste stays open. emit must not call Scan
// or Flush.
func (s *Scanner) Flush(emit func(Unit)) {
	s.giveUp(nil, emit)
}

// Scan emits every unit that p completes, in order, and holds the rest back. emit must not call
// Scan or Flush.
func (s *Scanner) Scan(p []byte, emit func(Unit)) {
	start := 0 // of the open unit in p; what came before it is in s.buf
	for i := 0; i < len(p); {
		if s.state == ground {
			i, start = s.scanGround(p, i, emit)
			continue
		}
		c := p[i]
		if c == s.reclaim.c0 {
			s.giveUp(p[start:i], emit)
			i++
			emit(Unit{Reclaim, p[i-1 : i]})
			start = i
			continue
		}
		switch s.stepByte(c, s.held+i-start) {
		case more:
			i++
		case done:
			i++
			s.emitComplete(p[start:i], emit)
			start = i
		case piece: // the open bytes leave; c opens the next piece
			kind := Reply
			if s.state == longCSI {
				kind = s.contentKind()
			}
			emit(Unit{kind, s.joinHeld(p[start:i])})
			start = i
			i++
		case abort: // the open bytes were no sequence; c is read again
			inside := s.state != inUTF8
			s.giveUp(p[start:i], emit)
			start = i
			if c == s.grant.c0 && inside { // not pressed in ground: no Confirm
				i++
				emit(Unit{s.contentKind(), p[start:i]})
				start = i
			}
		case restart: // a string broken off by ESC, already in the unit
			s.breakString(p[start:i], emit)
			start = i
		}
	}
	s.holdTail(p[start:], emit)
}

// eachUnit calls emit for every unit of bytes that are whole.
func eachUnit(with Bindings, b []byte, emit func(Unit)) {
	s := NewScanner(with)
	s.Scan(b, emit)
	s.Flush(emit)
}

// scanGround passes text on until something else begins. It returns the next index to read and the
// start of the unit open there.
func (s *Scanner) scanGround(p []byte, i int, emit func(Unit)) (next, start int) {
	start = i
	i = s.textEnd(p, i)
	if i > start {
		emit(Unit{s.contentKind(), p[start:i]})
	}
	if i == len(p) {
		return i, i
	}
	start = i
	switch c := p[i]; c {
	case s.reclaim.c0:
		emit(Unit{Reclaim, p[i : i+1]})
		return i + 1, i + 1
	case s.grant.c0:
		kind := Confirm
		if c == bel && s.lateBEL {
			kind, s.lateBEL = Key, false
		}
		emit(Unit{kind, p[i : i+1]})
		return i + 1, i + 1
	case esc:
		s.state, s.lateBEL = afterESC, false
	case csi:
		s.openCSI()
	default: // a character that is incomplete in p
		s.state, s.need = inUTF8, utf8Tail(c)
	}
	return i + 1, start
}

// textEnd returns the end of the plain text that begins at i. Control characters
// that mean nothing to the scanner are text. A character that p cuts off is not.
func (s *Scanner) textEnd(p []byte, i int) int {
	for i < len(p) {
		c := p[i]
		switch {
		case c >= 0x20 && c < 0x7f:
			i++
		case c < 0x20:
			if c == esc || c == s.reclaim.c0 || c == s.grant.c0 && !s.paste {
				return i
			}
			i++
		case c == csi:
			return i
		default:
			n, end := int(utf8Tail(c)), i+1
			for n > 0 && end < len(p) && p[end]&0xc0 == 0x80 {
				n, end = n-1, end+1
			}
			if n > 0 && end == len(p) {
				return i
			}
			i = end
		}
	}
	return i
}

// utf8Tail returns how many continuation bytes follow c, 0 if c cannot begin a character of several
// bytes.
func utf8Tail(c byte) uint8 {
	switch {
	case c < 0xc2 || c > 0xf4:
		return 0
	case c < 0xe0:
		return 1
	case c < 0xf0:
		return 2
	}
	return 3
}

// verdict is the effect of one byte on the open unit.
type verdict uint8

const (
	more    verdict = iota // it belongs to the unit
	done                   // it ends the unit
	piece                  // the unit is too long: pass on the bytes so far
	abort                  // it does not belong to the unit
	restart                // it belongs to a new sequence that the last ESC began
)

// stepByte decides about byte c, the one after n bytes of an open unit.
func (s *Scanner) stepByte(c byte, n int) verdict {
	switch s.state {
	case inUTF8:
		return s.countWanted(c&0xc0 == 0x80)
	case afterESC:
		return s.stepESC(c)
	case inCSI, longCSI:
		return s.stepCSI(c)
	case inSS3:
		return stepSS3(c, n)
	case inX10:
		return s.countWanted(c >= 0x20)
	case strOpen, inString, strESC:
		return s.stepString(c, n)
	case ground:
	}
	return abort
}

// countWanted counts one of the bytes that the unit lacks. expected means that the byte can be one
// of them.
func (s *Scanner) countWanted(expected bool) verdict {
	if !expected {
		return abort
	}
	if s.need--; s.need == 0 {
		return done
	}
	return more
}

// stepESC reads the byte after ESC. In a paste only control sequences matter: its end, and the
// reclaim key. ESC with any other byte is Alt and that key.
func (s *Scanner) stepESC(c byte) verdict {
	switch {
	case c == '[':
		s.openCSI()
		return more
	case s.paste || c == esc:
		return abort
	case c == 'O':
		s.state = inSS3
		return more
	case c == ']' || c == 'P' || c == '_':
		s.state, s.str = strOpen, c
		return more
	case c < 0x80:
		return done
	case utf8Tail(c) > 0:
		s.state, s.need = inUTF8, utf8Tail(c)
		return more
	}
	return abort
}

// stepSS3 reads a single letter (ESC O A), or the parameters that some terminals put before it (ESC
// O 5 A).
func stepSS3(c byte, n int) verdict {
	switch {
	case c >= 0x40 && c < 0x7f, c == ' ':
		return done
	case c >= 0x30 && c < 0x40 && n < 8:
		return more
	}
	return abort
}

// stepString reads a byte of OSC, DCS or APC. A string opens only if terminals begin their answers
// with its first byte; otherwise Alt+] and the text typed after it would be taken for one.
// Terminals send no answers in SOS or PM. BEL ends OSC and is content elsewhere, so that no answer
// can pass for Ctrl+G.
func (s *Scanner) stepString(c byte, n int) verdict {
	if s.state == strESC {
		if c == '\\' {
			return done
		}
		return restart
	}
	if s.state == strOpen {
		if !beginsString(s.str, c) {
			return abort
		}
		s.state = inString
		return more
	}
	switch {
	case c == bel && s.str == ']':
		return done
	case c == can || c == sub:
		return abort
	case c == esc:
		s.state = strESC
		return more
	case n >= MaxHeld:
		return piece
	}
	return more
}

func beginsString(kind, c byte) bool {
	digit := c >= '0' && c <= '9'
	switch kind {
	case ']': // OSC 11;rgb:..., OSC l title, OSC L icon
		return digit || c == 'l' || c == 'L'
	case 'P': // DCS 1$r..., DCS >|..., DCS !|...
		return c >= 0x20 && c < 0x40
	}
	return digit || c == 'G' // APC G: kitty graphics
}

// contentKind returns the kind of bytes without a meaning of their own.
func (s *Scanner) contentKind() Kind {
	if s.paste {
		return Paste
	}
	return Key
}

// joinHeld returns the whole open unit, of which tail is the part in this read.
func (s *Scanner) joinHeld(tail []byte) []byte {
	if s.held == 0 {
		return tail
	}
	n := s.held + copy(s.buf[s.held:], tail)
	s.held = 0
	return s.buf[:n]
}

// emitComplete emits the open unit, whose last byte is the last of tail.
func (s *Scanner) emitComplete(tail []byte, emit func(Unit)) {
	u := s.joinHeld(tail)
	kind := s.contentKind()
	switch s.state {
	case inCSI:
		if kind = s.classifyCSI(u); kind == Key && typesNothing(u) {
			kind = Idle
		}
	case inX10:
		kind = mouseKind(int32(u[len(u)-3]) - 32)
	case strESC, inString:
		kind = Reply
	case ground, inUTF8, afterESC, longCSI, inSS3, strOpen:
	}
	s.state = ground
	emit(Unit{kind, u})
}

// giveUp emits the open bytes, though their unit is incomplete, and returns to ground.
func (s *Scanner) giveUp(tail []byte, emit func(Unit)) {
	if (s.state == inString || s.state == strESC) && s.str == ']' {
		s.lateBEL = true
	}
	s.state = ground
	if u := s.joinHeld(tail); len(u) > 0 {
		emit(Unit{s.contentKind(), u})
	}
}

// breakString emits a string that an ESC broke off, and keeps that ESC, the last
// byte of the unit, as the beginning of the next.
func (s *Scanner) breakString(tail []byte, emit func(Unit)) {
	if u := s.joinHeld(tail); len(u) > 1 {
		emit(Unit{s.contentKind(), u[:len(u)-1]})
	}
	s.buf[0], s.held = esc, 1
	s.state = afterESC
}

// holdTail keeps the open bytes for the next read.
func (s *Scanner) holdTail(tail []byte, emit func(Unit)) {
	if s.state == longCSI {
		if len(tail) > 0 {
			emit(Unit{s.contentKind(), tail})
		}
		return
	}
	s.held += copy(s.buf[s.held:], tail)
}
