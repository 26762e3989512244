package screen

import "bytes"

// The parser is Paul Flo Williams' state machine of the VT500 series
// (https://vt100.net/emu/dec_ansi_parser), with three changes that the years have brought: the
// bytes are UTF-8, so a C1 control is a code point and not a byte; parameters may have
// sub-parameters, divided by colons (ITU T.416); and an OSC may end with BEL.

// state is where the parser stands between two bytes.
type state uint8

const (
	ground state = iota
	escape
	escapeIntermediate
	csiEntry
	csiParam
	csiIntermediate
	csiIgnore
	dcsEntry
	dcsParam
	dcsIntermediate
	dcsIgnore
	dcsPassthrough
	oscString
	sosString // SOS, PM and APC: nothing in them concerns the screen
	stateCount
)

// action is what the parser does with a byte on its way to the next state.
type action uint8

const (
	ignore action = iota
	execute
	clearSeq
	collect
	param
	escDispatch
	csiDispatch
	hook
	put
	cancel // CAN or SUB: the sequence is void
	abort  // a byte that cannot be part of a sequence: void, and the byte is text
)

// step is an entry of the transition table.
type step struct {
	next   state
	action action
}

// transitions has, for every state but ground, what each byte does.
var transitions *transitionTable

type transitionTable [stateCount][256]step

func (t *transitionTable) setTransitions(s state, from, to byte, next state, a action) {
	for b := int(from); b <= int(to); b++ {
		t[s][b] = step{next, a}
	}
}

func makeTransitions() *transitionTable {
	t := &transitionTable{}
	for s := escape; s < dcsPassthrough; s++ {
		executes := execute
		if s >= dcsEntry {
			executes = ignore
		}
		t.setTransitions(s, 0x00, 0x1f, s, executes)
		t.setTransitions(s, 0x7f, 0x7f, s, ignore)
		t.setTransitions(s, 0x80, 0xff, ground, abort)
	}

	t.setTransitions(escape, 0x20, 0x2f, escapeIntermediate, collect)
	t.setTransitions(escape, 0x30, 0x7e, ground, escDispatch)
	t.setTransitions(escape, '[', '[', csiEntry, clearSeq)
	t.setTransitions(escape, 'P', 'P', dcsEntry, clearSeq)
	t.setTransitions(escape, ']', ']', oscString, clearSeq)
	for _, b := range []byte{'X', '^', '_'} {
		t.setTransitions(escape, b, b, sosString, clearSeq)
	}
	t.setTransitions(escapeIntermediate, 0x20, 0x2f, escapeIntermediate, collect)
	t.setTransitions(escapeIntermediate, 0x30, 0x7e, ground, escDispatch)

	t.setSequence(csiEntry, csiParam, csiIntermediate, csiIgnore, ground, csiDispatch)
	t.setTransitions(csiIgnore, 0x20, 0x3f, csiIgnore, ignore)
	t.setTransitions(csiIgnore, 0x40, 0x7e, ground, ignore)

	t.setSequence(dcsEntry, dcsParam, dcsIntermediate, dcsIgnore, dcsPassthrough, hook)
	t.setTransitions(dcsIgnore, 0x20, 0xff, dcsIgnore, ignore)
	t.setTransitions(dcsPassthrough, 0x00, 0xff, dcsPassthrough, put)

	t.setTransitions(oscString, 0x00, 0x1f, oscString, ignore)
	t.setTransitions(oscString, 0x20, 0xff, oscString, put)
	t.setTransitions(oscString, 0x07, 0x07, ground, put) // BEL ends it; endString is called by put
	t.setTransitions(sosString, 0x00, 0xff, sosString, put)

	for s := escape; s < stateCount; s++ { // "anywhere" of the diagram
		t.setTransitions(s, 0x18, 0x18, ground, cancel)
		t.setTransitions(s, 0x1a, 0x1a, ground, cancel)
		t.setTransitions(s, 0x1b, 0x1b, escape, clearSeq)
	}
	return t
}

