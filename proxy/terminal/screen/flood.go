package screen

// maxFlood is how many rows are taken at once.
const maxFlood = 512

// flood is what remains between two looks for lines that can be taken at once.
type flood struct {
	lines [maxFlood]line // the rows that were found
	// seen is how many bytes of the piece being fed are left after those that were looked at:
	// nothing is looked at twice.
	seen  int
	taken int // rows taken at once since the start
}

// line is where the text of a row stands in the bytes that are fed, and whether it goes on in the
// next row.
type line struct {
	start, end uint16
	wrapped    bool
}

// printLines takes the lines at the front of p if there are more of them than the screen is high,
// and returns their length, or 0. It comes to the same as printing them one by one at the bottom of
// the screen, but those that a reader could never see go straight to the history: a person cannot
// tell, and a program that prints faster than anybody reads is not held up.
func (t *terminal) printLines(p []byte) int {
	if t.y != t.rows-1 || t.x != 0 || t.pending || len(p) > t.flood.seen || !t.canFlood() {
		return 0
	}
	k := t.findLines(p)
	if k <= t.rows {
		return 0
	}
	t.flood.taken += k
	lines := t.flood.lines[:k]
	t.reportLines(p, lines)
	shown := t.rows - 1
	for _, r := range t.grid.rows[:shown] {
		t.hist.pushRow(r, &t.styles, &t.clusters)
	}
	id := t.currentPenID()
	for _, l := range lines[:k-shown] {
		t.hist.pushLine(p[l.start:l.end], id, l.wrapped, &t.styles)
	}
	for i, l := range lines[k-shown:] {
		t.grid.rows[i].setLine(p[l.start:l.end], styled(id), l.wrapped)
	}
	t.grid.rows[shown].wrapped = false
	t.pending, t.last.valid = false, false
	t.touchRange(0, t.rows-1)
	return int(lines[k-1].end) + len("\r\n")
}

// canFlood says whether lines of ASCII do nothing but scroll the main screen, from an empty row at
// its bottom.
func (t *terminal) canFlood() bool {
	return t.plain && t.grid == t.main && t.top == 0 && t.bottom == t.rows-1 && t.fullWidth() &&
		!t.modes.NewLine &&
		t.pen.bg == 0 && t.cursorRow().used == 0
}

// findLines notes the rows that the lines of printable ASCII at the front of p make, up to the
// first incomplete one; each line ends with CR and LF. It returns the number of rows.
func (t *terminal) findLines(p []byte) int {
	k, whole, start, size := 0, 0, 0, len(p)
	p = p[:min(size, 1<<16-1)]
	for k < maxFlood {
		end := start + asciiRun(p[start:])
		for ; end-start > t.cols && t.modes.AutoWrap && k < maxFlood-1; k++ {
			t.flood.lines[k] = line{uint16(start), uint16(start + t.cols), true}
			start += t.cols
		}
		if end-start > t.cols || end+2 > len(p) || p[end] != '\r' || p[end+1] != '\n' {
			break
		}
		t.flood.lines[k] = line{uint16(start), uint16(end), false}
		start = end + 2
		k++
		whole = k
	}
	t.flood.seen = size - start
	return whole
}

// reportLines tells the sink what it would have heard of the lines one by one.
func (t *terminal) reportLines(p []byte, lines []line) {
	if t.sink == (noSink{}) {
		return
	}
	for _, l := range lines {
		t.sinkRun(p[l.start:l.end])
		if !l.wrapped {
			t.sink.Control('\r')
			t.sink.Control('\n')
		}
	}
	t.line = textLine{}
}

// setLine sets the row's text, which is ASCII and fits.
func (r *row) setLine(text []byte, base cell, wrapped bool) {
	r.reset(0)
	r.wrapped = wrapped
	dst := r.cells[:len(text)]
	for i, c := range text[:len(dst)] {
		dst[i] = base | cell(c)
	}
	r.used = len(text)
}
