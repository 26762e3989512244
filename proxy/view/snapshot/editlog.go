package snapshot

// opKind is an operation of a program other than printing.
type opKind uint8

const (
	opCut     opKind = iota // separates two runs of text
	opControl               // n is BS, HT, CR or LF
	opColumn
	opRow
	opErase
	opEraseChars
	opInsertChars
	opDeleteChars
	opClear
)

// op is an operation that follows the first at bytes of the text. n is its parameter, if it has
// one.
type op struct {
	at, n int32
	kind  opKind
}

// endsLine reports whether the operation leaves the unfinished line for a new one.
func (o op) endsLine() bool { return o.isControl('\n') || o.kind == opRow || o.kind == opClear }

// isControl reports whether the operation is the control c.
func (o op) isControl(c byte) bool { return o.kind == opControl && o.n == int32(c) }

// playOp applies an operation to the record.
func (r *record) playOp(o op) {
	n := int(o.n)
	switch o.kind {
	case opCut:
	case opControl:
		r.playControl(byte(n))
	case opColumn:
		r.line.moveTo(n)
	case opRow:
		r.leaveRow(n)
	case opErase:
		r.line.eraseLine(n)
	case opEraseChars:
		r.line.eraseChars(n)
	case opInsertChars:
		r.line.insertChars(n)
	case opDeleteChars:
		r.line.deleteChars(n)
	case opClear:
		r.leaveRow(r.line.col)
	}
}

// editLog holds a program's operations until the text is asked for. It never grows.
type editLog struct {
	text []byte // all printed text, without separators
	ops  []op
}

func newEditLog(bytes, ops int) editLog {
	return editLog{text: make([]byte, 0, bytes), ops: make([]op, 0, ops)}
}

// findDroppable finds the last operation that begins a line in a known column col and is followed
// by ended lines of at least n characters: all before it is too old for a text of n characters.
func (l *editLog) findDroppable(n int) (at, col int, ok bool) {
	sure := 0
	end := -1 // the operation that ends the line after ops[i]
	for i := len(l.ops) - 1; i >= 0; i-- {
		o := l.ops[i]
		if !o.endsLine() {
			continue
		}
		if end >= 0 {
			kept := 0
			if l.isAppendOnly(i, end) {
				kept = countSure(l.text[o.at:l.ops[end].at], n-sure)
			}
			if sure += kept; kept > 0 || l.ops[end].isControl('\n') {
				sure++ // the line feed
			}
		}
		if col, ok = l.startColumn(i); ok && sure >= n {
			return i, col, true
		}
		end = i
	}
	return 0, 0, false
}

// startColumn returns the column in which the line after ops[i] begins, if that does not depend on
// earlier operations.
func (l *editLog) startColumn(i int) (col int, ok bool) {
	o := l.ops[i]
	if o.kind == opRow {
		return int(o.n), true
	}
	cr := o.isControl('\n') && i > 0 && l.ops[i-1].isControl('\r') && l.ops[i-1].at == o.at
	return 0, cr
}

// isAppendOnly reports whether the program only appended to the line between the operations begin
// and end.
func (l *editLog) isAppendOnly(begin, end int) bool {
	for _, o := range l.ops[begin+1 : end] {
		if o.kind != opCut && (!o.isControl('\r') || o.at != l.ops[end].at) {
			return false
		}
	}
	return true
}

// dropThrough forgets everything up to ops[i].
func (l *editLog) dropThrough(i int) {
	at := l.ops[i].at
	l.text = l.text[:copy(l.text, l.text[at:])]
	l.ops = l.ops[:copy(l.ops, l.ops[i+1:])]
	for j := range l.ops {
		l.ops[j].at -= at
	}
}

// countSure counts characters, up to limit, that certainly become part of the line if text is
// printed on an empty one: they have a width and do not join the one before, so no overlong cluster
// swallows them. There may be more.
func countSure(text []byte, limit int) int {
	n := 0
	alone := true // the text before joins marks only
	for i := 0; i < len(text) && n < limit; {
		c := text[i]
		if c < 0x80 {
			if ' ' < c && c < 0x7f { // a blank may be cut from the end
				n, alone = n+1, true
			}
			i++
			continue
		}
		size, sure := letterSize(text[i:], alone)
		if alone = sure; sure {
			n++
		}
		i += size
	}
	return n
}

// letterSize returns the length of the non-ASCII letter at the start of text, and whether it
// certainly begins a character of its own. That holds for the common letters, which join at most a
// preceding mark; alone means that no such mark precedes. An unknown letter has the length 1.
func letterSize(text []byte, alone bool) (size int, sure bool) {
	c := text[0]
	switch {
	case len(text) >= 2 && text[1]&0xc0 == 0x80 &&
		(0xc3 <= c && c <= 0xcb || 0xce <= c && c <= 0xd1):
		return 2, alone || c <= 0xcb // Latin; Greek and Cyrillic
	case len(text) < 3 || text[1]&0xc0 != 0x80 || text[2]&0xc0 != 0x80:
	case 0xe3 <= c && c <= 0xe9:
		return 3, aloneCJK(rune(c&0x0f)<<12 | rune(text[1]&0x3f)<<6 | rune(text[2]&0x3f))
	case 0xeb <= c && c <= 0xec:
		return 3, alone // Hangul
	}
	return 1, false
}
