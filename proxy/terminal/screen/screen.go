package screen

// Screen is a terminal's screen. One goroutine owns it.
type Screen struct {
	t   terminal
	rev uint64
	// seen is what an observer could last see besides the rows.
	seen view
}

// view holds the state that is compared after each Feed, to know whether an observer sees a
// difference.
type view struct {
	cursor Cursor
	modes  Modes
	title  string
	job    Progress
	cwd    string
	marks  uint64
	bells  uint64
	base   uint64
	length int
}

// commit ends a Feed or Resize: the revision grows if an observer can see a difference.
func (s *Screen) commit() {
	t := &s.t
	t.flushDirty()
	now := view{
		s.Cursor(),
		t.modes,
		t.title,
		t.progress,
		t.cwd,
		t.marks.Rev,
		t.bells,
		t.hist.base,
		t.hist.length,
	}
	if (t.changed || now != s.seen) && t.veil == 0 {
		s.rev = t.tick
	}
	s.seen = now
	t.changed = false
	t.sweep()
}

// Rev is the revision of the screen: it grows with every Feed or Resize after which an observer
// sees something else (cells, cursor, title, progress, modes, size, history). It is 1 for a new
// screen and never falls.
func (s *Screen) Rev() uint64 { return s.rev }

// Size returns the size in cells.
func (s *Screen) Size() (cols, rows int) { return s.t.cols, s.t.rows }

// Cursor is where the next character goes, and how the cursor looks.
type Cursor struct {
	Row, Col int
	Visible  bool
	// Pending says that the character in the last column was written and the next one goes to the
	// next row. Col is that last column.
	Pending bool
	// Shape is what DECSCUSR set, 0 to 6: 0 is the terminal's own choice, then blinking block,
	// steady block, blinking underline, steady underline, blinking bar, steady bar.
	Shape int
}

// Cursor returns the state of the cursor.
func (s *Screen) Cursor() Cursor {
	t := &s.t
	return Cursor{
		Row:     t.y,
		Col:     t.x,
		Visible: t.modes.CursorVisible,
		Pending: t.pending,
		Shape:   t.private.cursorShape,
	}
}

// HasPlainCursor says whether the cursor moves as on a fresh terminal: no margins, no origin mode,
// no wrap-around backwards.
func (s *Screen) HasPlainCursor() bool {
	t := &s.t
	return t.top == 0 && t.bottom == t.rows-1 && t.fullWidth() && !t.modes.LeftRight &&
		!t.modes.Origin && !t.modes.ReverseWrap
}

// IsVeiled reports whether what is printed now is hidden from observers (see [Screen.Veil]): the
// revision stands still.
func (s *Screen) IsVeiled() bool { return s.t.veil != 0 }

// Alt says whether the alternate screen is shown.
func (s *Screen) Alt() bool { return s.t.onAlt() }

// Title is the window's title (OSC 0 or 2), without control characters, at most 1024 bytes.
func (s *Screen) Title() string { return s.t.title }

// TitleSets counts how often the program set the title, also to what it was.
func (s *Screen) TitleSets() uint64 { return s.t.titleSets }

// Cwd is the path of the directory that the shell last named (OSC 7), or "".
func (s *Screen) Cwd() string { return s.t.cwd }

// Modes returns the modes that the program has set.
func (s *Screen) Modes() Modes { return s.t.modes }

// Bells counts BEL.
func (s *Screen) Bells() uint64 { return s.t.bells }

// Marks returns what the shell said about prompts and commands (OSC 133 and 633).
func (s *Screen) Marks() Marks { return s.t.marks }

// TakeReplies returns what a terminal would have answered to the queries since the last call, nil
// if nothing.
func (s *Screen) TakeReplies() []byte {
	r := s.t.replies
	s.t.replies = nil
	return r
}

// row returns a visible row, ready to be looked at, without cells outside of the screen.
func (s *Screen) row(y int) *row {
	if y < 0 || y >= s.t.rows {
		return &row{}
	}
	return s.t.grid.at(y)
}

// RowText returns the text of a visible row without blanks at its end.
func (s *Screen) RowText(row int) string { return string(s.AppendRow(nil, row)) }

// AppendRow appends the text of a visible row to dst, without blanks at its end, with blanks for
// veiled cells (see [Screen.Veil]). A row outside the screen is empty.
func (s *Screen) AppendRow(dst []byte, row int) []byte {
	return trimBlanks(s.appendWholeRow(dst, row), len(dst))
}

