package screen

import (
	"fmt"
	"slices"
	"strconv"
)

// appendSGR appends the parameters of the SGR that sets s on a terminal in any rendition.
func (s style) appendSGR(dst []byte) []byte {
	dst = append(dst, '0')
	for i, code := range attrCodes {
		if s.attrs&(1<<i) != 0 {
			dst = strconv.AppendUint(append(dst, ';'), uint64(code.set), 10)
		}
	}
	switch s.underline {
	case NoUnderline:
	case SingleUnderline:
		dst = append(dst, ";4"...)
	case DoubleUnderline, CurlyUnderline, DottedUnderline, DashedUnderline:
		dst = append(dst, ";4:"...)
		dst = append(dst, '0'+byte(s.underline))
	}
	dst = s.fg.appendSGR(dst, 30)
	dst = s.bg.appendSGR(dst, 40)
	return s.ul.appendSGR(dst, 50)
}

// appendSGR appends the code of a colour; base is 30 for foreground, 40 for background, 50 for
// underline.
func (c Color) appendSGR(dst []byte, base int) []byte {
	if i, ok := c.Index(); ok {
		switch {
		case i < 8 && base < 50:
			return strconv.AppendInt(append(dst, ';'), int64(base)+int64(i), 10)
		case i < 16 && base < 50:
			return strconv.AppendInt(append(dst, ';'), int64(base)+60+int64(i)-8, 10)
		}
		if base == 50 { // 58 came after the colon forms: some terminals know no other
			return fmt.Appendf(dst, ";58:5:%d", i)
		}
		return fmt.Appendf(dst, ";%d;5;%d", base+8, i)
	}
	if r, g, b, ok := c.RGB(); ok {
		if base == 50 {
			return fmt.Appendf(dst, ";58:2::%d:%d:%d", r, g, b)
		}
		return fmt.Appendf(dst, ";%d;2;%d;%d;%d", base+8, r, g, b)
	}
	return dst
}

// appendStyle appends what turns the style from into to: SGR, the hyperlink, protection.
func (t *terminal) appendStyle(dst []byte, from, to style) []byte {
	if from.link != to.link {
		l := t.links.at(to.link)
		dst = append(dst, "\x1b]8;"...)
		if l.id != "" {
			dst = append(append(dst, "id="...), l.id...)
		}
		dst = append(append(append(dst, ';'), l.target...), "\x1b\\"...)
	}
	if (from.attrs^to.attrs)&Protected != 0 {
		dst = fmt.Appendf(dst, "\x1b[%d\"q", to.attrs&Protected/Protected)
	}
	a, b := from, to
	a.link, b.link = 0, 0
	a.attrs, b.attrs = a.attrs&^(Protected|veiled), b.attrs&^(Protected|veiled)
	if a != b {
		dst = append(to.appendSGR(append(dst, "\x1b["...)), 'm')
	}
	return dst
}

// AppendRowANSI appends the visible row as text with SGR (and OSC 8): what paints it from column 0
// on an empty row of a terminal in its default rendition. It moves no cursor, erases nothing, ends
// in the default rendition, and leaves out blanks of the default style at the end.
func (s *Screen) AppendRowANSI(dst []byte, row int) []byte {
	return s.t.appendRow(dst, s.row(row), (*terminal).appendContent)
}

// AppendPartANSI is [Screen.AppendRowANSI] for the columns from to to, the latter not among them. A
// wide character that does not fit whole is blank.
func (s *Screen) AppendPartANSI(dst []byte, row, from, to int) []byte {
	r := s.row(row)
	cells := r.cells[:r.textEnd()]
	from, to = min(max(from, 0), len(cells)), min(to, len(cells))
	if from >= to {
		return dst
	}
	part := append([]cell(nil), cells[from:to]...)
	if part[0].isTail() {
		part[0] = part[0].withoutContent()
	}
	if last := len(part) - 1; part[last].isWide() {
		part[last] = part[last].withoutContent()
	}
	return s.t.appendCells(dst, part, (*terminal).appendContent)
}

// appendContent appends what a cell shows, an empty one as a blank.
func (t *terminal) appendContent(dst []byte, c cell) []byte {
	if c.isEmpty() {
		return append(dst, ' ')
	}
	return t.clusters.appendCell(dst, c)
}

// appendExact is appendContent that also brings about the width of the cell: a cluster whose width
// differs from the sum of its characters needs mode 2027 on the way.
func (t *terminal) appendExact(dst []byte, c cell) []byte {
	if !c.isCluster() {
		return t.appendContent(dst, c)
	}
	text := t.clusters.texts[c.code()]
	width := 0
	for _, r := range text {
		width += runeWidth(r)
	}
	if width == c.width() {
		return append(dst, text...)
	}
	return append(append(append(dst, "\x1b[?2027h"...), text...), "\x1b[?2027l"...)
}

func (t *terminal) appendRow(
	dst []byte, r *row, content func(*terminal, []byte, cell) []byte,
) []byte {
	return t.appendCells(dst, r.cells[:r.textEnd()], content)
}