// setSequence fills in the part that CSI and DCS share: parameters, intermediates, the final byte.
func (t *transitionTable) setSequence(entry, params, inter, bad, done state, final action) {
	for _, s := range []state{entry, params} {
		t.setTransitions(s, 0x30, 0x3b, params, param)
		t.setTransitions(s, 0x20, 0x2f, inter, collect)
		t.setTransitions(s, 0x40, 0x7e, done, final)
	}
	t.setTransitions(entry, 0x3c, 0x3f, params, collect)
	t.setTransitions(params, 0x3c, 0x3f, bad, ignore)
	t.setTransitions(inter, 0x20, 0x2f, inter, collect)
	t.setTransitions(inter, 0x30, 0x3f, bad, ignore)
	t.setTransitions(inter, 0x40, 0x7e, done, final)
}

// maxString bounds what is kept of an OSC or DCS; a longer one is read to its end and ignored.
const maxString = 8192

// maxHead bounds the part of a longer picture string that is read, in bytes: what it holds and
// where it goes.
const maxHead = 1024

// parser holds what must survive between two calls of Feed.
type parser struct {
	state  state
	marker byte // '<', '=', '>', '?' or 0
	inter  byte // the last intermediate, or 0
	inters int  // number of intermediates; sequences with more than one are ignored
	final  byte
	params params
	// in is the byte that opened the string that the parser is in, or that ESC has just
	// interrupted, or 0: ESC \ ends the string and obeys it, ESC and anything else drops it.
	in      byte
	str     []byte
	tooLong bool
	utf8    decoder
}

// feed runs the parser over p.
func (t *terminal) feed(p []byte) {
	t.flood.seen = len(p)
	t.work += len(p)
	for len(p) > 0 {
		if t.parse.state != ground {
			p = p[t.parseSequence(p):]
			continue
		}
		if t.sided && p[0] <= esc {
			p = p[t.skipScrolls(p):]
		}
		switch c := p[0]; {
		case t.parse.utf8.n > 0:
			p = p[t.resumeRune(p):]
		case c == 0x1b:
			p = p[t.parseEscape(p):]
		case c < 0x20:
			t.executeControl(c)
			p = p[1:]
		case c < 0x7f:
			if n := t.printLines(p); n > 0 {
				p = p[n:]
				continue
			}
			p = p[t.printASCII(p):]
		case c == 0x7f:
			p = p[1:]
		default:
			p = p[t.printUTF8(p):]
		}
	}
}

// parseSequence runs the state machine until it is back in ground or p is used up, and returns the
// number of bytes taken.
func (t *terminal) parseSequence(p []byte) int {
	for i := 0; i < len(p); i++ {
		c := p[i]
		s := transitions[t.parse.state][c]
		if s.action == put {
			t.putByte(c)
		} else {
			t.parse.state = s.next
			if s.action == abort {
				return i
			}
			t.performAction(s.action, c)
		}
		if t.parse.state == ground {
			return i + 1
		}
	}
	return len(p)
}

// performAction performs an action other than put and abort.
func (t *terminal) performAction(a action, c byte) {
	switch a {
	case execute:
		t.executeControl(c)
	case clearSeq:
		t.parse.clear()
		t.parse.beginString(c)
	case collect:
		t.parse.collectByte(c)
	case param:
		t.parse.params.add(c)
	case escDispatch:
		t.performESC(c)
	case csiDispatch:
		t.parse.final = c
		t.performCSI()
	case hook:
		t.parse.beginDCS(c)
	case cancel:
		t.parse.in = 0
	case ignore, put, abort:
	}
}

func (p *parser) clear() {
	p.marker, p.inter, p.inters = 0, 0, 0
	p.params.n, p.params.subs = 0, 0
	p.params.v[0] = missing
}

// beginString notes which string starts. ESC itself leaves in as it is, so that ESC \ knows what it
// ends.
func (p *parser) beginString(c byte) {
	switch c {
	case 0x1b:
		return
	case '[':
		c = 0
	}
	p.in, p.str, p.tooLong = c, p.str[:0], false
}

