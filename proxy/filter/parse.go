package filter

import (
	"unicode/utf8"
)

// fate is what becomes of a sequence.
type fate uint8

const (
	unknown    fate = iota // more of it has to come
	pass                   // as it is
	drop                   // out
	trim                   // a list of modes of which some go
	dropString             // out, to the end of the string
	retain                 // kept back
)

// sequence is one that was found, or as much of it as tells its fate: in[at:end].
type sequence struct {
	at, end int
	fate    fate
	open    open     // if it passes
	skip    skipping // for dropString
	body    int      // for trim: where the parameters begin; for what is caught: where its number does
	catch   bool     // for dropString: it sets colours
}

// other is the first character that xterm takes for text within a sequence.
const other = 0x100

// char reads the character at in[i]; size 0 means that the rest of it has to come.
func (s *scan) char(i int) (c rune, size int) {
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

// fold reads a character within a sequence as terminals do: to xterm the upper half of Latin-1 stands for the lower, and st
// takes the low byte of any other.
func fold(c rune) rune {
	switch {
	case c >= other:
		return c & 0xff
	case c >= 0xa0:
		return c - 0x80
	}
	return c
}

// skipped reports whether terminals skip or obey the character within a sequence without ending that.
func skipped(c rune) bool {
	return c < ' ' && c != esc || c == del || c >= 0x80 && c < 0xa0 && c != csi && c != osc && c != dcs
}

// parse reads the sequence at in[at].
func (s *scan) parse(at int) sequence {
	c, size := s.char(at)
	i := at + max(size, 1)
	switch b := s.in[i-1]; {
	case c == csi || b == csi:
		return s.control(at, i)
	case b == can || b == sub:
		if s.f.open == closed {
			return sequence{at: at, end: i, fate: pass}
		}
		return s.control(at, i)
	case c == osc || b == osc:
		return s.command(at, i)
	case c == dcs || b == dcs:
		return s.device(at, i)
	case c == apc || b == apc:
		return s.application(at, i)
	}
	for {
		c, size = s.char(i)
		switch {
		case i-at >= Longest:
			return sequence{at: at, end: i, fate: dropString, skip: tooLong}
		case size == 0:
			return sequence{}
		case c == esc && i-at >= Longest/2:
			// A run of ESC: what came before the last one does nothing.
			return sequence{at: at, end: i, fate: pass, open: unended}
		case c != esc && !skipped(c):
			return s.escape(at, i, size)
		}
		i += size
	}
}

// escape reads on after ESC and what terminals skip.
func (s *scan) escape(at, i, size int) sequence {
	c, _ := s.char(i)
	switch fold(c) {
	case '[':
		return s.control(at, i+size)
	case ']':
		return s.command(at, i+size)
	case 'P':
		return s.device(at, i+size)
	case '_':
		return s.application(at, i+size)
	case 'X', '^':
		return sequence{at: at, end: i + size, fate: pass, open: unended}
	}
	for {
		c, size = s.char(i)
		switch folded := fold(c); {
		case i-at >= Longest:
			return sequence{at: at, end: i, fate: dropString, skip: tooLong}
		case size == 0:
			return sequence{}
		case c == esc, c >= other, c >= 0x80 && c < 0xa0 && !skipped(c):
			return sequence{at: at, end: i, fate: pass, open: unended}
		case !skipped(c) && folded >= '0' && folded < del:
			return sequence{at: at, end: i + size, fate: pass}
		}
		i += size
	}
}

// control reads a control sequence whose parameters begin at in[body].
func (s *scan) control(at, body int) sequence {
	var p params
	for i := body; ; {
		c, size := s.char(i)
		switch folded := fold(c); {
		case i-at >= Longest:
			return sequence{at: at, end: i, fate: dropString, skip: tooLong}
		case size == 0:
			return sequence{}
		case c == can || c == sub: // st begins anew, and others have ended
			p, body = params{}, i+1
		case skipped(c):
		case c == esc, c >= other && (folded < ' ' || folded >= '@'), c >= 0x80 && c < 0xa0:
			return sequence{at: at, end: i, fate: pass, open: unended}
		case folded >= '@' && folded < del:
			p.close()
			return sequence{at: at, end: i + size, fate: s.judge(&p, folded), body: body}
		default:
			p.add(folded)
		}
		i += size
	}
}

// params are the parameters of a control sequence, as far as they matter.
type params struct {
	value, count int
	first        int
	marker       rune // <, =, > or ?: a private sequence; 0 for none
	inter        rune
	blank        bool // one stands in it, which is an intermediate to some terminals
	lock         bool // one is KAM
	print        bool // one is 4 or 5
}

func (p *params) add(c rune) {
	switch {
	case c >= '0' && c <= '9':
		p.value = min(p.value*10+int(c-'0'), huge)
	case c == ';' || c == ':':
		p.close()
	case c >= '<' && c <= '?':
		p.marker = c
	case c == ' ':
		p.blank = true
	case c > ' ' && c < '0' && c != '+': // strtol takes the sign, as blanks before it
		p.inter = c
	}
}

// close ends a parameter.
func (p *params) close() {
	if p.count == 0 {
		p.first = p.value
	}
	p.lock = p.lock || locks(p.value)
	p.print = p.print || p.value == 4 || p.value == 5 || p.value == huge
	p.value, p.count = 0, p.count+1
}

// huge stands for every number that a terminal may take modulo a power of two.
const huge = 10000

func locks(mode int) bool { return mode == 2 || mode == huge }

// judge tells the fate of a control sequence.
func (s *scan) judge(p *params, final rune) fate {
	switch {
	case s.f.keep && p.inter == '#' && (final == 'P' || final == 'Q'):
		return retain
	case final == 'h' && p.lock && p.marker == 0 && p.inter == 0:
		return trim
	case s.driven && p.reconfigures(final):
		return drop
	}
	return pass
}

// shorten writes the list of modes without the one that goes, or nothing when no other is left.
func (s *scan) shorten(q sequence) {
	out := append(s.f.out, esc, '[')
	kept, start, value := 0, len(out), 0
	for i := q.body; i < q.end; {
		c, size := s.char(i)
		i += size
		c = fold(c)
		switch {
		case c >= '0' && c <= '9':
			value = min(value*10+int(c-'0'), huge)
			out = append(out, byte(c))
			continue
		case c != ';' && c != ':' && i < q.end:
			continue
		}
		if locks(value) || len(out) == start {
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
		if s.f.open != closed || s.before(q.at, 1) >= 0xc0 {
			out = append(out, over...)
		}
	} else {
		out[len(out)-1] = 'h'
	}
	s.f.out = out
}

// command reads the number of an OSC whose text begins at in[i], and what else tells its fate.
func (s *scan) command(at, i int) sequence {
	if !s.driven && !s.f.keep {
		return sequence{at: at, end: i, fate: pass, open: title}
	}
	h := header{s: s, at: at, from: i, i: i}
	number, digits := h.number()
	c := h.peek()
	bad := false
	if s.f.keep && digits > 0 && !h.more && (colored(number) || number == 1337 && c == ';' && h.sets()) {
		q := h.fate(true, oscString)
		q.body, q.catch = i, true
		return q
	}
	switch {
	case h.more, !s.driven:
	case digits == 0:
		bad = c == ';' || c == 'l' || c == 'L' || c == 'I'
	case number == 9 && c == ';':
		h.i++
		job, _ := h.number()
		bad = jobs[job] != "" && (h.peek() == ';' || job == 7 || job == huge) // else it is a notification
	case number == 1337 && c == ';':
		h.i++
		bad = h.transfers()
	default:
		bad = commands[number] != "" || number == 51 && c == ';' && h.calls()
	}
	return h.fate(bad, oscString)
}

// device reads as much of a DCS whose text begins at in[i] as tells its fate.
func (s *scan) device(at, i int) sequence {
	if !s.driven {
		return sequence{at: at, end: i, fate: pass, open: unended}
	}
	h := header{s: s, at: at, from: i, i: i}
	bad := h.reads("@kitty-cmd")
	if !bad && !h.more {
		h.i = i
		bad = h.reconfigures()
	}
	return h.fate(bad, otherString)
}

// header reads the begin of a string.
type header struct {
	s           *scan
	at, from, i int
	more        bool // it depends on bytes to come
}

func (h *header) fate(bad bool, skip skipping) sequence {
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
	return sequence{at: h.at, end: h.from, fate: pass, open: state} // what it holds is looked at again
}

// peek is the next character that counts, 0 when it has to come: C0 controls and DEL do not, but those that end a string.
func (h *header) peek() byte {
	for ; h.i < len(h.s.in) && h.i-h.at < Longest; h.i++ {
		if c := h.s.in[h.i]; c >= ' ' && c != del || h.ended(c) {
			return c
		}
	}
	h.more = true
	return 0
}

func (h *header) ended(c byte) bool { return c == bel || c == esc || c == can || c == sub || c == st }

// number reads digits, after blanks and signs: atoi does.
func (h *header) number() (n, digits int) {
	for c := h.peek(); digits == 0 && (c == ' ' || c == '+'); c = h.peek() {
		h.i++
	}
	for c := h.peek(); c >= '0' && c <= '9'; c = h.peek() {
		n = min(n*10+int(c-'0'), huge)
		digits++
		h.i++
	}
	return n, digits
}

// reads reports whether the string begins with word, in any case.
func (h *header) reads(word string) bool {
	for _, want := range []byte(word) {
		c := h.peek()
		if c|0x20 != want|0x20 {
			return false
		}
		h.i++
	}
	return true
}

// sets reports whether an OSC 1337 sets something, such as colours. It leaves the header where it is.
func (h *header) sets() bool {
	at := *h
	at.i++
	ok := at.reads("set")
	h.more = at.more
	return ok && !at.more
}

// calls reports whether an OSC 51 is more than the directory that a shell names (51;A): it calls functions of Emacs or Vim. The header
// stands behind the number.
func (h *header) calls() bool {
	h.i++
	c := h.peek()
	return !h.more && c != 'A'
}
