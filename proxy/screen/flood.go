package screen

// maxFlood is how many lines are taken at once.
const maxFlood = 512

// flood is what remains between two looks for lines that can be taken at once.
type flood struct {
	ends [maxFlood]uint16 // where the lines end that were found
	// seen is how many bytes of the piece being fed are left after those that were looked at: nothing is looked at
	// twice.
	seen  int
	taken int // lines taken at once since the start
}

// printLines takes the lines at the front of p if there are more of them than the screen is high, and returns their
// length, or 0. It comes to the same as printing them one by one at the bottom of the screen, but those that a reader
// could never see go straight to the history: a person cannot tell, and a program that prints faster than anybody reads
// is not held up.
func (t *terminal) printLines(p []byte) int {
	if t.y != t.rows-1 || t.x != 0 || len(p) > t.flood.seen || !t.canFlood() {
		return 0
	}
	k := t.findLines(p)
	if k <= t.rows {
		return 0
	}
	t.flood.taken += k
	ends := t.flood.ends[:k]
	t.reportLines(p, ends)
	shown := t.rows - 1
	for _, r := range t.grid.rows[:shown] {
		t.hist.push(r, &t.styles, &t.clusters)
	}
	id, start := t.style(), 0
	for _, end := range ends[:k-shown] {
		t.hist.pushLine(p[start:end-2], id, &t.styles)
		start = int(end)
	}
	for i, end := range ends[k-shown:] {
		t.grid.rows[i].setLine(p[start:end-2], styled(id))
		start = int(end)
	}
	t.grid.rows[shown].wrapped = false
	t.pending, t.last.valid = false, false
	t.touchRange(0, t.rows-1)
	return start
}

// canFlood says whether lines of ASCII do nothing but scroll the main screen, from an empty row at its bottom.
func (t *terminal) canFlood() bool {
	return t.plain && t.grid == t.main && t.top == 0 && t.bottom == t.rows-1 && t.fullWidth() && !t.modes.NewLine &&
		t.pen.bg == 0 && t.row().used == 0
}

// findLines notes the whole lines of printable ASCII at the front of p, each ended by CR and LF and no wider than the
// screen, and returns their number.
func (t *terminal) findLines(p []byte) int {
	k, start, size := 0, 0, len(p)
	p = p[:min(size, 1<<16-1)]
	for k < maxFlood {
		end := start + asciiRun(p[start:])
		if end-start > t.cols || end+2 > len(p) || p[end] != '\r' || p[end+1] != '\n' {
			break
		}
		start = end + 2
		t.flood.ends[k] = uint16(start)
		k++
	}
	t.flood.seen = size - start
	return k
}

// reportLines tells the sink what it would have heard of the lines one by one.
func (t *terminal) reportLines(p []byte, ends []uint16) {
	if t.sink == (noSink{}) {
		return
	}
	start := 0
	for _, e := range ends {
		end := int(e)
		t.sinkRun(p[start : end-2])
		t.sink.Control('\r')
		t.sink.Control('\n')
		start = end
	}
}

// setLine makes the row hold the text, which is ASCII and fits.
func (r *row) setLine(text []byte, base cell) {
	r.reset(0)
	dst := r.cells[:len(text)]
	for i, c := range text[:len(dst)] {
		dst[i] = base | cell(c)
	}
	r.used = len(text)
}
