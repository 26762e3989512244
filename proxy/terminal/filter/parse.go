package filter

import (
	"unicode/utf8"
)

// fate says what happens to a sequence.
type fate uint8

const (
	unknown    fate = iota // more of it has to come
	pass                   // unchanged
	drop                   // remove
	trim                   // remove some modes of a list
	dropString             // remove to the end of the string
	retain                 // keep back
)

// sequence is in[at:end]: a sequence, or the part of it that decides its fate.
type sequence struct {
	at, end int
	fate    fate
	open    open     // if it passes
	skip    skipping // for dropString
	// for trim: where the parameters begin; for a caught OSC: where its number begins
	body  int
	catch bool // for dropString: it sets colours
}

// firstTextRune is the first character that xterm takes for text within a sequence.
const firstTextRune = 0x100

// charAt reads the character at in[i]. size is 0 if the rest of it has not arrived.
func (s *scan) charAt(i int) (c rune, size int) {
	if i >= len(s.in) {
		return 0, 0
	}
	if b := s.in[i]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	if !utf8.FullRune(s.in[i:]) {
		return 0, 0
	}
	return utf8.DecodeRune(s.in[i:])
}

// foldChar reads a character within a sequence as terminals do: xterm takes the upper half of
// Latin-1 for the lower, and st takes the low byte of any other character.
func foldChar(c rune) rune {
	switch {
	case c >= firstTextRune:
		return c & 0xff
	case c >= 0xa0:
		return c - 0x80
	}
	return c
}

// isSkipped reports whether terminals skip or obey c within a sequence without ending it.
func isSkipped(c rune) bool {
	return c < ' ' && c != esc || c == del || c >= 0x80 && c < 0xa0 && c != csi && c != osc && c != dcs
}

// parseSequence reads the sequence at in[at].
func (s *scan) parseSequence(at int) sequence {
	c, size := s.charAt(at)
	i := at + max(size, 1)
	switch b := s.in[i-1]; {
	case c == csi || b == csi:
		return s.parseControl(at, i)
	case b == can || b == sub:
		if s.f.open == closed {
			return sequence{at: at, end: i, fate: pass}
		}
		return s.parseControl(at, i)
	case c == osc || b == osc:
		return s.parseOSC(at, i)
	case c == dcs || b == dcs:
		return s.parseDCS(at, i)
	case c == apc || b == apc:
		return s.parseAPC(at, i)
	}
	for {
		c, size = s.charAt(i)
		switch {
		case i-at >= Longest:
			return sequence{at: at, end: i, fate: dropString, skip: tooLong}
		case size == 0:
			return sequence{}
		case c == esc && i-at >= Longest/2:
			// A run of ESC: all but the last one have no effect.
			return sequence{at: at, end: i, fate: pass, open: unended}
		case c != esc && !isSkipped(c):
			return s.parseEscape(at, i, size)
		}
		i += size
	}
}

// parseEscape reads on after ESC and the characters that terminals skip.
func (s *scan) parseEscape(at, i, size int) sequence {
	c, _ := s.charAt(i)
	switch foldChar(c) {
	case '[':
		return s.parseControl(at, i+size)
	case ']':
		return s.parseOSC(at, i+size)
	case 'P':
		return s.parseDCS(at, i+size)
	case '_':
		return s.parseAPC(at, i+size)
	case 'X', '^':
		return sequence{at: at, end: i + size, fate: pass, open: unended}
	}
	for {
		c, size = s.charAt(i)
		switch folded := foldChar(c); {
		case i-at >= Longest:
			return sequence{at: at, end: i, fate: dropString, skip: tooLong}
		case size == 0:
			return sequence{}
		case c == esc, c >= firstTextRune, c >= 0x80 && c < 0xa0 && !isSkipped(c):
			return sequence{at: at, end: i, fate: pass, open: unended}
		case !isSkipped(c) && folded >= '0' && folded < del:
			return sequence{at: at, end: i + size, fate: pass}
		}
		i += size
	}
}

