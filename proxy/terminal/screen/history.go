package screen

// blockRows is how many rows share one set of buffers. Rows are dropped one by one, memory is
// reused block by block.
const blockRows = 256

// history holds the rows that left the top of the main screen, packed (pack.go). A flood pushes
// every one of its rows through here, and most of them are never read, so packing is cheap and
// independent of the tables: packed rows stay as they are when the tables are swept.
type history struct {
	limit  int // in rows; 0 keeps no history
	length int // rows kept now
	base   uint64
	head   int // index of the oldest row inside blocks[0]
	blocks []*block
	spare  *block // emptied, for the next rows: a full history allocates nothing
}

type block struct {
	ascii  []byte   // the content of rows in ASCII, a byte a cell
	words  []uint32 // the content of other rows
	styles []byte   // the styles of all rows
	rows   []packedRow
}

// packedRow points into its block: what belongs to the row ends here and begins where the row
// before it ended.
type packedRow struct {
	ascii, words, styles uint32
	wrapped              bool
}

// packed is a row of the history. Its content is in ascii or in words.
type packed struct {
	ascii   []byte
	words   []uint32
	styles  []byte
	wrapped bool
}

// pushRow packs the row. The oldest row is dropped when the history is full.
func (h *history) pushRow(r *row, styles *styleTable, clusters *clusterTable) {
	if h.limit == 0 {
		h.base++
		return
	}
	if r.late && r.deferred.kind != noneDeferred {
		r.settle()
	}
	b := h.makeRoom()
	switch n := r.keptLength(); {
	case r.rest != 0:
		r.t.workOn(n / 4) // bytes or words; what other rows hold was written
		b.packRest(r, n, styles)
	case r.rich:
		b.packWords(r.cells[:n], styles, clusters)
	default:
		b.packASCII(r.cells[:n], styles)
	}
	b.close(r.wrapped)
	h.length++
}

// keepPacked takes a row of another history, whose line ends with it.
func (h *history) keepPacked(p packed) {
	b := h.makeRoom()
	b.ascii = append(b.ascii, p.ascii...)
	b.words = append(b.words, p.words...)
	b.styles = append(b.styles, p.styles...)
	b.close(false)
	h.length++
}

// keptLength counts the cells of a row that are kept: all of them if its line goes on in the next
// row.
func (r *row) keptLength() int {
	switch {
	case r.rest == 0 && !r.wrapped:
		return r.textEnd()
	case r.rest == 0:
		return r.used
	case r.rest.isPlain() && !r.wrapped:
		return 0
	}
	return len(r.cells)
}

// pushLine packs a row of ASCII in one style.
func (h *history) pushLine(text []byte, id uint32, wrapped bool, styles *styleTable) {
	if h.limit == 0 {
		h.base++
		return
	}
	b := h.makeRoom()
	if id == 0 && !wrapped {
		text = trimBlanks(text, 0)
	}
	b.ascii = append(b.ascii, text...)
	if id != 0 && len(text) > 0 {
		b.packRun(len(text), &styles.list[id])
	}
	b.close(wrapped)
	h.length++
}

// makeRoom makes room for a row and returns the block that takes it.
func (h *history) makeRoom() *block {
	if h.length == h.limit {
		h.dropOldest()
	}
	return h.openBlock()
}

// close ends the row that was packed.
func (b *block) close(wrapped bool) {
	b.rows = append(b.rows, packedRow{
		uint32(len(b.ascii)),
		uint32(len(b.words)),
		uint32(len(b.styles)),
		wrapped,
	})
}

// openBlock returns the block that takes the next row.
func (h *history) openBlock() *block {
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

// cutWrap ends the line of the newest row.
func (h *history) cutWrap() {
	if h.length > 0 {
		b := h.blocks[len(h.blocks)-1]
		b.rows[len(b.rows)-1].wrapped = false
	}
}

func (h *history) dropOldest() {
	h.base++
	h.length--
	h.head++
	if h.head < len(h.blocks[0].rows) {
		return
	}
	b := h.blocks[0]
	b.ascii, b.words, b.styles, b.rows = b.ascii[:0], b.words[:0], b.styles[:0], b.rows[:0]
	h.spare = b
	n := copy(h.blocks, h.blocks[1:])
	h.blocks[n] = nil
	h.blocks = h.blocks[:n]
	h.head = 0
}

// takeLast takes the newest row back, if there is one. The caller unpacks it before the next row is
// pushed.
func (h *history) takeLast() (p packed, ok bool) {
	if h.length == 0 {
		return packed{}, false
	}
	p = h.at(h.length - 1)
	h.length--
	b := h.blocks[len(h.blocks)-1]
	n, end := len(b.rows)-1, packedRow{}
	if n == 0 {
		h.blocks = h.blocks[:len(h.blocks)-1]
	} else {
		end = b.rows[n-1]
	}
	b.ascii, b.words, b.styles, b.rows = b.ascii[:end.ascii], b.words[:end.words], b.styles[:end.styles], b.rows[:n]
	return p, true
}

func (h *history) clear() {
	h.base += uint64(h.length)
	h.length, h.head, h.blocks, h.spare = 0, 0, nil, nil
}

// at returns row i, 0 being the oldest.
func (h *history) at(i int) packed {
	i += h.head
	b := h.blocks[i/blockRows]
	i %= blockRows
	var from packedRow
	if i > 0 {
		from = b.rows[i-1]
	}
	to := b.rows[i]
	return packed{
		b.ascii[from.ascii:to.ascii],
		b.words[from.words:to.words],
		b.styles[from.styles:to.styles],
		to.wrapped,
	}
}

// relinkRows renumbers the hyperlinks of all rows.
func (h *history) relinkRows(use func(uint16) uint16) {
	for _, b := range h.blocks {
		for styles := b.styles; len(styles) > 0; {
			styles = styles[relinkRun(styles, use):]
		}
	}
}
