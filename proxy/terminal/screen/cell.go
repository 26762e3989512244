package screen

import "unicode/utf8"

// cell is one character position: the low half holds its content, the high half the number of its
// style in the styleTable. The zero cell was never written or has been erased, and has the default
// style.
type cell uint64

const (
	// codeMask covers a code point, or the number of a cluster when clusterFlag is set.
	codeMask cell = 1<<24 - 1
	// tailFlag marks the second half of a wide character; such a cell has no other content.
	tailFlag cell = 1 << 29
	// wideFlag marks the first half of a wide character.
	wideFlag cell = 1 << 30
	// clusterFlag says that the content is more than one code point and stands in the clusterTable.
	clusterFlag cell = 1 << 31

	contentMask cell = 1<<32 - 1
	styleShift       = 32
)

// styled returns an empty cell of the style id; content is added with |.
func styled(id uint32) cell { return cell(id) << styleShift }

func (c cell) styleID() uint32      { return uint32(c >> styleShift) }
func (c cell) content() cell        { return c & contentMask }
func (c cell) code() uint32         { return uint32(c & codeMask) }
func (c cell) isEmpty() bool        { return c&contentMask == 0 }
func (c cell) isWide() bool         { return c&wideFlag != 0 }
func (c cell) isTail() bool         { return c&tailFlag != 0 }
func (c cell) isCluster() bool      { return c&clusterFlag != 0 }
func (c cell) withoutContent() cell { return c &^ contentMask }
func (c cell) isPlain() bool        { return c == 0 || c == ' ' }
func (c cell) isBlank() bool        { return c.content().isPlain() }

// width counts columns: 2 for the first half of a wide character, 0 for the second.
func (c cell) width() int {
	switch {
	case c.isWide():
		return 2
	case c.isTail():
		return 0
	default:
		return 1
	}
}

func (c cell) withStyle(id uint32) cell { return c&contentMask | styled(id) }

// styleRun counts the cells at the front, at least one, that have the same style.
func styleRun(cells []cell) int {
	first, n := cells[0], 1
	for n+8 <= len(cells) && sameStyle((*[8]cell)(cells[n:]), first) {
		n += 8
	}
	for n < len(cells) && (cells[n]^first)>>styleShift == 0 {
		n++
	}
	return n
}

// flipRun flips bits of the cells at the front that have the same style, and returns how many they
// are, at least one.
func flipRun(cells []cell, bits cell) int {
	first, n := cells[0], 0
	for n+8 <= len(cells) {
		c := (*[8]cell)(cells[n:])
		if !sameStyle(c, first) {
			break
		}
		c[0], c[1], c[2], c[3] = c[0]^bits, c[1]^bits, c[2]^bits, c[3]^bits
		c[4], c[5], c[6], c[7] = c[4]^bits, c[5]^bits, c[6]^bits, c[7]^bits
		n += 8
	}
	for ; n < len(cells) && (cells[n]^first)>>styleShift == 0; n++ {
		cells[n] ^= bits
	}
	return n
}

func sameStyle(c *[8]cell, as cell) bool {
	return ((c[0]^as)|(c[1]^as)|(c[2]^as)|(c[3]^as)|(c[4]^as)|(c[5]^as)|(c[6]^as)|(c[7]^as))>>styleShift == 0
}

// maxCluster is the longest cluster in bytes; marks that do not fit are dropped. The longest emoji
// sequence of Unicode 17 has 35.
const maxCluster = 64

// clusterTable holds the grapheme clusters of more than one code point that stand in cells, each
// once. Numbers are handed out in order; Screen.sweep drops those that no cell uses any more when
// the table has grown to its limit.
type clusterTable struct {
	texts []string
	ids   map[string]uint32
	limit int
	// recent remembers what a mark made of a cell: texts repeat their accents. Mode 2027 has its
	// own.
	recent *[2][64]joining
}

// joining says that the cell content from and the character r became the content to, or remained
// two characters, where to is 0.
type joining struct {
	from cell
	r    rune // 0 for nothing remembered
	to   cell
}

// recentSlot returns the slot that remembers what c and r together became.
func (t *clusterTable) recentSlot(c cell, r rune, graphemes bool) *joining {
	mode := 0
	if graphemes {
		mode = 1
	}
	return &t.recent[mode][(uint32(c)*31+uint32(r))%64]
}

// recallJoin returns what c and r together became lately; known is false if that is forgotten.
func (t *clusterTable) recallJoin(c cell, r rune, graphemes bool) (to cell, known bool) {
	c = c.content() &^ wideFlag
	j := t.recentSlot(c, r, graphemes)
	return j.to, j.from == c && j.r == r
}

func (t *clusterTable) rememberJoin(c cell, r rune, graphemes bool, to cell) {
	c = c.content() &^ wideFlag
	*t.recentSlot(c, r, graphemes) = joining{c, r, to}
}

const firstClusterLimit = 4096

func newClusterTable() clusterTable {
	return clusterTable{
		ids:    make(map[string]uint32),
		limit:  firstClusterLimit,
		recent: new([2][64]joining),
	}
}

// internText returns the content of a cell (without wideFlag) that shows text, a cluster of several
// code points.
func (t *clusterTable) internText(text []byte) cell {
	if id, ok := t.ids[string(text)]; ok {
		return clusterFlag | cell(id)
	}
	id := uint32(len(t.texts))
	s := string(text)
	t.texts = append(t.texts, s)
	t.ids[s] = id
	return clusterFlag | cell(id)
}

func (t *clusterTable) isFull() bool { return len(t.texts) >= t.limit }

// appendCell appends the text that c shows; nothing for an empty cell or the second half of a wide
// one.
func (t *clusterTable) appendCell(dst []byte, c cell) []byte {
	switch {
	case c.isTail() || c.isEmpty():
		return dst
	case c.isCluster():
		return append(dst, t.texts[c.code()]...)
	case c.content() < utf8.RuneSelf:
		return append(dst, byte(c))
	default:
		return utf8.AppendRune(dst, rune(c.code()))
	}
}