func (t *terminal) appendCells(
	dst []byte, cells []cell, content func(*terminal, []byte, cell) []byte,
) []byte {
	var now style
	id := uint32(0)
	for _, c := range cells {
		if c.isTail() {
			continue
		}
		if c.styleID() != id {
			id = c.styleID()
			next := t.styles.list[id]
			dst = t.appendStyle(dst, now, next)
			now = next
		}
		dst = content(t, dst, c)
	}
	return t.appendStyle(dst, now, style{})
}

// appendCUP appends CUP for a 0-based place.
func appendCUP(dst []byte, y, x int) []byte { return fmt.Appendf(dst, "\x1b[%d;%dH", y+1, x+1) }

// AppendPen appends what brings a terminal with the same cells, modes and margins back to this
// screen's cursor and pen, when these were disturbed: it must have SGR 0, ASCII in G0 and GL, DECOM
// and IRM reset, DECAWM set and no hyperlink; what DECSCA and SPA protect is put right. It uses
// neither DECSC nor margins. A pending wrap is restored by printing the last cell again.
func (s *Screen) AppendPen(dst []byte) []byte {
	t := &s.t
	if t.protects { // by the program's leave only: not every terminal knows DECSCA
		dst = append(dst, "\x1b[0\"q"...)
	}
	dst = t.appendPen(dst, savedCursor{
		x: t.x, y: t.y, pending: t.pending,
		origin: t.modes.Origin, pen: t.pen, charsets: t.charsets,
	}, t.modes.Insert, t.modes.AutoWrap)
	if t.private.protectISO { // DECSCA ended it
		dst = append(dst, "\x1bV"...)
		if t.pen.attrs&Protected == 0 {
			dst = append(dst, "\x1bW"...)
		}
	}
	return dst
}

func (t *terminal) appendPen(dst []byte, c savedCursor, insert, autoWrap bool) []byte {
	top, left := 0, 0
	if c.origin { // it homes the cursor, so it comes first
		dst = append(dst, "\x1b[?6h"...)
		top, left = t.top, t.left
	}
	// before the last column is written again: some terminals take back at the switch that it was
	if !autoWrap {
		dst = append(dst, "\x1b[?7l"...)
	}
	var now style
	if x := c.x; c.pending {
		cells := t.grid.at(c.y).cells
		if x > 0 && cells[x].isTail() {
			x--
		}
		now = t.styles.list[cells[x].styleID()]
		dst = appendCUP(dst, c.y-top, x-left)
		dst = t.appendStyle(dst, style{}, now)
		dst = t.appendExact(dst, cells[x])
		if t.modes.Graphemes {
			dst = append(dst, "\x1b[?2027h"...)
		}
	} else {
		dst = appendCUP(dst, c.y-top, x-left)
	}
	dst = t.appendStyle(dst, now, c.pen)
	dst = c.charsets.append(dst)
	if insert {
		dst = append(dst, "\x1b[4h"...)
	}
	return dst
}

// append appends what designates the sets on a terminal that has ASCII everywhere.
func (c charsets) append(dst []byte) []byte {
	for i, set := range c.g {
		switch set {
		case usASCII:
		case decGraphics:
			dst = append(dst, 0x1b, "()*+"[i], '0')
		case britishSet:
			dst = append(dst, 0x1b, "()*+"[i], 'A')
		}
	}
	dst = append(dst, [...]string{"", "\x0e", "\x1bn", "\x1bo"}[c.left]...)
	switch c.single {
	case 2:
		dst = append(dst, "\x1bN"...)
	case 3:
		dst = append(dst, "\x1bO"...)
	}
	return dst
}

// AppendSides appends what brings left and right margins (DECSLRM) back after DECLRMM was reset,
// and appends nothing if that mode is off. It moves the cursor.
func (s *Screen) AppendSides(dst []byte) []byte {
	t := &s.t
	if !t.modes.LeftRight {
		return dst
	}
	return fmt.Appendf(dst, "\x1b[?69h\x1b[%d;%ds", t.left+1, t.right+1)
}

// AppendRedraw appends what paints this screen, with cursor, modes and title, on a terminal of the
// same size that has just been reset. It paints the main screen below an alternate one as well, but
// neither the history nor what is veiled.
func (s *Screen) AppendRedraw(dst []byte) []byte {
	if s.t.title != "" {
		dst = fmt.Appendf(dst, "\x1b]2;%s\x1b\\", s.t.title)
	}
	return s.AppendPicture(dst)
}

// AppendPicture is [Screen.AppendRedraw] without the title.
func (s *Screen) AppendPicture(dst []byte) []byte {
	t := &s.t
	dst = t.palette.append(dst)
	if t.onAlt() {
		dst = t.appendRows(dst, t.main)
		dst = appendCUP(dst, t.main.saved.y, t.main.saved.x)
		dst = append(dst, "\x1b[?1049h"...)
	}
	dst = t.appendRows(dst, t.grid)
	dst = t.appendTabs(dst)
	if t.top != 0 || t.bottom != t.rows-1 {
		dst = fmt.Appendf(dst, "\x1b[%d;%dr", t.top+1, t.bottom+1)
	}
	dst = s.AppendSides(dst)
	if c := t.grid.saved; c.valid {
		dst = t.appendPen(dst, c, false, true)
		dst = append(
			dst,
			"\x1b7\x1b[0m\x1b]8;;\x1b\\\x1b[0\"q\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[?6l"...,
		)
	}
	dst = AppendModes(dst, defaultModes(), t.modes)
	if t.private.cursorShape != 0 {
		dst = fmt.Appendf(dst, "\x1b[%d q", t.private.cursorShape)
	}
	dst = s.AppendPen(dst)
	if t.modes.Sync {
		dst = append(dst, "\x1b[?2026h"...)
	}
	return dst
}