// parseControl reads a control sequence whose parameters begin at in[body].
func (s *scan) parseControl(at, body int) sequence {
	var p params
	for i := body; ; {
		c, size := s.charAt(i)
		switch folded := foldChar(c); {
		case i-at >= Longest:
			return sequence{at: at, end: i, fate: dropString, skip: tooLong}
		case size == 0:
			return sequence{}
		case c == can || c == sub: // st begins again, and others have ended
			p, body = params{}, i+1
		case isSkipped(c):
		case c == esc, c >= firstTextRune && (folded < ' ' || folded >= '@'), c >= 0x80 && c < 0xa0:
			return sequence{at: at, end: i, fate: pass, open: unended}
		case folded >= '@' && folded < del:
			p.endParam()
			return sequence{at: at, end: i + size, fate: s.judgeControl(&p, folded), body: body}
		default:
			p.addChar(folded)
		}
		i += size
	}
}

// params holds those facts about a control sequence's parameters that decide its fate.
type params struct {
	value, count int
	first        int
	marker       rune // <, =, > or ?: a private sequence; 0 if absent
	inter        rune
	blank        bool // one stands in it, which is an intermediate to some terminals
	lock         bool // one is KAM
	print        bool // one is 4 or 5
}

func (p *params) addChar(c rune) {
	switch {
	case c >= '0' && c <= '9':
		p.value = min(p.value*10+int(c-'0'), huge)
	case c == ';' || c == ':':
		p.endParam()
	case c >= '<' && c <= '?':
		p.marker = c
	case c == ' ':
		p.blank = true
	case c > ' ' && c < '0' && c != '+': // strtol takes the sign, as blanks before it
		p.inter = c
	}
}

func (p *params) endParam() {
	if p.count == 0 {
		p.first = p.value
	}
	p.lock = p.lock || isKeyboardLock(p.value)
	p.print = p.print || p.value == 4 || p.value == 5 || p.value == huge
	p.value, p.count = 0, p.count+1
}

// huge stands for every number that a terminal may take modulo a power of two.
const huge = 10000

func isKeyboardLock(mode int) bool { return mode == 2 || mode == huge }

func (s *scan) judgeControl(p *params, final rune) fate {
	switch {
	case s.f.keep && p.inter == '#' && (final == 'P' || final == 'Q'):
		return retain
	case final == 'h' && p.lock && p.marker == 0 && p.inter == 0:
		return trim
	case s.driven && p.isReconfiguring(final):
		return drop
	}
	return pass
}

// writeTrimmedModes writes the list of modes without KAM, or nothing if no other mode is left.
func (s *scan) writeTrimmedModes(q sequence) {
	out := append(s.f.out, esc, '[')
	kept, start, value := 0, len(out), 0
	for i := q.body; i < q.end; {
		c, size := s.charAt(i)
		i += size
		c = foldChar(c)
		switch {
		case c >= '0' && c <= '9':
			value = min(value*10+int(c-'0'), huge)
			out = append(out, byte(c))
			continue
		case c != ';' && c != ':' && i < q.end:
			continue
		}
		if isKeyboardLock(value) || len(out) == start {
			out = out[:start]
		} else {
			out = append(out, ';')
			start = len(out)
			kept++
		}
		value = 0
	}
	if kept == 0 {
		out = out[:len(s.f.out)]
		if s.f.open != closed || s.byteBefore(q.at, 1) >= 0xc0 {
			out = append(out, cancelSequence...)
		}
	} else {
		out[len(out)-1] = 'h'
	}
	s.f.out = out
}

