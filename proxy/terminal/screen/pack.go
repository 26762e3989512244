package screen

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// How a row is packed.
//
// A row in ASCII has a byte for every cell, 0 for an erased one. Any other row has a word for every
// cell, the cell's content; a cluster (clusterFlag) has the length of the text in place of its
// number, and the text follows, four bytes a word.
//
// The styles are runs: a head that says which parts follow, the number of cells in two bytes, and
// the parts. The cells after the last run have the default style, so that most rows have no run at
// all. A run is at most maxRun bytes long, and five for an indexed colour: a style number that
// outlives a sweep would be longer than the style itself.

// The head of a run of cells with the same style: two bits for the kind of each colour (its bytes
// follow, lowest first), then the parts that are rare.
const (
	runBgShift = 2
	runAttrs   = 1 << 4 // attributes and the shape of the underline, two bytes
	runLine    = 1 << 5 // colour of the underline, four bytes
	runLink    = 1 << 6 // two bytes
	runHead    = 3      // length of head and number of cells
	maxRun     = runHead + 3 + 4 + 2 + 4 + 2

	underlineShift = 12 // above the attributes
)

// colorBytes is the length of a packed colour by its kind: default, indexed, RGB.
var colorBytes = [4]int{0, 1, 3, 3}

// packRun appends a run of n cells.
func (b *block) packRun(n int, s *style) {
	at := len(b.styles)
	if cap(b.styles)-at < maxRun {
		b.styles = slices.Grow(b.styles, maxRun)
	}
	d := b.styles[at : at+maxRun]
	fg, bg := s.fg>>24&3, s.bg>>24&3
	d[0] = byte(fg | bg<<runBgShift)
	d[1], d[2] = byte(n), byte(n>>8)
	// All bytes of a part are written, and the next part overwrites those that do not count: hardly
	// a branch depends on what the style is, because no processor could predict it.
	binary.LittleEndian.PutUint32(d[runHead:], uint32(s.fg))
	i := runHead + colorBytes[fg]
	binary.LittleEndian.PutUint32(d[i:], uint32(s.bg))
	i += colorBytes[bg]
	attrs, parts := uint16(s.attrs)|uint16(s.underline)<<underlineShift, 0
	if attrs != 0 {
		parts = 1
	}
	d[0] |= byte(parts) * runAttrs
	binary.LittleEndian.PutUint16(d[i:], attrs)
	i += 2 * parts
	if s.ul != 0 {
		d[0] |= runLine
		binary.LittleEndian.PutUint32(d[i:], uint32(s.ul))
		i += 4
	}
	if s.link != 0 {
		d[0] |= runLink
		binary.LittleEndian.PutUint16(d[i:], s.link)
		i += 2
	}
	b.styles = b.styles[:at+i]
}

// unpackRun reads the run at the front of p and returns its length in bytes.
func unpackRun(p []byte) (s style, cells, size int) {
	head := p[0]
	cells = int(binary.LittleEndian.Uint16(p[1:]))
	size = runHead
	s.fg, size = unpackColor(p, size, head&3)
	s.bg, size = unpackColor(p, size, head>>runBgShift&3)
	if head&runAttrs != 0 {
		attrs := binary.LittleEndian.Uint16(p[size:])
		s.attrs, s.underline = Attr(attrs&(1<<underlineShift-1)), Underline(attrs>>underlineShift)
		size += 2
	}
	if head&runLine != 0 {
		s.ul = Color(binary.LittleEndian.Uint32(p[size:]))
		size += 4
	}
	if head&runLink != 0 {
		s.link = binary.LittleEndian.Uint16(p[size:])
		size += 2
	}
	return s, cells, size
}

func unpackColor(p []byte, at int, kind byte) (Color, int) {
	c := Color(kind) << 24
	for i := range colorBytes[kind] {
		c |= Color(p[at+i]) << (8 * i)
	}
	return c, at + colorBytes[kind]
}

// relinkRun renumbers the hyperlink of the run at the front of p, always the run's last part, and
// returns the run's length.
func relinkRun(p []byte, use func(uint16) uint16) int {
	s, _, size := unpackRun(p)
	if s.link != 0 {
		// A link that the table has no room for gets number 0, no link.
		binary.LittleEndian.PutUint16(p[size-2:], use(s.link))
	}
	return size
}