// AppendPast appends what moves all that a terminal of that many rows shows up into its own
// history, and after that this screen's, of which most rows at the most. The terminal, whose tab
// stops, modes and margins are a fresh one's, is blank then.
func (s *Screen) AppendPast(dst []byte, rows, most int) []byte {
	dst = appendCUP(dst, rows-1, 0)
	for i := max(0, s.HistoryLen()-most); i < s.HistoryLen(); i++ {
		dst = s.AppendHistoryANSI(append(dst, "\r\n"...), i)
	}
	for range rows {
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\x1b[H\x1b[2J"...)
}

func (t *terminal) appendRows(dst []byte, g *grid) []byte {
	for y := range g.rows {
		if r := g.at(y); r.textEnd() > 0 {
			dst = t.appendRow(appendCUP(dst, y, 0), t.shownRow(r), (*terminal).appendExact)
		}
	}
	return dst
}

func (p *palette) append(dst []byte) []byte {
	for i := range 256 {
		if c, ok := p.indexed[uint8(i)]; ok {
			dst = fmt.Appendf(dst, "\x1b]4;%d;%s\x1b\\", i, c.spec())
		}
	}
	for i, c := range p.dynamic {
		if c.set {
			dst = fmt.Appendf(dst, "\x1b]%d;%s\x1b\\", 10+i, c.spec())
		}
	}
	return dst
}

// appendTabs appends the tab stops of the visible columns, if they are not the usual ones.
func (t *terminal) appendTabs(dst []byte) []byte {
	var usual tabStops
	usual.reset()
	if slices.Equal(t.tabs.at[:t.cols], usual.at[:t.cols]) {
		return dst
	}
	dst = append(dst, "\x1b[3g"...)
	for x := range t.cols {
		if t.tabs.at[x] {
			dst = fmt.Appendf(dst, "\x1b[%dG\x1bH", x+1)
		}
	}
	return dst
}

// redrawModes are the private modes that AppendRedraw sets in any order. Origin, wrap-around,
// margins, synchronised output and the keypad have their own places.
var redrawModes = []int{1, 5, 8, 12, 25, 45, 67, 1004, 1007, 2004, 2027, 2031, 9001}

// AppendModes appends what turns the modes of a terminal from into to, for keys, mouse, paste and
// the look of the whole screen. It leaves alone the modes that say where and how characters are
// printed.
func AppendModes(dst []byte, from, to Modes) []byte {
	for _, n := range redrawModes {
		if a, b := *from.decMode(n), *to.decMode(n); a != b {
			dst = fmt.Appendf(dst, "\x1b[?%d%c", n, setOrReset(b))
		}
	}
	// Not every terminal knows DECNKM (tmux does not); all know the keypad's older sequences.
	switch {
	case from.AppKeypad && !to.AppKeypad:
		dst = append(dst, "\x1b>"...) // DECKPNM
	case !from.AppKeypad && to.AppKeypad:
		dst = append(dst, "\x1b="...) // DECKPAM
	}
	for _, n := range []int{2, 12, 20} {
		if a, b := *from.ansiMode(n), *to.ansiMode(n); a != b {
			dst = fmt.Appendf(dst, "\x1b[%d%c", n, setOrReset(b))
		}
	}
	if to.MouseProtocol != from.MouseProtocol {
		dst = fmt.Appendf(dst, "\x1b[?%d%c", max(to.MouseProtocol, from.MouseProtocol),
			setOrReset(to.MouseProtocol != 0))
	}
	if to.MouseEncoding != from.MouseEncoding {
		dst = fmt.Appendf(dst, "\x1b[?%d%c", max(to.MouseEncoding, from.MouseEncoding),
			setOrReset(to.MouseEncoding != 0))
	}
	return appendKeyModes(dst, from, to)
}

// appendKeyModes appends what changes the encoding of keys.
func appendKeyModes(dst []byte, from, to Modes) []byte {
	if to.ModifyOtherKeys != from.ModifyOtherKeys {
		dst = fmt.Appendf(dst, "\x1b[>4;%dm", to.ModifyOtherKeys)
	}
	if to.FormatOtherKeys != from.FormatOtherKeys {
		dst = fmt.Appendf(dst, "\x1b[>4;%df", to.FormatOtherKeys)
	}
	if to.KittyFlags != from.KittyFlags {
		dst = fmt.Appendf(dst, "\x1b[=%du", to.KittyFlags)
	}
	return dst
}

func setOrReset(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}