// parseOSC reads an OSC, whose text begins at in[i], until its fate is known.
func (s *scan) parseOSC(at, i int) sequence {
	if !s.driven && !s.f.keep {
		return sequence{at: at, end: i, fate: pass, open: title}
	}
	h := header{s: s, at: at, from: i, i: i}
	number, digits := h.readNumber()
	c := h.peekChar()
	bad := false
	if s.f.keep && digits > 0 && !h.more && (isColorCommand(number) || number == 1337 && c == ';' && h.isSetCommand()) {
		q := h.decideFate(true, oscString)
		q.body, q.catch = i, true
		return q
	}
	switch {
	case h.more, !s.driven:
	case digits == 0:
		bad = c == ';' || c == 'l' || c == 'L' || c == 'I'
	case number == 9 && c == ';':
		h.i++
		job, _ := h.readNumber()
		// else it is a notification
		bad = conEmuCommands[job] != "" && (h.peekChar() == ';' || job == 7 || job == huge)
	case number == 1337 && c == ';':
		h.i++
		bad = h.isBadTransfer()
	default:
		bad = oscCommands[number] != "" || number == 51 && c == ';' && h.callsFunction()
	}
	return h.decideFate(bad, oscString)
}

// parseDCS reads a DCS, whose text begins at in[i], until its fate is known.
func (s *scan) parseDCS(at, i int) sequence {
	if !s.driven {
		return sequence{at: at, end: i, fate: pass, open: unended}
	}
	h := header{s: s, at: at, from: i, i: i}
	bad := h.readWord("@kitty-cmd")
	if !bad && !h.more {
		h.i = i
		bad = h.isReconfiguring()
	}
	return h.decideFate(bad, otherString)
}

// header reads the beginning of a string.
type header struct {
	s           *scan
	at, from, i int
	more        bool // it depends on bytes to come
}

func (h *header) decideFate(bad bool, skip skipping) sequence {
	switch {
	case h.i-h.at >= Longest:
		return sequence{at: h.at, end: h.at + Longest, fate: dropString, skip: skip}
	case h.more:
		return sequence{}
	case bad:
		return sequence{at: h.at, end: h.i, fate: dropString, skip: skip}
	}
	state := unended
	if skip == oscString {
		state = title
	}
	// its text is examined again
	return sequence{at: h.at, end: h.from, fate: pass, open: state}
}

// peekChar returns the next character that counts, or 0 and sets more if it has not arrived. C0
// controls and DEL do not count, unless they end a string.
func (h *header) peekChar() byte {
	for ; h.i < len(h.s.in) && h.i-h.at < Longest; h.i++ {
		if c := h.s.in[h.i]; c >= ' ' && c != del || h.endsString(c) {
			return c
		}
	}
	h.more = true
	return 0
}

func (h *header) endsString(c byte) bool {
	return c == bel || c == esc || c == can || c == sub || c == st
}

// readNumber reads digits, after blanks and signs, as atoi does.
func (h *header) readNumber() (n, digits int) {
	for c := h.peekChar(); digits == 0 && (c == ' ' || c == '+'); c = h.peekChar() {
		h.i++
	}
	for c := h.peekChar(); c >= '0' && c <= '9'; c = h.peekChar() {
		n = min(n*10+int(c-'0'), huge)
		digits++
		h.i++
	}
	return n, digits
}

// readWord reads word, in any letter case, and reports whether the string contains all of it here.
func (h *header) readWord(word string) bool {
	for _, want := range []byte(word) {
		c := h.peekChar()
		if c|0x20 != want|0x20 {
			return false
		}
		h.i++
	}
	return true
}

// isSetCommand reports whether an OSC 1337 sets something, such as colours. It does not move the
// header.
func (h *header) isSetCommand() bool {
	at := *h
	at.i++
	ok := at.readWord("set")
	h.more = at.more
	return ok && !at.more
}

// callsFunction reports whether an OSC 51 calls a function of Emacs or Vim: any but 51;A, with
// which a shell names its directory. The header stands behind the number.
func (h *header) callsFunction() bool {
	h.i++
	c := h.peekChar()
	return !h.more && c != 'A'
}
