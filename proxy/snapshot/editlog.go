package snapshot

// opKind is something that a program did other than printing.
type opKind uint8

const (
	opCut     opKind = iota // nothing, between two runs
	opControl               // the number is BS, HT, CR or LF
	opColumn
	opRow
	opErase
	opEraseChars
	opInsertChars
	opDeleteChars
	opClear
)

// op is an operation, with its number if it has one, after the text up to at was printed.
type op struct {
	at, n int32
	kind  opKind
}

// ends reports whether the operation leaves the unfinished line for a new one.
func (o op) ends() bool { return o.is('\n') || o.kind == opRow || o.kind == opClear }

// is reports whether the operation is a control.
func (o op) is(c byte) bool { return o.kind == opControl && o.n == int32(c) }

// play does to the record what the program did.
func (r *record) play(o op) {
	n := int(o.n)
	switch o.kind {
	case opCut:
	case opControl:
		r.control(byte(n))
	case opColumn:
		r.line.column(n)
	case opRow:
		r.row(n)
	case opErase:
		r.line.erase(n)
	case opEraseChars:
		r.line.eraseChars(n)
	case opInsertChars:
		r.line.insertChars(n)
	case opDeleteChars:
		r.line.deleteChars(n)
	case opClear:
		r.row(r.line.col)
	}
}

// editLog is what a program did and nobody looked at yet. It never grows.
type editLog struct {
	text []byte // all that was printed, without a seam
	ops  []op
}

func newEditLog(bytes, ops int) editLog {
	return editLog{text: make([]byte, 0, bytes), ops: make([]op, 0, ops)}
}

// enough finds the last operation that begins a line in a known column col and is followed by ended lines of at least n
// characters: whatever came before it is too old for a text of n characters.
func (l *editLog) enough(n int) (at, col int, ok bool) {
	sure := 0
	end := -1 // the operation that ends the line after ops[i]
	for i := len(l.ops) - 1; i >= 0; i-- {
		o := l.ops[i]
		if !o.ends() {
			continue
		}
		if end >= 0 {
			kept := 0
			if l.untouched(i, end) {
				kept = surely(l.text[o.at:l.ops[end].at], n-sure)
			}
			if sure += kept; kept > 0 || l.ops[end].is('\n') {
				sure++ // the line feed
			}
		}
		if col, ok = l.begins(i); ok && sure >= n {
			return i, col, true
		}
		end = i
	}
	return 0, 0, false
}

// begins is the column in which the line after ops[i] begins, if that does not depend on what came before.
func (l *editLog) begins(i int) (col int, ok bool) {
	o := l.ops[i]
	if o.kind == opRow {
		return int(o.n), true
	}
	cr := o.is('\n') && i > 0 && l.ops[i-1].is('\r') && l.ops[i-1].at == o.at
	return 0, cr
}

// untouched reports whether the line between the operations begin and end was only appended to.
func (l *editLog) untouched(begin, end int) bool {
	for _, o := range l.ops[begin+1 : end] {
		if o.kind != opCut && (!o.is('\r') || o.at != l.ops[end].at) {
			return false
		}
	}
	return true
}

// drop forgets everything up to ops[i].
func (l *editLog) drop(i int) {
	at := l.ops[i].at
	l.text = l.text[:copy(l.text, l.text[at:])]
	l.ops = l.ops[:copy(l.ops, l.ops[i+1:])]
	for j := range l.ops {
		l.ops[j].at -= at
	}
}

// surely counts characters, up to most of them, that are part of the line if text was printed on an empty one: those that
// have a width, and do not join the one before them, so that no cluster too long swallows them. There may be more.
func surely(text []byte, most int) int {
	n := 0
	alone := true // what is before joins nothing but marks
	for i := 0; i < len(text) && n < most; {
		c := text[i]
		if c < 0x80 {
			if ' ' < c && c < 0x7f { // a blank may be cut from the end
				n, alone = n+1, true
			}
			i++
			continue
		}
		size, sure := letter(text[i:], alone)
		if alone = sure; sure {
			n++
		}
		i += size
	}
	return n
}

// letter is the length of the letter at the start of text, outside ASCII, and whether it surely stands for itself: the
// common ones that are no marks and join no other but a prepended mark, which alone says is not before them. What it does
// not know has the length 1.
func letter(text []byte, alone bool) (size int, sure bool) {
	c := text[0]
	switch {
	case len(text) >= 2 && text[1]&0xc0 == 0x80 && (0xc3 <= c && c <= 0xcb || 0xce <= c && c <= 0xd1):
		return 2, alone || c <= 0xcb // Latin; Greek and Cyrillic
	case len(text) < 3 || text[1]&0xc0 != 0x80 || text[2]&0xc0 != 0x80:
	case 0xe3 <= c && c <= 0xe9:
		return 3, aloneCJK(rune(c&0x0f)<<12 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f))
	case 0xeb <= c && c <= 0xec:
		return 3, alone // Hangul
	}
	return 1, false
}
