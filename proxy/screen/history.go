package screen

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// blockRows is how many rows share one set of buffers. Rows are dropped one by one, memory is reused block by block.
const blockRows = 256

// history holds the rows that left the top of the main screen, packed: the text of a row in bytes, and its styles as
// runs. An 80-column row of a log takes about a fifth of what its cells would.
//
// The text of a row is UTF-8 with three marks, which never stand in a cell themselves: markEmpty is an erased cell,
// markWide says that the next character is wide, markCluster is followed by the length of a cluster and the cluster.
type history struct {
	limit  int // rows, 0 keeps none
	length int // rows kept now
	base   uint64
	head   int // index of the oldest row inside blocks[0]
	blocks []*block
	spare  *block // emptied, for the next rows: a full history allocates nothing
}

type block struct {
	text []byte
	runs []styleRun
	rows []packedRow
}

// packedRow points into its block: the row's text and runs end here and begin where the row before it ended.
type packedRow struct {
	text, runs uint32
	wrapped    bool
}

// styleRun says that the next cells (counting both halves of a wide character) have the style.
type styleRun struct {
	cells uint32
	style uint32
}

const (
	markEmpty   = 0x00
	markWide    = 0x01
	markCluster = 0x02
)

// push packs the row. The oldest row is dropped when the history is full.
func (h *history) push(r *row, clusters *clusterTable) {
	if h.limit == 0 {
		h.base++
		return
	}
	if h.length == h.limit {
		h.dropOldest()
	}
	b := h.last()
	n := r.used
	if !r.wrapped {
		n = r.end()
	}
	b.pack(r.cells[:n], clusters)
	b.rows = append(b.rows, packedRow{uint32(len(b.text)), uint32(len(b.runs)), r.wrapped})
	h.length++
}

// last returns the block that takes the next row.
func (h *history) last() *block {
	if n := len(h.blocks); n > 0 && len(h.blocks[n-1].rows) < blockRows {
		return h.blocks[n-1]
	}
	b := h.spare
	if b == nil {
		b = &block{}
	}
	h.spare = nil
	h.blocks = append(h.blocks, b)
	return b
}

func (h *history) dropOldest() {
	h.base++
	h.length--
	h.head++
	if h.head < len(h.blocks[0].rows) {
		return
	}
	b := h.blocks[0]
	b.text, b.runs, b.rows = b.text[:0], b.runs[:0], b.rows[:0]
	h.spare = b
	n := copy(h.blocks, h.blocks[1:])
	h.blocks[n] = nil
	h.blocks = h.blocks[:n]
	h.head = 0
}

func (h *history) clear() {
	h.base += uint64(h.length)
	h.length, h.head, h.blocks, h.spare = 0, 0, nil, nil
}

// at returns the text, the runs and the wrap flag of row i, 0 being the oldest.
func (h *history) at(i int) (text []byte, runs []styleRun, wrapped bool) {
	i += h.head
	b := h.blocks[i/blockRows]
	i %= blockRows
	var from packedRow
	if i > 0 {
		from = b.rows[i-1]
	}
	to := b.rows[i]
	return b.text[from.text:to.text], b.runs[from.runs:to.runs], to.wrapped
}

// pack appends the cells to the block.
func (b *block) pack(cells []cell, clusters *clusterTable) {
	for len(cells) > 0 {
		base := cells[0] &^ contentMask
		b.text = slices.Grow(b.text, maxPacked*len(cells))
		n := packASCII(b.text[len(b.text):len(b.text)+len(cells)], cells, base)
		b.text = b.text[:len(b.text)+n]
		if n < len(cells) {
			n += b.packText(cells[n:], base, clusters)
		}
		b.runs = append(b.runs, styleRun{uint32(n), uint32(base >> styleShift)})
		cells = cells[n:]
	}
}

// maxPacked is how many bytes a cell takes at most, unless it is a cluster: a mark and a character.
const maxPacked = 1 + utf8.UTFMax

// packASCII writes the ASCII characters (and markEmpty, which is the empty cell) of the style base at the front of
// cells to dst, which is as long, and returns their number. It is the whole work for most rows.
func packASCII(dst []byte, cells []cell, base cell) int {
	dst = dst[:len(cells)]
	for i, c := range cells {
		if c&^(utf8.RuneSelf-1) != base {
			return i
		}
		dst[i] = byte(c)
	}
	return len(cells)
}

// packText appends the characters of the style base at the front of cells and returns their number.
func (b *block) packText(cells []cell, base cell, clusters *clusterTable) int {
	text := b.text
	dst := text[len(text):cap(text)]
	n, i := 0, 0 // bytes written to dst, cells done
	for ; i < len(cells) && cells[i]&^contentMask == base; i++ {
		c := cells[i].content()
		switch {
		case c < utf8.RuneSelf:
			dst[n] = byte(c)
			n++
		case c.isTail():
		case c.isCluster():
			text = appendCluster(text[:len(text)+n], c, clusters)
			text = slices.Grow(text, maxPacked*(len(cells)-i))
			dst, n = text[len(text):cap(text)], 0
		default:
			if c.isWide() {
				dst[n] = markWide
				n++
			}
			if r := c.code(); r >= 0x800 && r < 0x10000 { // three bytes: most scripts
				d := dst[n : n+3]
				d[0], d[1], d[2] = 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f
				n += 3
			} else {
				n += utf8.EncodeRune(dst[n:n+utf8.UTFMax], rune(r))
			}
		}
	}
	b.text = text[:len(text)+n]
	return i
}

func appendCluster(text []byte, c cell, clusters *clusterTable) []byte {
	if c.isWide() {
		text = append(text, markWide)
	}
	s := clusters.texts[c.code()]
	text = append(text, markCluster)
	text = binary.AppendUvarint(text, uint64(len(s)))
	return append(text, s...)
}

// unpack appends the cells of a packed row to dst.
func unpack(dst []cell, text []byte, runs []styleRun, clusters *clusterTable) []cell {
	run, left := 0, 0
	next := func() cell {
		for left == 0 {
			left = int(runs[run].cells)
			run++
		}
		left--
		return styled(runs[run-1].style)
	}
	for len(text) > 0 {
		content, width, n := unpackCell(text, clusters)
		text = text[n:]
		if width == 2 {
			dst = append(dst, next()|content|wideFlag, next()|tailFlag)
		} else {
			dst = append(dst, next()|content)
		}
	}
	return dst
}

// unpackCell reads one character; n is the number of bytes that it took.
func unpackCell(text []byte, clusters *clusterTable) (content cell, width, n int) {
	width = 1
	if text[0] == markWide {
		width, n = 2, 1
	}
	switch c := text[n]; {
	case c == markCluster:
		size, k := binary.Uvarint(text[n+1:])
		n += 1 + k
		return clusters.intern(text[n : n+int(size)]), width, n + int(size)
	case c < utf8.RuneSelf:
		return cell(c), width, n + 1
	default:
		r, k := utf8.DecodeRune(text[n:])
		return cell(r), width, n + k
	}
}

// appendText appends the row's text as a person reads it, without blanks at its end.
func appendPacked(dst, text []byte) []byte {
	start := len(dst)
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case markEmpty:
			dst = append(dst, ' ')
		case markWide:
		case markCluster:
			size, k := binary.Uvarint(text[i+1:])
			i += 1 + k
			dst = append(dst, text[i:i+int(size)]...)
			i += int(size)
			continue
		default:
			dst = append(dst, c)
		}
		i++
	}
	return trimBlanks(dst, start)
}

// trimBlanks cuts the blanks at the end of dst, but not below start.
func trimBlanks(dst []byte, start int) []byte {
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
