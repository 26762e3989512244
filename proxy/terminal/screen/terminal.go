package screen

import (
	"time"
	"unicode/utf8"
)

// The limits of a Screen. Sizes outside are clamped.
const (
	minSize = 1
	maxSize = 1000
	// MaxCols and MaxRows bound the size of a screen.
	MaxCols = maxSize
	MaxRows = maxSize
	// MaxScrollback bounds Config.Scrollback, in rows.
	MaxScrollback = 1_000_000
)

// terminal is the machine behind a Screen: what the control functions act upon. Screen adds what an
// observer needs.
type terminal struct {
	cols, rows int

	grid  *grid // the shown screen: main or alt
	main  *grid
	alt   *grid // made when a program first asks for it
	hist  history
	marks Marks
	// What the marks told of commands: command.go.
	shells   []*shell // each within the command that the one before runs
	commands []*Command
	now      func() time.Time
	group    func() int
	// renumbered is how far the lasting numbers of the history's rows have run ahead of hist.base.
	renumbered uint64

	// The cursor. x stays inside the screen; pending says that the last column was written and the
	// next character goes to the next row (the VT100's wrap-around flag, "phantom column").
	x, y    int
	pending bool

	// Margins, inclusive (DECSTBM, DECSLRM).
	top, bottom, left, right int

	pen      style  // what SGR, DECSCA and OSC 8 have set
	penID    uint32 // number of pen, valid unless penDirty
	penDirty bool
	veil     Attr    // marks what is printed now as hidden from observers: veil.go
	veils    bool    // something may be veiled
	pens     []style // XTPUSHSGR
	protects bool    // something may be protected (DECSCA, SPA)
	sided    bool    // the left and right margins are not at the edges
	// runs of ASCII may be copied into cells: no insert mode, no translating character set
	plain bool

	charsets charsets
	modes    Modes
	private  privateModes
	tabs     tabStops
	// clusterMode is the user's terminal's; a program cannot change it, but for what it allows.
	clusterMode Clusters
	last        lastGraphic

	styles   styleTable
	clusters clusterTable
	links    linkTable
	widths   widthTable
	renumber []uint32 // room for sweepStyles

	title, icon string
	titleStack  []titles
	titleSets   uint64
	progress    Progress
	host, cwd   string
	palette     palette
	bells       uint64

	parse    parser
	flood    flood
	restyler restyler
	scratch  [maxCluster + utf8.UTFMax]byte // for one cluster
	parts    []*part                        // room for moveParts
	replies  []byte
	sink     TextSink
	line     textLine // which the sink edits

	// work counts bytes, and the cells that were touched beyond one a byte: what a byte may cost is
	// bounded by it, and not by a clock.
	work   int
	placed int // characters that took cells of their own, one by one

	// Revisions. tick is what the current Feed or Resize stamps on what it changes.
	tick    uint64
	changed bool
	// Rows that scrolled since the last stamp; empty when dirtyTop > dirtyBottom.
	dirtyTop, dirtyBottom int
}

// lastGraphic is the character that REP repeats.
type lastGraphic struct {
	r     rune
	valid bool
}

// workOn counts n cells filled or moved at once, as much work as printing an eighth of them.
func (t *terminal) workOn(n int) { t.work += n / 8 }

func (t *terminal) onAlt() bool { return t.grid == t.alt }

// cursorRow returns the row under the cursor.
func (t *terminal) cursorRow() *row { return t.grid.at(t.y) }

// touchRow stamps row y as changed now.
func (t *terminal) touchRow(y int) {
	t.grid.revs[y] = t.tick
	t.changed = true
}

// touchRange stamps the rows [top, bottom]. A flood scrolls thousands of times in one Feed, so that
// the stamps are written once, by flushDirty.
func (t *terminal) touchRange(top, bottom int) {
	t.dirtyTop = min(t.dirtyTop, top)
	t.dirtyBottom = max(t.dirtyBottom, bottom)
}

func (t *terminal) flushDirty() {
	if t.dirtyTop > t.dirtyBottom {
		return
	}
	for y := t.dirtyTop; y <= min(t.dirtyBottom, t.rows-1); y++ {
		t.grid.revs[y] = t.tick
	}
	t.dirtyTop, t.dirtyBottom = maxSize, -1
	t.changed = true
}

// touchAll says that every row is another one: of another size or another screen.
func (t *terminal) touchAll() {
	t.flushDirty()
	for y := range t.grid.revs {
		t.grid.revs[y] = t.tick
	}
	t.changed = true
}

// currentPenID returns the number of the pen.
func (t *terminal) currentPenID() uint32 {
	if t.penDirty {
		t.penID = t.penStyle()
		t.penDirty = false
	}
	return t.penID
}

// penStyle returns the number of the pen's style, with the mark of a veil.
func (t *terminal) penStyle() uint32 {
	if t.veil == 0 {
		return t.styles.internStyle(&t.pen)
	}
	pen := t.pen
	pen.attrs |= t.veil
	return t.styles.internStyle(&pen)
}

// blank returns what erasing leaves: an empty cell with the pen's background ("back colour erase",
// ctlseqs under ED).
func (t *terminal) blank() cell {
	if t.pen.bg == 0 {
		return 0
	}
	return styled(t.styles.internStyle(&style{bg: t.pen.bg}))
}

func (t *terminal) setPen(s style) {
	t.pen = s
	t.penDirty = true
}

// updatePlain must follow every change of insert mode and of the character sets.
func (t *terminal) updatePlain() {
	t.plain = !t.modes.Insert && t.charsets.gl() == usASCII && t.charsets.single == 0
}

// resetMargins makes the whole screen scroll.
func (t *terminal) resetMargins() {
	t.top, t.bottom = 0, t.rows-1
	t.resetSides()
}

// resetSides takes the left and right margins away. A wrap that was pending at the right one is
// over: there is room now.
func (t *terminal) resetSides() {
	t.left, t.right, t.sided = 0, t.cols-1, false
	t.pending = t.pending && t.x == t.right
}

// fullWidth says whether the left and right margins are at the edges.
func (t *terminal) fullWidth() bool { return t.left == 0 && t.right == t.cols-1 }

// inMargins says whether the cursor is inside all four margins.
func (t *terminal) inMargins() bool {
	return t.y >= t.top && t.y <= t.bottom && t.x >= t.left && t.x <= t.right
}

// previous returns the cell that a combining character joins: the one that the cursor has just left
// behind.
func (t *terminal) previous() (x int, ok bool) {
	x = t.x - 1
	if t.pending {
		x = t.x
	}
	if x < 0 {
		return 0, false
	}
	if x > 0 && t.cursorRow().cells[x].isTail() {
		x--
	}
	return x, true
}

func (t *terminal) reply(s string) {
	if len(t.replies)+len(s) <= maxReplies {
		t.replies = append(t.replies, s...)
	}
}

func (t *terminal) replyOSC(s string) { t.reply("\x1b]" + s + "\x1b\\") }

func (t *terminal) replyDCS(s string) { t.reply("\x1bP" + s + "\x1b\\") }

// maxReplies bounds what waits for TakeReplies, in bytes; further answers are dropped.
const maxReplies = 64 << 10

func clamp(v, low, high int) int { return min(max(v, low), high) }