func (p *parser) collectByte(c byte) {
	if c >= '<' {
		p.marker = c
		return
	}
	p.inter = c
	p.inters++
}

// beginDCS starts the string of a DCS. The bytes that select the function come before its data, as
// performDCS expects them.
func (p *parser) beginDCS(final byte) {
	p.str = p.str[:0]
	if p.marker != 0 {
		p.str = append(p.str, p.marker)
	}
	if p.inter != 0 {
		p.str = append(p.str, p.inter)
	}
	p.str = append(p.str, final)
}

// putByte takes a byte of a string.
func (t *terminal) putByte(c byte) {
	p := &t.parse
	switch {
	case p.state == oscString && c == 0x07:
		p.state = ground
		t.endString()
	case c == 0x9c && len(p.str) > 0 && p.str[len(p.str)-1] == 0xc2:
		// ST as a C1 control. 0xc2 only ever begins a character, so these two bytes mean nothing
		// else.
		p.str = p.str[:len(p.str)-1]
		p.state = ground
		t.endString()
	case p.in != ']' && p.in != 'P' && p.in != '_':
		p.str = append(p.str[:0], c) // only the ST above is looked for
	case len(p.str) >= maxString:
		p.tooLong = true
		p.str[len(p.str)-1] = c
	default:
		p.str = append(p.str, c)
	}
}

// endString obeys the string that has just been ended by ST or BEL.
func (t *terminal) endString() {
	p := &t.parse
	in := p.in
	p.in = 0
	if p.tooLong { // of a picture only the beginning matters
		p.str = p.str[:maxHead]
	}
	switch {
	case in == '_' && len(p.str) > 0 && p.str[0] == 'G':
		t.kittyGraphics(p.str[1:])
	case in == 'P' && len(p.str) > 0 && p.str[0] == 'q':
		t.putPicture("sixel", "", 0, 0)
	case in == ']' && p.tooLong && bytes.HasPrefix(p.str, []byte("1337;")):
		t.oscITerm2(string(p.str[len("1337;"):]))
	case p.tooLong:
	case in == ']':
		t.performOSC(p.str)
	case in == 'P':
		t.performDCS(p.str)
	}
}

// parseEscape handles ESC in ground. The common case, a whole CSI with digits and semicolons, is
// read in one go; everything else goes through the state machine and comes to the same.
func (t *terminal) parseEscape(p []byte) int {
	t.parse.clear()
	t.parse.in = 0
	if len(p) < 3 || p[1] != '[' {
		t.parse.state = escape
		return 1
	}
	i := 2
	if p[2] == '?' {
		t.parse.marker = '?'
		i++
	}
	i += t.parse.params.read(p[i:])
	if i >= len(p) || p[i] < 0x40 || p[i] > 0x7e {
		t.parse.clear()
		t.parse.state = escape
		return 1
	}
	if t.parse.final = p[i]; p[i] == 'm' && t.parse.marker == 0 {
		t.SGR() // the most frequent by far; the same as csi
	} else {
		t.performCSI()
	}
	return i + 1
}

// performESC performs ESC with intermediates and the final byte c.
func (t *terminal) performESC(c byte) {
	if c == '\\' && t.parse.inters == 0 {
		t.endString()
		return
	}
	t.parse.in = 0
	t.last.valid = false
	if op := escTable.find(0, t.parse.inter, t.parse.inters, c); op != nil {
		t.parse.final = c
		op(t)
	}
}

// performCSI performs the control sequence that the parser has read.
func (t *terminal) performCSI() {
	p := &t.parse
	if p.final != 'm' && p.final != 'b' {
		t.last.valid = false
	}
	if op := csiTable.find(p.marker, p.inter, p.inters, p.final); op != nil {
		op(t)
	}
}

// c1 performs a C1 control that came as a code point, U+0080 to U+009F: the same as ESC and a
// letter.
func (t *terminal) c1(c byte) {
	t.parse.clear()
	t.parse.in = 0
	t.parse.state = escape
	final := c - 0x40
	s := transitions[escape][final]
	t.parse.state = s.next
	t.performAction(s.action, final)
}