// appendWholeRow is [Screen.AppendRow] with the blanks at the end.
func (s *Screen) appendWholeRow(dst []byte, row int) []byte {
	r := s.row(row)
	for _, c := range r.cells[:r.used] {
		switch {
		case c.isEmpty():
			dst = append(dst, ' ')
		case s.t.isVeiled(c):
			dst = append(dst, "  "[:c.width()]...)
		default:
			dst = s.t.clusters.appendCell(dst, c)
		}
	}
	return dst
}

// RowRev returns the revision in which the content at this visible position last changed.
func (s *Screen) RowRev(row int) uint64 {
	if row < 0 || row >= s.t.rows {
		return 0
	}
	return s.t.grid.revs[row]
}

// RowWrapped says whether the text of the row goes on in the next one.
func (s *Screen) RowWrapped(row int) bool {
	return row >= 0 && row < s.t.rows && s.t.grid.rows[row].wrapped
}

// RowBlanks returns the number of blanks at the end of a wrapped row: they are text of its line,
// and [Screen.RowText] omits them. A wide character that had no room left behind them adds none.
func (s *Screen) RowBlanks(row int) int {
	if !s.RowWrapped(row) {
		return 0
	}
	return countBlanks(s.appendWholeRow(nil, row))
}

// Cell is what one position of the screen shows.
type Cell struct {
	// a grapheme cluster; "" for an empty cell and for the second half of a wide character
	Content string
	Width   int // 1, 2 for the first half of a wide character, 0 for its second half
	Style   Style
}

// Cell returns the cell at a visible position, empty where it is veiled; the zero Cell outside the
// screen.
func (s *Screen) Cell(row, col int) Cell {
	t := &s.t
	if row < 0 || row >= t.rows || col < 0 || col >= t.cols {
		return Cell{}
	}
	c := t.grid.at(row).cells[col]
	if t.isVeiled(c) {
		return Cell{Width: c.width()}
	}
	return Cell{
		Content: string(t.clusters.appendCell(nil, c)),
		Width:   c.width(),
		Style:   t.styleOf(c.styleID()),
	}
}

// styleOf returns the style number id as the API shows it.
func (t *terminal) styleOf(id uint32) Style {
	s := t.styles.list[id]
	l := t.links.at(s.link)
	return Style{
		Fg: s.fg, Bg: s.bg, UnderlineColor: s.ul, Attrs: s.attrs, Underline: s.underline,
		Link: l.target, LinkID: l.id,
	}
}

// HistoryLen is the number of rows kept of what scrolled off the top of the main screen.
func (s *Screen) HistoryLen() int { return s.t.hist.length }

// HistoryBase is the number of rows that were dropped from the front of the history since the
// start: row i of it has the lasting number HistoryBase()+i. Reflowing to another width renumbers
// rows.
func (s *Screen) HistoryBase() uint64 { return s.t.hist.base }

// HistoryNumber is the lasting number of the oldest row of the history; those of the rows after it
// follow, and the first row of the main screen has the one after the last. A number is never given
// to another row: reflowing to another width makes all rows new ones.
func (s *Screen) HistoryNumber() uint64 { return s.t.hist.base + s.t.renumbered }

// HistoryText returns the text of row i of the history, 0 being the oldest; "" outside.
func (s *Screen) HistoryText(i int) string { return string(s.AppendHistory(nil, i)) }

// AppendHistory appends the text of row i of the history to dst, without blanks at its end, with
// blanks for veiled cells.
func (s *Screen) AppendHistory(dst []byte, i int) []byte {
	return trimBlanks(s.past(i).appendText(dst), len(dst))
}

// AppendHistoryANSI is [Screen.AppendVeiledRowANSI] for row i of the history.
func (s *Screen) AppendHistoryANSI(dst []byte, i int) []byte {
	return s.past(i).appendANSI(dst, &s.t)
}

// HistoryWrapped says whether row i of the history goes on in the next row (of the history or of
// the screen).
func (s *Screen) HistoryWrapped(i int) bool { return s.past(i).wrapped }

// HistoryBlanks is [Screen.RowBlanks] for row i of the history.
func (s *Screen) HistoryBlanks(i int) int {
	if !s.HistoryWrapped(i) {
		return 0
	}
	return countBlanks(s.past(i).appendText(nil))
}

// past is row i of the history, without anything in it outside.
func (s *Screen) past(i int) packed {
	if i < 0 || i >= s.t.hist.length {
		return packed{}
	}
	return s.t.hist.at(i)
}
