package observer

import (
	"fmt"
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/redact"
)

// Agents are shown the cells of the terminal model without what a person cannot see, and with
// covers over what looks like a secret. The user's own screen is drawn from the model itself.

// above is how many rows over the first one are examined too, if they wrap into it: a secret may
// begin there.
const above = 64

// contentMargin is how many characters of the rolling text are kept beyond what agents get: a
// secret at its start is recognised by what comes before it.
const contentMargin = 2000

// redacted holds what agents see of the rows of the screen. The observer's goroutine owns it.
type redacted struct {
	open bool        // --no-redact: cover nothing
	own  *redact.Own // the user's rules

	raw    []string // the rows, nothing covered
	revs   []uint64 // of each row, when raw was read
	hidden []bool   // the row holds text that the user cannot see

	changed []uint64 // the revision in which each row last changed, as shown
	seq     uint64
	cols    int
	covers  []redact.CoverOf
	spare   []redact.CoverOf
}

// refreshRows brings the rows up to date with the model and returns them as shown. before holds the
// rows as shown until now.
func (v *shownScreen) refreshRows(before []string) []string {
	s, m := &v.redacted, v.model
	cols, rows := m.Size()
	fresh := len(s.raw) != rows || s.cols != cols || len(before) != rows
	if fresh {
		s.raw, s.revs = make([]string, rows), make([]uint64, rows)
		s.hidden, s.changed = make([]bool, rows), make([]uint64, rows)
		s.covers, s.cols = nil, cols
	}
	for i := range rows {
		if rev := m.RowRev(i); fresh || s.revs[i] != rev {
			s.raw[i] = protocol.VisibleRow(m.RowText(i))
			s.revs[i], s.hidden[i] = rev, m.RowConceals(i)
		}
	}
	s.covers, s.spare = v.findSecrets(s.spare[:0]), s.covers
	lines := slices.Clone(s.raw)
	for i := len(s.covers) - 1; i >= 0; i-- {
		c := s.covers[i]
		lines[c.Row] = redact.Cover(lines[c.Row], c.From, c.To)
	}
	s.seq = m.Rev()
	for i, line := range lines {
		if fresh || line != before[i] {
			s.changed[i] = s.seq
		}
	}
	return lines
}

// findSecrets finds what to cover on the screen.
func (v *shownScreen) findSecrets(dst []redact.CoverOf) []redact.CoverOf {
	s, m := &v.redacted, v.model
	if s.open {
		return dst
	}
	var before []string
	if !m.Alt() {
		before = v.rowsAbove(m.HistoryLen())
	}
	cursor := m.Cursor()
	col := cursor.Col
	if cursor.Pending {
		col++
	}
	rows := s.raw
	if len(before) > 0 {
		rows = append(before, s.raw...)
	}
	r := redact.Rows{
		Own:   s.own,
		Text:  rows,
		Cols:  s.cols,
		Print: len(before) + cursor.Row,
		At:    redact.ByteAt(s.raw[cursor.Row], col),
		Wrapped: func(i int) bool {
			if i < len(before) {
				return m.HistoryWrapped(m.HistoryLen() - len(before) + i)
			}
			return m.RowWrapped(i - len(before))
		},
	}
	return r.AppendCovers(dst, len(before))
}

// rowsAbove returns the rows of history before row end that continue in it.
func (v *shownScreen) rowsAbove(end int) []string {
	start := end
	for start > 0 && end-start < above && v.model.HistoryWrapped(start-1) {
		start--
	}
	rows := make([]string, 0, end-start)
	for i := start; i < end; i++ {
		rows = append(rows, protocol.VisibleRow(v.model.HistoryText(i)))
	}
	return rows
}

// rowRev returns the revision in which a row last changed, as shown.
func (v *shownScreen) rowRev(row int) uint64 {
	v.currentLines()
	if row < 0 || row >= len(v.redacted.changed) {
		return 0
	}
	return max(v.redacted.changed[row], v.model.RowRev(row))
}