// packASCII appends a row without other characters than ASCII.
func (b *block) packASCII(cells []cell, styles *styleTable) {
	if len(cells) == 0 {
		return
	}
	at := len(b.ascii)
	b.ascii = slices.Grow(b.ascii, len(cells))[:at+len(cells)]
	id := cells[0].styleID()
	if narrow(b.ascii[at:], cells) {
		if id != 0 {
			b.packRun(len(cells), &styles.list[id])
		}
		return
	}
	start := 0
	for i, c := range cells {
		if c.styleID() != id {
			b.packRun(i-start, &styles.list[id])
			start, id = i, c.styleID()
		}
	}
	if id != 0 {
		b.packRun(len(cells)-start, &styles.list[id])
	}
}

// packRest appends the first n cells of a row that is covered and unwritten yet.
func (b *block) packRest(r *row, n int, styles *styleTable) {
	if n == 0 {
		return
	}
	switch {
	case r.rest.isWide():
		b.words = appendPairs(b.words, n, uint32(r.rest), uint32(tailFlag))
	case r.rich:
		b.words = appendPairs(b.words, n, uint32(r.rest), uint32(r.rest))
	default:
		b.ascii = appendPairs(b.ascii, n, byte(r.rest), byte(r.rest))
	}
	if id := r.rest.styleID(); id != 0 {
		b.packRun(n, &styles.list[id])
	}
}

// appendPairs appends n values, first and second in turn; n is not 0.
func appendPairs[T byte | uint32](dst []T, n int, first, second T) []T {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	same := dst[at:]
	for i := range min(n, 8) {
		same[i] = first
		first, second = second, first
	}
	for done := 8; done < n; done *= 2 {
		copy(same[done:], same[:done])
	}
	return dst
}

// narrow copies the content of the cells, all of them ASCII, to dst, of the same length, eight
// cells a step. It reports whether all cells have the same style.
func narrow(dst []byte, cells []cell) bool {
	base := cells[0]
	var differ cell
	for len(cells) >= 8 && len(dst) >= 8 {
		c := cells[:8:8]
		differ |= (c[0] ^ base) | (c[1] ^ base) | (c[2] ^ base) | (c[3] ^ base) | (c[4] ^ base) | (c[5] ^ base) | (c[6] ^ base) | (c[7] ^ base)
		low := uint32(c[0]&0x7f | c[1]&0x7f<<8 | c[2]&0x7f<<16 | c[3]&0x7f<<24)
		high := uint32(c[4]&0x7f | c[5]&0x7f<<8 | c[6]&0x7f<<16 | c[7]&0x7f<<24)
		binary.LittleEndian.PutUint64(dst, uint64(low)|uint64(high)<<32)
		cells, dst = cells[8:], dst[8:]
	}
	for i, c := range cells[:len(dst)] {
		differ |= c ^ base
		dst[i] = byte(c)
	}
	return differ>>styleShift == 0
}

// packWords appends any row.
func (b *block) packWords(cells []cell, styles *styleTable, clusters *clusterTable) {
	for len(cells) > 0 {
		base := cells[0] &^ contentMask
		n := 0
		for n < len(cells) && cells[n]&^contentMask == base {
			if cells[n].isCluster() {
				b.words = appendCluster(b.words, cells[n], clusters)
				n++
				continue
			}
			at := len(b.words)
			b.words = slices.Grow(b.words, len(cells)-n)[:at+len(cells)-n]
			k := copyContent(b.words[at:], cells[n:], base)
			b.words = b.words[:at+k]
			n += k
		}
		if base != 0 || n < len(cells) {
			b.packRun(n, &styles.list[base>>styleShift])
		}
		cells = cells[n:]
	}
}

// copyContent copies the content of the cells at the front that have the style of base and are no
// clusters to words, which is as long, and returns their number.
func copyContent(words []uint32, cells []cell, base cell) int {
	const other = ^contentMask | clusterFlag
	for i, c := range cells[:len(words)] {
		if c&other != base {
			return i
		}
		words[i] = uint32(c)
	}
	return len(words)
}