// rowText returns a row as shown.
func (v *shownScreen) rowText(row int) string {
	if lines := v.currentLines(); row >= 0 && row < len(lines) {
		return lines[row]
	}
	return ""
}

// countSecrets counts the secrets on the screen.
func (v *shownScreen) countSecrets() (n int) {
	for _, c := range v.redacted.covers {
		if c.Begins {
			n++
		}
	}
	return n
}

// hiddenText returns the rows with text that the user cannot see.
func (v *shownScreen) hiddenText() (rows []int) {
	for i, hidden := range v.redacted.hidden {
		if hidden {
			rows = append(rows, i)
		}
	}
	return rows
}

// colouredRow returns a row with its SGR sequences. It leaves out hyperlinks: their targets are no
// cells.
func (v *shownScreen) colouredRow(row int) string {
	v.currentLines()
	text := protocol.VisibleRow(string(v.model.AppendVeiledRowANSI(nil, row)))
	for _, c := range v.redacted.covers {
		if c.Row == row {
			text = c.ANSI(text, v.redacted.raw[row])
		}
	}
	return text
}

// addColours puts the SGR sequences into the rows of f.
func (v *shownScreen) addColours(f *protocol.Frame) {
	f.Screen.Palette = v.changedColours()
	lines := make([]string, len(f.Screen.Lines)) // the plain ones are shared with other frames
	for i := range lines {
		lines[i] = v.colouredRow(i)
	}
	f.Screen.Lines = lines
}

// changedColours returns the colours of the terminal that the program has changed.
func (v *shownScreen) changedColours() (all []protocol.Color) {
	v.model.EachPaletteChange(func(name string, r, g, b uint8) {
		all = append(all, protocol.Color{Name: name, RGB: fmt.Sprintf("#%02x%02x%02x", r, g, b)})
	})
	return all
}

// Redact returns a text as agents may see it. The program is printing before the last ahead bytes
// of it, or elsewhere if ahead is -1. It may be called on any goroutine.
func (v *shownScreen) Redact(text string, ahead int) string { return v.redactSeen(nil, text, ahead) }

// redactSeen is [Observer.Redact] with the caller's memory of earlier texts.
func (v *shownScreen) redactSeen(seen *redact.Seen, text string, ahead int) string {
	visible, at := "", -1
	if ahead < 0 || ahead > len(text) {
		visible = protocol.Visible(text)
	} else {
		before := protocol.Visible(text[:len(text)-ahead])
		visible, at = before+protocol.Visible(text[len(text)-ahead:]), len(before)
	}
	if v.redacted.open {
		return visible
	}
	visible, _ = v.redacted.own.TextSeen(seen, visible, at)
	return visible
}

func (v *shownScreen) shownTitle() string {
	return v.Redact(strings.ReplaceAll(v.model.Title(), "\n", " "), -1)
}

// shownText is the rolling text as last shown to agents, and what it was made from.
type shownText struct {
	raw   string
	ahead int
	shown string
	seen  redact.Seen
}

// rollingText returns the rolling text as shown. It is redacted only after a change, since a screen
// is published twice: when it changes and when it has settled.
func (o *Observer) rollingText() string {
	if o.privacy.isHidden() {
		return ""
	}
	raw, ahead := o.text.String(), o.text.BytesAhead()
	if c := &o.rolled; c.raw != raw || c.ahead != ahead {
		c.raw, c.ahead, c.shown = raw, ahead, lastRunes(o.redactSeen(&c.seen, raw, ahead),
			protocol.ContentRunes)
	}
	return o.rolled.shown
}

// lastRunes returns the end of a text, at most n characters.
func lastRunes(text string, n int) string {
	for i := len(text); i > 0; {
		i--
		if text[i]&0xc0 != 0x80 { // the first byte of a character
			if n--; n == 0 {
				return text[i:]
			}
		}
	}
	return text
}