func appendCluster(words []uint32, c cell, clusters *clusterTable) []uint32 {
	text := clusters.texts[c.code()]
	words = append(words, uint32(c&contentMask&^codeMask)|uint32(len(text)))
	for len(text) > 0 {
		var four [4]byte
		text = text[copy(four[:], text):]
		words = append(words, binary.LittleEndian.Uint32(four[:]))
	}
	return words
}

// packedCluster appends the text of the cluster whose first word is words[0] to dst and returns the
// number of words.
func packedCluster(dst []byte, words []uint32) (text []byte, n int) {
	size := int(words[0] & uint32(codeMask))
	n = 1 + (size+3)/4
	end := len(dst) + size
	for _, w := range words[1:n] {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst[:end], n
}

// appendCells appends the cells of a packed row to dst.
func (p packed) appendCells(dst []cell, styles *styleTable, clusters *clusterTable) []cell {
	start := len(dst)
	for _, c := range p.ascii {
		dst = append(dst, cell(c))
	}
	var room [maxCluster + 4]byte
	for words := p.words; len(words) > 0; {
		c := cell(words[0])
		if !c.isCluster() {
			dst, words = append(dst, c), words[1:]
			continue
		}
		text, n := packedCluster(room[:0], words)
		dst, words = append(dst, c&^codeMask|clusters.internText(text)), words[n:]
	}
	cells := dst[start:]
	for runs := p.styles; len(runs) > 0; {
		s, n, size := unpackRun(runs)
		if base := styled(styles.internStyle(&s)); base != 0 {
			for i := range cells[:n] {
				cells[i] |= base
			}
		}
		cells, runs = cells[n:], runs[size:]
	}
	return dst
}

// appendText appends the row's text as a person reads it.
func (p packed) appendText(dst []byte) []byte {
	look := styleRuns{runs: p.styles}
	for _, c := range p.ascii {
		if look.next().attrs&veiled != 0 {
			c = ' '
		}
		dst = append(dst, max(c, ' '))
	}
	for words := p.words; len(words) > 0; {
		c := cell(words[0])
		n := 1
		switch hidden := look.next().attrs&veiled != 0; {
		case hidden:
			dst = append(dst, "  "[:c.width()]...)
			if c.isCluster() {
				_, n = packedCluster(nil, words)
			}
		case c.isCluster():
			dst, n = packedCluster(dst, words)
		case c.isEmpty():
			dst = append(dst, ' ')
		case !c.isTail():
			dst = utf8.AppendRune(dst, rune(c.code()))
		}
		words = words[n:]
	}
	return dst
}

// appendANSI appends the row as text with SGR (and OSC 8), with default blanks for veiled cells.
func (p packed) appendANSI(dst []byte, t *terminal) []byte {
	look, now := styleRuns{runs: p.styles}, style{}
	begin := func() (hidden bool) { // the next cell
		next := *look.next()
		if hidden = next.attrs&veiled != 0; hidden {
			next = style{}
		}
		dst, now = t.appendStyle(dst, now, next), next
		return hidden
	}
	for _, c := range p.ascii {
		if begin() {
			c = ' '
		}
		dst = append(dst, max(c, ' '))
	}
	for words := p.words; len(words) > 0; {
		c, n := cell(words[0]), 1
		if c.isTail() {
			look.next()
			words = words[1:]
			continue
		}
		hidden := begin()
		if c.isCluster() {
			var text []byte
			text, n = packedCluster(nil, words)
			if !hidden {
				dst = append(dst, text...)
			}
		}
		switch {
		case hidden:
			dst = append(dst, "  "[:c.width()]...)
		case c.isEmpty():
			dst = append(dst, ' ')
		case !c.isCluster():
			dst = utf8.AppendRune(dst, rune(c.code()))
		}
		words = words[n:]
	}
	return t.appendStyle(dst, now, style{})
}

// trimBlanks cuts the blanks at the end of dst, but not below start.
func countBlanks(text []byte) int { return len(text) - len(trimBlanks(text, 0)) }

func trimBlanks(dst []byte, start int) []byte {
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
